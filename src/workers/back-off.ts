/** Waits in milliseconds before a worker that ended is replaced, and how long one has to live for its end to be no sign of worse. */
export const WORKER_WAIT = { leastMs: 500, mostMs: 30_000, soundAfterMs: 30_000 } as const;

/** Ends in a row, each soon after the beginning, from which it is told to clients that something is wrong. */
export const TOLD_FROM = 3;

/** How often in a row workers of one place ended soon after they had begun, this end included. */
export function quickEnds(before: number, livedMs: number): number {
  return livedMs >= WORKER_WAIT.soundAfterMs ? 0 : before + 1;
}

/** Milliseconds until the next one is begun: none after a long life, else doubled with each quick end in a row, up to half a minute. */
export function workerWaitMs(ends: number): number {
  const { leastMs, mostMs } = WORKER_WAIT;
  return ends === 0 ? 0 : Math.min(mostMs, leastMs * 2 ** Math.min(ends - 1, 10));
}
