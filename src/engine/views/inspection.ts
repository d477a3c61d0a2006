import { isBurst } from "../detect/hysteresis.ts";
import type { TokenState } from "../state/token-state.ts";

/** Returns a token's flare, canary and price, whether served or not. Times are event time. */
export function inspectTrend(token: TokenState) {
  const { trend, canary, priceAtMs: atMs, priceText: text } = token;
  return {
    flaringSinceMs: trend.startedMs < 0 ? null : trend.startedMs,
    /** Since when the canary is on; `null` if it is off. */
    canarySinceMs: canary.isOn ? canary.changedMs : null,
    /** The last flare was reversed, and its burst goes on. */
    hasReversed: isBurst(trend),
    /** `null` before the first price. `value` is comparable over time: see `rescalePrices`. */
    price: atMs < 0 ? null : { atMs, text, value: token.price / token.priceScale },
  };
}

export type TrendInspection = ReturnType<typeof inspectTrend>;
