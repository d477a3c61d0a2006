/** Wall-clock and monotonic time, and waiting; passed in, so that tests own it. */
export interface WallClock {
  /** Milliseconds since 1970 UTC. May jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds from an arbitrary start, never going back: for measuring how long something took. */
  monotonic(): number;
  /** Resolves after `ms` (0: on a later turn of the event loop); rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `fn` every `ms` until the returned function is called. Does not keep the process alive by itself. */
  every(ms: number, fn: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: WallClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", cancel);
        resolve();
      }, ms);
      const cancel = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      signal.addEventListener("abort", cancel, { once: true });
    }),
  every: (ms, fn) => {
    const timer = setInterval(fn, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};
