/** Default bounds of the wait after a failure, in milliseconds. */
export const BACK_OFF = { floorMs: 1_000, ceilingMs: 30_000 } as const;
const MAX_RETRY_AFTER_MS = 300_000;

/**
 * Returns the wait in ms after the `failures`-th consecutive failure (from 1). It is random, from
 * the floor to a bound that doubles up to the ceiling, so that clients do not retry in step.
 */
export function backOffMs(failures: number, random: () => number, bounds: BackOffBounds = BACK_OFF): number {
  return bounds.floorMs + Math.floor(random() * backOffSpreadMs(failures, bounds));
}

/** Returns the random part of {@link backOffMs}: from 0 up to this many milliseconds. */
export function backOffSpreadMs(failures: number, { floorMs, ceilingMs }: BackOffBounds = BACK_OFF): number {
  return Math.min(ceilingMs, floorMs * 2 ** failures) - floorMs;
}

interface BackOffBounds {
  readonly floorMs: number;
  readonly ceilingMs: number;
}

/**
 * Returns the delay in `Retry-After` in milliseconds, limited to 1 s to 5 min; `undefined` if there
 * is none, or it is neither seconds nor a date. A date counts from the response's `Date`, if any,
 * so that clocks need not agree.
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (!text) return undefined;
  const answeredAtMs = Date.parse(headers.get("date") ?? "");
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : httpDate(text) - (Number.isNaN(answeredAtMs) ? nowMs : answeredAtMs);
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(BACK_OFF.floorMs, waitMs));
}

/** NaN unless it is a date: `Date.parse` would take "-5" or "1.5" for a month. */
function httpDate(text: string): number {
  return /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
}
