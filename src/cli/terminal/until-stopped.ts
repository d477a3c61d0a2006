import { type ExitCode, watchShutdown } from "../../lib/io/shutdown.ts";
import { isBrokenPipe, type Terminal } from "./terminal.ts";

/**
 * Runs a command whose signal aborts when the user stops it or the reader of its output leaves.
 * Rejects if the output fails for any other reason.
 */
export async function untilStopped(
  { stdout }: Terminal,
  command: (signal: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const shutdown = watchShutdown(process);
  const broken = new AbortController();
  stdout.on("error", (error) => broken.abort(error));
  try {
    const code = await command(AbortSignal.any([shutdown.signal, broken.signal]));
    if (broken.signal.aborted && !isBrokenPipe(broken.signal.reason)) throw broken.signal.reason;
    return code;
  } finally {
    shutdown.dispose();
  }
}
