/** What a process offers to someone who waits for its end; `process` is one, a test has its own. */
export interface SignalSource {
  on(signal: "SIGTERM" | "SIGINT", listener: () => void): unknown;
  off(signal: "SIGTERM" | "SIGINT", listener: () => void): unknown;
  /** Ends the process at once. */
  exit(code: number): void;
}

/** What the exit codes of the program mean. */
export const EXIT = {
  /** Everything asked for was done, or the user stopped it. */
  clean: 0,
  /** The user has to change something first: an argument, a setting, a file, a port that is taken. */
  usage: 1,
  /** The same command may succeed later: a service that is away, a fault of the program. EX_TEMPFAIL of sysexits.h. */
  retry: 75,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A watch on SIGTERM and SIGINT. */
export interface Shutdown {
  /** Aborts with the first signal; its reason names the signal. Hand it to whatever waits. */
  readonly signal: AbortSignal;
  /** Resolves with the name of the first signal. */
  readonly requested: Promise<"SIGTERM" | "SIGINT">;
  /** Stops watching: signals have their usual effect again. */
  dispose(): void;
}

/**
 * Watches for the end. The first SIGTERM or SIGINT asks to stop in order, by `requested` and `signal`. The second exits at once
 * with EXIT.retry: an impatient operator is not made to wait for a drain, and a supervisor can tell that it was cut short.
 */
export function watchShutdown(source: SignalSource): Shutdown {
  const controller = new AbortController();
  let request: (signal: "SIGTERM" | "SIGINT") => void = () => {};
  const requested = new Promise<"SIGTERM" | "SIGINT">((resolve) => {
    request = resolve;
  });
  const receive = (signal: "SIGTERM" | "SIGINT") => () => {
    if (controller.signal.aborted) return source.exit(EXIT.retry);
    controller.abort(new DOMException(`stopped by ${signal}`, "AbortError"));
    request(signal);
  };
  const listeners = { SIGTERM: receive("SIGTERM"), SIGINT: receive("SIGINT") };
  source.on("SIGTERM", listeners.SIGTERM);
  source.on("SIGINT", listeners.SIGINT);
  return {
    signal: controller.signal,
    requested,
    dispose: () => {
      source.off("SIGTERM", listeners.SIGTERM);
      source.off("SIGINT", listeners.SIGINT);
    },
  };
}
