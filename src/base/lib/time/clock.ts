/** Longest delay of Node's timers. Longer ones would fire at once, repeatedly. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Wall-clock time, monotonic time, and waiting. Passed in, so that tests control it. */
export interface Clock {
  /** Milliseconds since 1970 UTC. May jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds from an arbitrary start. Never goes back; use it to measure durations. */
  monotonic(): number;
  /** Resolves after `ms` (0: in a later turn; at most 24.8 days). Rejects if the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Calls `fn` every `ms`, at most 24.8 days, until the returned function is called. Does not keep
   * the process alive.
   */
  every(ms: number, fn: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", cancel);
        resolve();
      }, timerMs(ms));
      const cancel = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      signal.addEventListener("abort", cancel, { once: true });
    }),
  every: (ms, fn) => {
    const timer = setInterval(fn, timerMs(ms));
    timer.unref();
    return () => clearInterval(timer);
  },
};

function timerMs(ms: number): number {
  return Math.min(ms, MAX_TIMER_MS);
}
