import type { ConnectionStatus } from "../../sdk/index.ts";

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

/** Shorter interruptions are not shown, because a restarted server is usually back by then. */
const SOON_BACK_MS = 3_000;

/** How long a stream has been without a connection. */
interface Away {
  /**
   * Takes the connection's new state. Returns whether the connection has just become `live`, also
   * the first time.
   */
  readonly note: (state: ConnectionStatus["state"]) => boolean;
  /**
   * Milliseconds without a connection, not counting an earlier pause; 0 while connected and in the
   * first three seconds without.
   */
  readonly nowMs: () => number;
}

export function measureAway(): Away {
  let sinceMs: number | undefined = performance.now();
  let isPaused = false;
  return {
    note: (state) => {
      const isBack = state === "live" && sinceMs !== undefined;
      // A pause does not count: the tab was hidden.
      if (isPaused || sinceMs === undefined) sinceMs = performance.now();
      if (state === "live") sinceMs = undefined;
      isPaused = state === "paused";
      return isBack;
    },
    nowMs: () => {
      const awayMs = sinceMs === undefined ? 0 : performance.now() - sinceMs;
      return awayMs > SOON_BACK_MS ? awayMs : 0;
    },
  };
}
