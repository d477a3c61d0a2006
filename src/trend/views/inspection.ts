import type { TokenState } from "../state/token-state.ts";

/** A token's flare, canary and price, served or not. Times are event time in milliseconds. */
export interface TrendInspection {
  /** Start of the running flare, if any. */
  readonly flaringSinceMs: number | null;
  /** Since when the canary is on; `null` if it is off. */
  readonly canarySinceMs: number | null;
  /** `null` before the first. `value` stays comparable over time: see `rescalePrices`. */
  readonly price: { readonly atMs: number; readonly text: string; readonly value: number } | null;
}

export function inspectTrend(token: TokenState): TrendInspection {
  const { trend, canary, priceAtMs: atMs, priceText: text } = token;
  return {
    flaringSinceMs: trend.startedMs < 0 ? null : trend.startedMs,
    canarySinceMs: canary.isOn ? canary.changedMs : null,
    price: atMs < 0 ? null : { atMs, text, value: token.price / token.priceScale },
  };
}
