/** Event time and the page's clock at one moment, in milliseconds. */
export interface Moment {
  readonly eventMs: number;
  readonly clockMs: number;
}

/**
 * Shorter observations are too coarse, because event time advances in steps of up to several
 * seconds.
 */
const MIN_OBSERVED_MS = 8_000;

/**
 * Estimates the market's speed: 2 if event time advances twice as fast as the clock. `undefined` if
 * it is unknown or about 1.
 */
export function paceOf(first: Moment | undefined, last: Moment): number | undefined {
  const observedMs = first ? last.clockMs - first.clockMs : 0;
  if (!first || observedMs < MIN_OBSERVED_MS) return undefined;
  const pace = Number(((last.eventMs - first.eventMs) / observedMs).toPrecision(2));
  return pace >= 1.5 || (pace > 0 && pace <= 0.67) ? pace : undefined;
}

/** Returns a function that takes the latest event time, and returns the speed observed so far. */
export function measurePace(): (
  observedAt: string | null | undefined,
  clockMs: number,
) => number | undefined {
  let first: Moment | undefined;
  let last: Moment | undefined;
  return (observedAt, clockMs) => {
    if (!observedAt) return undefined;
    const eventMs = Date.parse(observedAt);
    // Only a change of event time is a sample: between changes, event time lags behind the clock.
    if (eventMs !== last?.eventMs) {
      last = { eventMs, clockMs };
      // A recording may have started over.
      if (!first || eventMs < first.eventMs) first = last;
    }
    return paceOf(first, last);
  };
}
