/** Pauses before a worker is replaced. A worker that lived for `soundAfterMs` counts as sound. */
export const WORKER_WAIT = { minMs: 500, maxMs: 30_000, soundAfterMs: 30_000 } as const;

/** Number of consecutive quick ends from which the trouble is reported to clients. */
export const REPORTED_FROM = 3;

/**
 * Returns a slot's number of consecutive quick ends, including this one; 0 if this worker was
 * sound.
 */
export function quickEnds(before: number, livedMs: number): number {
  return livedMs >= WORKER_WAIT.soundAfterMs ? 0 : before + 1;
}

/**
 * Returns the pause before the next worker: 0 without quick ends, 0.5 s after one, doubled by each
 * further one, up to 30 s.
 */
export function workerWaitMs(ends: number): number {
  const { minMs, maxMs } = WORKER_WAIT;
  return ends === 0 ? 0 : Math.min(maxMs, minMs * 2 ** (ends - 1));
}
