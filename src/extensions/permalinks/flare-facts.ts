import { formatUsd } from "../../base/lib/text/figures.ts";
import { hasMixedLetters } from "../../base/lib/text/mixed-letters.ts";
import { formatChange, formatPct, withWholeUnits } from "../../base/lib/text/percent.ts";
import { safeText } from "../../base/lib/text/safe-text.ts";
import {
  type AnyFlare,
  type Candle,
  type FlareRecord,
  groupOf,
  namesInText,
  type Outcome,
  outcomeText,
} from "../../base/model/index.ts";
import { END_TEXTS, isHardToSell } from "../../base/model/text/end-texts.ts";
import { reasonText } from "../../base/model/text/reason-text.ts";
import type { PageText } from "./page-template.ts";
import type { Look, ShareFacts } from "./picture/share-picture.ts";
import type { FlareSpan } from "./price-picture.ts";

type Fate = readonly [look: Look, text: string];

export const FLARING: Fate = ["flaring", "Flaring now"];

/** Names one flare, and says why it started, how it went, and why it ended. */
export function flareText(record: FlareRecord): Pick<PageText, "title" | "description"> {
  const symbol = safeText(symbolOf(record.flare));
  return {
    title: record.cause === null ? `${symbol} is flaring` : `${symbol} flared${peakText(record)}`,
    description: `${timeText(record.flare.started_trending_at)}: ${whyText(record)}`,
  };
}

/** Returns the token's symbol, or `BTC/USDT · binance` on the exchange. It is untrusted text. */
function symbolOf(flare: AnyFlare): string {
  const group = groupOf(flare);
  return group === "exchange" ? namesInText(flare, group).join(" · ") : flare.token.symbol;
}

/** Returns the facts that the picture of a flare shows. */
export function flarePicture(
  record: FlareRecord,
  candles: readonly Candle[],
  market: string | undefined,
): ShareFacts {
  const { flare, outcome } = record;
  const { token, liquidity, recent_price_change } = flare;
  const symbol = symbolOf(flare);
  const changes = outcome
    ? [
        ["Peak", peakOf(outcome)] as const,
        ["End", outcome.end_change] as const,
        ["After 60 min", outcome.change_60m] as const,
      ]
    : [["Last 5 minutes", recent_price_change] as const];
  return {
    symbol,
    name: token.name,
    isMixed: hasMixedLetters(symbol),
    fate: fateOf(record),
    sentence: sentenceOf(reasonText(record)),
    figures: [
      ...changes.map(([name, pct]) => ({
        name,
        value: formatChange(pct),
        look: isHardToSell(record.why) ? "plain" : lookOf(pct),
      })),
      { name: "Liquidity", value: formatUsd(liquidity), look: "plain" },
    ],
    candles: candles.map(({ open_at, close, volume }) => ({ open_at, close, volume })),
    spans: [spanOf(record)],
    note: timeText(flare.started_trending_at),
    market,
  };
}

export function spanOf({ flare }: FlareRecord): FlareSpan {
  return {
    startMs: Date.parse(flare.started_trending_at),
    endMs: flare.finished_trending_at === null ? undefined : Date.parse(flare.finished_trending_at),
  };
}

function fateOf({ cause }: FlareRecord): Fate {
  if (cause === null) return FLARING;
  return [cause === "canary" ? "canary" : "faded", capitalized(END_TEXTS[cause])];
}

function whyText(record: FlareRecord): string {
  const { outcome, why } = record;
  const reason = sentenceOf(reasonText(record));
  return outcome === null ? reason : `${reason} ${sentenceOf(outcomeText(outcome, why))}`;
}

/** Formats a timestamp to the minute: `2017-11-12 08:23 UTC`. */
export function timeText(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Capitalizes the text and adds a missing period. Keeps each number and its % on one line. */
export function sentenceOf(text: string): string {
  return withWholeUnits(`${capitalized(text)}${text.endsWith(".") ? "" : "."}`);
}

/**
 * Returns the change at the peak; `null` if unknown, or if it is below `min` and rounds to zero.
 */
function peakOf(outcome: Outcome | null, min = 0.05): number | null {
  return outcome?.peak_change != null && outcome.peak_change >= min ? outcome.peak_change : null;
}

function peakText({ outcome }: FlareRecord): string {
  const peak = peakOf(outcome, 0.5);
  return peak === null ? "" : `: ${formatPct(peak)} at its peak`;
}

export function lookOf(percent: number | null): Look {
  // A change that rounds to zero has no direction.
  if (percent === null || formatChange(percent).startsWith("±")) return "plain";
  return percent > 0 ? "up" : "down";
}
