/** The longest time that Node's timers count; for a longer one they would fire at once, again and again. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Wall-clock and monotonic time, and waiting; passed in, so that tests own it. */
export interface Clock {
  /** Milliseconds since 1970 UTC. May jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds from an arbitrary start, never going back: for measuring how long something took. */
  monotonic(): number;
  /** Resolves after `ms` (0: on a later turn of the event loop), 24.8 days at most; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `fn` every `ms`, 24.8 days at most, until the returned function is called. Does not keep the process alive by itself. */
  every(ms: number, fn: () => void): () => void;
}

/** The machine's own clock. */
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
