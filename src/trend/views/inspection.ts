import type { TokenState } from "../state/token-state.ts";

/** Where a token stands, whether or not it is served. Times are event time in milliseconds. */
export interface TrendInspection {
  /** Start of the running flare; `null` while there is none. Tokens of every group flare in this sense, those of BSC are served. */
  readonly flaringSinceMs: number | null;
  /** Since when the canary is on; `null` while it is off. */
  readonly canarySinceMs: number | null;
}

/** Reads off a token where it stands. */
export function inspectTrend({ trend, canary }: TokenState): TrendInspection {
  return {
    flaringSinceMs: trend.startedMs < 0 ? null : trend.startedMs,
    canarySinceMs: canary.isOn ? canary.changedMs : null,
  };
}
