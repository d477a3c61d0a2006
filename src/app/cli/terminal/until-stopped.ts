import { type ExitCode, watchShutdown } from "../shutdown.ts";
import { isBrokenPipe, type Terminal } from "./terminal.ts";

/** Runs a command until the user stops it or its reader leaves. Rejects if output fails. */
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
