import { formatUsd } from "../../base/lib/text/figures.ts";
import { hasMixedLetters } from "../../base/lib/text/mixed-letters.ts";
import { tokenPath } from "../../base/lib/text/page-path.ts";
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
  type Token,
  tokenOf,
} from "../../base/model/index.ts";
import { END_TEXTS, isHardToSell, sayWarning } from "../../base/model/text/end-texts.ts";
import { reasonText } from "../../base/model/text/reason-text.ts";
import { type Html, html } from "../pages/index.ts";
import type { PageText } from "./page-template.ts";
import type { Look, ShareFacts } from "./picture/share-picture.ts";
import { closesText, type FlareSpan, pricePicture } from "./price-picture.ts";

type Fate = readonly [look: Look, text: string];

export const FLARING: Fate = ["flaring", "Flaring now"];

export interface PageContext {
  /** Relative URL from the page to the root. */
  readonly root: string;
  /** Name of the kind of market; `undefined` for a live one. */
  readonly market: string | undefined;
}

/** Describes one flare: why it started, how it went, and why it ended. */
export function flarePage(
  record: FlareRecord,
  candles: readonly Candle[],
  { root, market }: PageContext,
): PageText {
  const { flare, cause } = record;
  const { token } = flare;
  const symbol = safeText(symbolOf(flare));
  const start = timeText(flare.started_trending_at);
  const [look, fate] = fateOf(record);
  const picture = pricePicture(candles, [spanOf(record)]);
  const caption = `Close of each minute, ${closesText(candles)}, and volume. ▲ start${cause === null ? "" : ", ■ end"} of the flare.`;
  const sentence = whyText(record);
  const group = groupOf(flare);
  const path = tokenPath(group, tokenOf(flare));
  return {
    title: cause === null ? `${symbol} is flaring` : `${symbol} flared${peakText(record)}`,
    description: `${start}: ${sentence}`,
    main: html`<p><span class="fate ${look}">${fate}</span>${market === undefined ? html`` : html` <span class="market">${market}</span>`}</p>
<h1>${nameHtml({ symbol: symbolOf(flare), name: token.name })}</h1>
<p class="lead">${sentence}</p>
${picture ? html`<figure>${picture}<figcaption>${caption}</figcaption></figure>` : group === "bsc" ? html`` : candlelessHtml()}
${figuresHtml(record)}
${warningsHtml(record)}
<p class="links"><a class="primary" href="${root}#/${path}">Open in the dashboard</a>
<a href="${root}${path}">All flares of this token</a>
<a href="${root}api/v1/flares/${encodeURIComponent(flare.id)}">JSON</a></p>
<p class="address"><small>${marketText(flare)}</small></p>`,
  };
}

/** Returns the token's symbol, or `BTC/USDT · binance` on the exchange. It is untrusted text. */
function symbolOf(flare: AnyFlare): string {
  const group = groupOf(flare);
  return group === "exchange" ? namesInText(flare, group).join(" · ") : flare.token.symbol;
}

/** Returns the token's address or, without one, its name and market. */
function marketText(flare: AnyFlare): string {
  if (flare.token.address !== undefined) return flare.token.address;
  return safeText(namesInText(flare, groupOf(flare)).join(" on "));
}

/** The note shown for flares of groups other than `bsc`, whose prices are not stored. */
export function candlelessHtml(): Html {
  return html`<p><small>The prices of each minute are stored for flares of BSC only.</small></p>`;
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

/** The token's symbol and name, isolated from the direction of the text around them. */
export function nameHtml({ symbol, name }: Pick<Token, "symbol" | "name">): Html {
  const mark = hasMixedLetters(symbol)
    ? html` <small class="down" title="It has letters that only look Latin">⚠ look-alike letters</small>`
    : html``;
  return html`<bdi>${safeText(symbol)}</bdi>${mark}${name === "" ? html`` : html` <small><bdi>${safeText(name)}</bdi></small>`}`;
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

function peakNote(outcome: Outcome): string | undefined {
  if (outcome.peak_change === null) return undefined;
  return peakOf(outcome) === null ? "none above the start" : outcome.peak_at?.slice(11, 16);
}

function peakText({ outcome }: FlareRecord): string {
  const peak = peakOf(outcome, 0.5);
  return peak === null ? "" : `: ${formatPct(peak)} at its peak`;
}

export interface Figure {
  readonly name: string;
  readonly value: Html;
  readonly note?: string | undefined;
}

function figuresHtml({ flare, outcome, why }: FlareRecord): Html {
  // Without color, because a price at which hardly anyone could sell is no gain.
  const changed = (pct: number | null) =>
    isHardToSell(why) ? html`<b>${formatChange(pct)}</b>` : changeHtml(pct);
  const { started_trending_at, finished_trending_at, liquidity } = flare;
  const shown: readonly Figure[] = [
    { name: "Start", value: timeHtml(started_trending_at), note: started_trending_at.slice(0, 10) },
    ...(outcome
      ? [
          {
            name: "Peak",
            value: changed(peakOf(outcome)),
            note: peakNote(outcome),
          },
          { name: "End", value: changed(outcome.end_change), note: finished_trending_at?.slice(11, 16) },
          { name: "After 5 min", value: changed(outcome.change_5m) },
          { name: "After 15 min", value: changed(outcome.change_15m) },
          { name: "After 60 min", value: changed(outcome.change_60m) },
        ]
      : [{ name: "Last 5 minutes", value: changeHtml(flare.recent_price_change) }]),
    { name: "Liquidity", value: html`<b>${formatUsd(liquidity)}</b>` },
  ];
  return figureList(shown);
}

export function figureList(figures: readonly Figure[]): Html {
  const items = figures.map(
    ({ name, value, note }) =>
      html`<div><dt>${name}</dt><dd>${value}${note === undefined ? html`` : html` <small>${note}</small>`}</dd></div>\n`,
  );
  return html`<dl class="figures">\n${items}</dl>`;
}

function timeHtml(timestamp: string): Html {
  return html`<b><time datetime="${timestamp}">${timestamp.slice(11, 16)}</time></b>`;
}

function changeHtml(percent: number | null): Html {
  return html`<b class="${lookOf(percent)}">${formatChange(percent)}</b>`;
}

export function lookOf(percent: number | null): Look {
  // A change that rounds to zero has no direction.
  if (percent === null || formatChange(percent).startsWith("±")) return "plain";
  return percent > 0 ? "up" : "down";
}

function warningsHtml({ why, started }: FlareRecord): Html {
  const warnings = [...new Set([...(started?.warnings ?? []), ...(why?.warnings ?? [])])];
  if (warnings.length === 0) return html``;
  const named = warnings.map(sayWarning).join(", ");
  return html`<p class="warnings">⚠ Warnings: ${named}.</p>`;
}
