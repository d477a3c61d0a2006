import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { run } from "../../src/cli/run.ts";

/**
 * Runs `flarewire ARGS` to its end in the test's process. It takes a fraction of the time of
 * `runCli`, which starts a process.
 */
export async function runInProcess(args: readonly string[], environment: Record<string, string> = {}) {
  const terminal = { environment, stdout: new PassThrough(), stderr: new PassThrough() };
  const outputs = Promise.all([text(terminal.stdout), text(terminal.stderr)]);
  const code = await run(args, terminal);
  terminal.stdout.end();
  terminal.stderr.end();
  const [stdout, stderr] = await outputs;
  return { code, stdout, stderr };
}
