/** Bounds of the wait after a failed poll, in milliseconds. */
export const BACK_OFF = { floorMs: 1_000, ceilingMs: 30_000, longestRetryAfterMs: 300_000 } as const;

/**
 * Milliseconds to wait after the `failures`-th failure in a row (from 1): evenly spread ("full jitter", so that many gateways of
 * one upstream do not return in step) between the floor and a bound that doubles from twice the floor to the ceiling. `random` yields [0, 1).
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
 * What a `Retry-After` header asks for, in milliseconds, held between 1 s and 5 min; `undefined` where it is absent or neither a
 * count of seconds nor an HTTP date. A date counts from the answer's own `Date`, where it has one, so that clocks need not agree.
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

/** NaN for what merely resembles a date: `Date.parse` would take "-5" or "1.5" for a month. */
function httpDate(text: string): number {
  return /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
}
