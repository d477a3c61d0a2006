import type { AnyFlare, Explanation, FlareRecord, Outcome } from "../../base/model/index.ts";
import { reasonText } from "../../base/model/text/reason-text.ts";
import { type Untrusted, untrusted } from "./untrusted.ts";

/** Renders a flare for a tool's answer. `group` is absent for `bsc`. */
export function showFlare(flare: AnyFlare, why: Explanation | null | undefined) {
  const { token } = flare;
  return {
    id: flare.id,
    // A token of the exchange has none.
    address: token.address ?? null,
    symbol: untrusted(token.symbol),
    name: untrusted(token.name),
    started_at: flare.started_trending_at,
    finished_at: flare.finished_trending_at,
    price: token.price,
    ...(token.price_at !== undefined && { price_at: token.price_at }),
    price_change_5m_pct: flare.recent_price_change,
    buys_5m: flare.latest_buy_count,
    sells_5m: flare.latest_sell_count,
    liquidity_usd: flare.liquidity,
    why: why?.text ?? null,
    warnings: warningsOf(why),
    age_at_start_s: why?.age_s ?? null,
    locked: why?.locked ?? null,
    odds: why?.odds ?? null,
    ...(why?.odds_reason !== undefined && { odds_reason: why.odds_reason }),
    ...("group" in flare && { group: flare.group }),
    ...("pair" in flare && { pair: untrustedOrNull(flare.pair), exchange: untrustedOrNull(flare.exchange) }),
  };
}

function untrustedOrNull(text: string | null): Untrusted | null {
  return text === null ? null : untrusted(text);
}

/** Renders a flare with its end and its outcome, which are `null` while it runs. */
export function showRecord(record: FlareRecord) {
  const { flare, started, why, cause, outcome } = record;
  return {
    ...showFlare(flare, started ?? why),
    why: reasonText(record),
    finish_cause: cause,
    outcome: outcome === null ? null : showOutcome(outcome),
  };
}

export function showOutcome(outcome: Outcome) {
  return {
    peak_change_pct: outcome.peak_change,
    end_change_pct: outcome.end_change,
    change_5m_pct: outcome.change_5m,
    change_15m_pct: outcome.change_15m,
    change_60m_pct: outcome.change_60m,
    ended_by: outcome.ended_by,
    collapsed_at: outcome.collapsed_at,
    final: outcome.final,
  };
}

/** Returns the warnings with plain names: another service could send anything. */
function warningsOf(why: Explanation | null | undefined): readonly string[] {
  return (why?.warnings ?? []).filter((name) => /^[a-z][a-z-]{0,39}$/.test(name));
}
