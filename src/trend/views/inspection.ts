import type { TokenState } from "../state/token-state.ts";

/** A token's flare and canary state, served or not. Times are event time in milliseconds. */
export interface TrendInspection {
  /** Start of the running flare, if any. Every group's flare here; only those of BSC are served. */
  readonly flaringSinceMs: number | null;
  /** Since when the canary is on; `null` if it is off. */
  readonly canarySinceMs: number | null;
}

export function inspectTrend({ trend, canary }: TokenState): TrendInspection {
  return {
    flaringSinceMs: trend.startedMs < 0 ? null : trend.startedMs,
    canarySinceMs: canary.isOn ? canary.changedMs : null,
  };
}
