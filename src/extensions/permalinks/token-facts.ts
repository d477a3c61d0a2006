import { formatUsd } from "../../base/lib/text/figures.ts";
import { hasMixedLetters } from "../../base/lib/text/mixed-letters.ts";
import { formatChange } from "../../base/lib/text/percent.ts";
import { safeText } from "../../base/lib/text/safe-text.ts";
import { isoTime } from "../../base/lib/time/iso-time.ts";
import { MINUTE_MS, startOf } from "../../base/lib/time/time.ts";
import { GROUP_FACTS } from "../../base/model/groups.ts";
import { type FlareRecord, outcomeText, type TokenDetails, tokenOf } from "../../base/model/index.ts";
import type { PricedCandle } from "../../base/model/text/price-line.ts";
import { FLARING, lookOf, sentenceOf, spanOf, timeText } from "./flare-facts.ts";
import type { PageText } from "./page-template.ts";
import type { ShareFacts } from "./picture/share-picture.ts";

/** The key of a token in its canonical address: its address in lower case, or its symbol. */
export function tokenKey({ address, symbol }: Pick<TokenDetails, "address" | "symbol">): string {
  return tokenOf({ token: { address, symbol } }).toWellFormed();
}

/** Names one token, and says how it stands. */
export function tokenText(token: TokenDetails): Pick<PageText, "title" | "description"> {
  const symbol = safeText(token.symbol);
  const past = token.flares.filter(({ cause }) => cause !== null);
  const flares = past.length === 1 ? "flare" : `${past.length} flares`;
  return {
    title: runningOf(token) ? `${symbol} is flaring` : symbol,
    description: `${nowText(token)}${past.length === 0 ? "" : ` Its last ${flares}, and how they went.`}`,
  };
}

/** Returns the facts that the picture of a token shows. */
export function tokenPicture(token: TokenDetails, nowMs: number, market: string | undefined): ShareFacts {
  const { symbol, name, group, chart, liquidity, flares } = token;
  const fate = group === "bsc" ? "Not flaring now" : GROUP_FACTS[group].label;
  return {
    symbol,
    name: name ?? GROUP_FACTS[group].label,
    isMixed: hasMixedLetters(symbol),
    fate: runningOf(token) ? FLARING : ["faded", fate],
    sentence: (group === "bsc" || flares.length > 0) && !runningOf(token) ? lastText(token) : nowText(token),
    figures: [
      { name: "Price", value: priceText(token), look: "plain" },
      ...(liquidity === null
        ? []
        : [{ name: "Liquidity", value: formatUsd(liquidity), look: "plain" as const }]),
      ...(chart
        ? [
            {
              name: "From its average",
              value: formatChange(chart.price_change_from_average),
              look: lookOf(chart.price_change_from_average),
            },
          ]
        : []),
      { name: "Flares stored", value: String(flares.length), look: "plain" as const },
    ],
    candles: pricesOf(token, nowMs),
    spans: flares.map(spanOf),
    note: timeText(isoTime(nowMs)),
    market,
  };
}

/** Returns the token's candles or, with fewer than two, the last hour's closes from its chart. */
function pricesOf({ candles, chart }: TokenDetails, nowMs: number): readonly PricedCandle[] {
  if (hasCandles({ candles }) || !chart)
    return candles.map(({ open_at, close, volume }) => ({ open_at, close, volume }));
  const { latest_candle_prices: closes, most_recent_price_average } = chart;
  const endMs = startOf(MINUTE_MS, nowMs);
  return closes.map((pct, at) => ({
    open_at: isoTime(endMs - (closes.length - at) * MINUTE_MS),
    close: String(Number(most_recent_price_average) * (1 + pct / 100)),
    volume: "0",
  }));
}

function hasCandles({ candles }: Pick<TokenDetails, "candles">): boolean {
  return candles.length > 1;
}

function runningOf({ flares }: TokenDetails): FlareRecord | undefined {
  return flares.find(({ cause }) => cause === null);
}

function lastText({ flares: [last] }: TokenDetails): string {
  if (!last) return "No flare of it is stored.";
  const went = last.outcome ? `: ${outcomeText(last.outcome, last.why)}` : "";
  return sentenceOf(`its last flare started at ${timeText(last.flare.started_trending_at)}${went}`);
}

function nowText(token: TokenDetails): string {
  const { group, chart } = token;
  const running = runningOf(token);
  if (running)
    return sentenceOf(
      `flaring since ${timeText(running.flare.started_trending_at)}${running.why ? `; now: ${running.why.text}` : ""}`,
    );
  if (group === "bsc") return "Not flaring now.";
  return chart
    ? `In the chart of its group for ${chart.streak} ${chart.streak === 1 ? "minute" : "minutes"}.`
    : "Not in the chart of its group now.";
}

function priceText({ price }: TokenDetails): string {
  return Number(price) > 0 ? price : "–";
}
