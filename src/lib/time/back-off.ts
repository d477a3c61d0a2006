/** Bounds of the wait after a failed poll, in milliseconds. */
const BACK_OFF = { floorMs: 1_000, ceilingMs: 30_000, longestRetryAfterMs: 300_000 } as const;

/**
 * Returns the milliseconds to wait after the `failures`-th consecutive failure (from 1). Full
 * jitter, so that gateways of one upstream do not return in step: evenly spread between the floor
 * and a bound that doubles from twice the floor to the ceiling. `random` yields [0, 1).
 */
export function backOffMs(
  failures: number,
  random: () => number,
  { floorMs, ceilingMs }: { readonly floorMs: number; readonly ceilingMs: number } = BACK_OFF,
): number {
  const bound = Math.min(ceilingMs, floorMs * 2 ** Math.min(failures, 16));
  return floorMs + Math.floor(random() * (bound - floorMs));
}

/**
 * Parses a `Retry-After` header in milliseconds, limited to 1 s to 5 min. Returns `undefined` if it
 * is absent, or neither a number of seconds nor an HTTP date. A date counts from the response's own
 * `Date`, if any, so that clocks need not agree.
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (!text) return undefined;
  const answeredAtMs = Date.parse(headers.get("date") ?? "");
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : httpDate(text) - (Number.isNaN(answeredAtMs) ? nowMs : answeredAtMs);
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(BACK_OFF.longestRetryAfterMs, Math.max(BACK_OFF.floorMs, waitMs));
}

/**
 * Returns NaN for text that only resembles a date: `Date.parse` would take "-5" or "1.5" for a
 * month.
 */
function httpDate(text: string): number {
  return /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
}
