import { type Clock, systemClock } from "../../base/lib/time/clock.ts";

/** The process to watch: `process`, or a test's substitute. */
interface SignalSource {
  on(signal: Signal, listener: () => void): unknown;
  off(signal: Signal, listener: () => void): unknown;
  /** Ends the process at once. */
  exit(code: number): void;
  /** The parent process. When that ends, the system assigns another one. */
  readonly ppid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Signal = "SIGTERM" | "SIGINT";

type ShutdownCause = Signal | "parent ended";

export const EXIT = {
  /** Everything requested was done, or the user stopped it. */
  clean: 0,
  /** The user must change something first: an argument, a setting, a file, a port in use. */
  usage: 1,
  /** The same command may succeed later. EX_TEMPFAIL of sysexits.h. */
  retry: 75,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A watch on SIGTERM, SIGINT and, under npm, the parent process. */
interface Shutdown {
  /** Aborts with the first request; the message of its reason names the cause. */
  readonly signal: AbortSignal;
  /** Resolves with the cause of the first request. */
  readonly requested: Promise<ShutdownCause>;
  /** Stops watching. Signals have their default effect again. */
  dispose(): void;
}

/**
 * Signals this close to the first count as the same: npm forwards SIGINT and SIGTERM to its script,
 * so Ctrl-C arrives twice.
 */
const SAME_REQUEST_MS = 1_000;
const PARENT_CHECK_MS = 1_000;

/**
 * Watches for requests to stop. The first SIGTERM or SIGINT requests a graceful shutdown. Another
 * signal, at least a second later, exits with EXIT.retry, for operators who do not want to wait.
 *
 * `npx` and package scripts run a shell, which dies of the SIGTERM that npm forwards without
 * telling its child. So under npm, the end of the parent process also requests a shutdown.
 */
export function watchShutdown(source: SignalSource, clock: Clock = systemClock): Shutdown {
  const controller = new AbortController();
  const { promise: requested, resolve } = Promise.withResolvers<ShutdownCause>();
  let requestedAt = 0;
  const request = (cause: ShutdownCause) => {
    if (controller.signal.aborted) return;
    requestedAt = clock.monotonic();
    controller.abort(new DOMException(`stopped: ${cause}`, "AbortError"));
    resolve(cause);
  };
  const receive = (signal: Signal) => () => {
    const isRepeated = controller.signal.aborted && clock.monotonic() - requestedAt >= SAME_REQUEST_MS;
    if (isRepeated) source.exit(EXIT.retry);
    else request(signal);
  };
  const listeners = { SIGTERM: receive("SIGTERM"), SIGINT: receive("SIGINT") };
  source.on("SIGTERM", listeners.SIGTERM);
  source.on("SIGINT", listeners.SIGINT);
  const unwatch = isScriptOfNpm(source.env)
    ? watchParent(source, clock, () => request("parent ended"))
    : () => {};
  return {
    signal: controller.signal,
    requested,
    dispose: () => {
      source.off("SIGTERM", listeners.SIGTERM);
      source.off("SIGINT", listeners.SIGINT);
      unwatch();
    },
  };
}

/** Calls `onEnd` when the parent process changes. Returns a function that stops watching. */
function watchParent(source: SignalSource, clock: Clock, onEnd: () => void): () => void {
  const { ppid } = source;
  return clock.every(PARENT_CHECK_MS, () => {
    if (source.ppid !== ppid) onEnd();
  });
}

/**
 * Whether npm runs this program as its complete script, as with `npx flarewire serve`. For
 * `npx node src/main.ts serve`, npm reports the script `node`. The shell of any other script may
 * end first on purpose: `flarewire serve &`.
 */
function isScriptOfNpm({ npm_lifecycle_script: script = "" }: SignalSource["env"]): boolean {
  // `2>&1` starts no second command.
  const command = script.replaceAll(/\d*[<>]&\d/g, "").trim();
  const isFlarewire = /^(\w+=\S+\s+)*(["']?)(\S*\/)?flarewire\2(\s[^&;|\n]*)?$/.test(command);
  return isFlarewire || /^(["']?)node\1$/.test(command);
}
