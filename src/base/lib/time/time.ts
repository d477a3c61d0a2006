/** Spans of time in milliseconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Returns the start of the minute, or of another unit, that contains a time. */
export function startOf(unitMs: number, atMs: number): number {
  return Math.floor(atMs / unitMs) * unitMs;
}
