import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import { run } from "../../../src/app/cli/run.ts";
import { type CliOutput, collect } from "./spawn-cli.ts";

/**
 * Starts `flarewire ARGS` in the test's process, which takes a fraction of the time of a separate
 * process. Disposing it closes its output, as a reader that leaves does.
 */
export function startInProcess(args: readonly string[], environment: Record<string, string> = {}): CliOutput {
  const terminal = { environment, stdout: new PassThrough(), stderr: new PassThrough() };
  const closed = run(args, terminal).then(async (code) => {
    for (const stream of [terminal.stdout, terminal.stderr]) {
      stream.end();
      if (!stream.destroyed) await finished(stream);
    }
    return code;
  });
  const gone = Object.assign(new Error("the reader has left"), { code: "EPIPE" });
  return collect(terminal, closed, () => terminal.stdout.destroy(gone));
}

/** Runs `flarewire ARGS` in the test's process, as {@link startInProcess} does, until it ends. */
export async function runInProcess(args: readonly string[], environment: Record<string, string> = {}) {
  const cli = startInProcess(args, environment);
  const code = await cli.ended();
  return { code, stdout: cli.stdout(), stderr: cli.stderr() };
}
