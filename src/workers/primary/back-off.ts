/** Pauses before a worker is replaced; after `soundAfterMs` of life it counts as sound. */
export const WORKER_WAIT = { minMs: 500, maxMs: 30_000, soundAfterMs: 30_000 } as const;

/** Quick ends in a row from which clients see the trouble. */
export const REPORTED_FROM = 3;

/** Returns the number of quick ends in a row of one slot's workers, this end included. */
export function quickEnds(before: number, livedMs: number): number {
  return livedMs >= WORKER_WAIT.soundAfterMs ? 0 : before + 1;
}

/** Returns the wait for the next worker: 0 after a long life, else doubled, up to 30 s. */
export function workerWaitMs(ends: number): number {
  const { minMs, maxMs } = WORKER_WAIT;
  return ends === 0 ? 0 : Math.min(maxMs, minMs * 2 ** Math.min(ends - 1, 10));
}
