import { formatCompact } from "../../lib/text/format-compact.ts";
import { formatPct } from "../../lib/text/format-pct.ts";
import { safeText } from "../../lib/text/safe-text.ts";
import {
  type Candle,
  type FinishCause,
  type FlareRecord,
  outcomeText,
  type Token,
} from "../../model/index.ts";
import { type Html, html } from "../docs/html.ts";
import type { PageText } from "./page-template.ts";
import { pricePicture } from "./price-picture.ts";

const FATES: Readonly<Record<FinishCause, readonly [look: string, text: string]>> = {
  faded: ["faded", "Faded"],
  silent: ["faded", "Ended in silence"],
  canary: ["canary", "Ended by the canary"],
  upstream: ["faded", "No longer listed"],
};
const FLARING = ["flaring", "Flaring now"] as const;

/** Only tokens of this group flare. */
const GROUP = "bsc";

/** Describes one flare: why it started, how it went, and why it ended. */
export function flarePage(record: FlareRecord, candles: readonly Candle[], root: string): PageText {
  const { flare, outcome, cause } = record;
  const { token } = flare;
  const symbol = safeText(token.symbol);
  const reason = (record.started ?? record.why)?.text;
  const went = outcome === null ? "" : outcomeText(outcome);
  const start = timeText(flare.started_trending_at);
  const [look, fate] = cause === null ? FLARING : FATES[cause];
  const span = {
    startMs: Date.parse(flare.started_trending_at),
    endMs: flare.finished_trending_at === null ? undefined : Date.parse(flare.finished_trending_at),
  };
  const picture = pricePicture(candles, span);
  const caption = `Close of each minute and volume. ▲ start${span.endMs === undefined ? "" : ", ■ end"} of the flare.`;
  const sentence = sentenceOf(reason ?? "The reason for its start is not stored");
  return {
    title: cause === null ? `${symbol} is flaring` : `${symbol} flared${peakText(record)}`,
    description: `${start}: ${[sentence, went && sentenceOf(went)].filter(Boolean).join(" ")}`,
    main: html`<p class="fate ${look}">${fate}</p>
<h1>${nameHtml(token)}</h1>
<p class="lead">${sentence}${went === "" ? "" : ` ${sentenceOf(went)}`}</p>
${picture ? html`<figure>${picture}<figcaption>${caption}</figcaption></figure>` : html``}
${figuresHtml(record)}
${warningsHtml(record)}
<p class="links"><a class="primary" href="${root}#/token/${encodeURIComponent(token.address.toLowerCase())}">Open in the dashboard</a>
<a href="${tokenHref(root, token)}">All flares of this token</a>
<a href="${root}api/v1/flares/${encodeURIComponent(flare.id)}">JSON</a></p>
<p class="address"><small>${token.address}</small></p>`,
  };
}

/** The token's symbol and name, isolated from the direction of the text around them. */
export function nameHtml({ symbol, name }: Pick<Token, "symbol" | "name">): Html {
  return html`<bdi>${safeText(symbol)}</bdi> <small><bdi>${safeText(name)}</bdi></small>`;
}

function tokenHref(root: string, { address }: Token): string {
  return `${root}token/${GROUP}/${encodeURIComponent(address.toLowerCase())}`;
}

/** A moment in UTC: `2017-11-12 08:23 UTC`. */
export function timeText(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`;
}

/** Starts with a capital letter and ends with a period. */
export function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function peakText({ outcome }: FlareRecord): string {
  return outcome?.peak_change == null ? "" : `: ${formatPct(outcome.peak_change)} at its peak`;
}

export interface Figure {
  readonly name: string;
  readonly value: Html;
  readonly note?: string | undefined;
}

function figuresHtml({ flare, outcome }: FlareRecord): Html {
  const { started_trending_at, finished_trending_at, liquidity } = flare;
  const shown: readonly Figure[] = [
    { name: "Start", value: timeHtml(started_trending_at), note: started_trending_at.slice(0, 10) },
    ...(outcome
      ? [
          { name: "Peak", value: changeHtml(outcome.peak_change), note: outcome.peak_at?.slice(11, 16) },
          { name: "End", value: changeHtml(outcome.end_change), note: finished_trending_at?.slice(11, 16) },
          { name: "After 5 min", value: changeHtml(outcome.change_5m) },
          { name: "After 15 min", value: changeHtml(outcome.change_15m) },
          { name: "After 60 min", value: changeHtml(outcome.change_60m) },
        ]
      : [{ name: "Last 5 minutes", value: changeHtml(flare.recent_price_change) }]),
    { name: "Liquidity", value: html`<b>${usdText(liquidity)}</b>` },
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

export function timeHtml(timestamp: string): Html {
  return html`<b><time datetime="${timestamp}">${timestamp.slice(11, 16)}</time></b>`;
}

function changeHtml(percent: number | null): Html {
  if (percent === null) return html`<b>–</b>`;
  return html`<b class="${percent > 0 ? "up" : percent < 0 ? "down" : ""}">${formatPct(percent, 1)}</b>`;
}

/** Dollars in short; `–` if unknown, which the API sends as 0. */
export function usdText(decimal: string): string {
  return Number(decimal) > 0 ? `$${formatCompact(Number(decimal))}` : "–";
}

function warningsHtml({ why, started }: FlareRecord): Html {
  const warnings = [...new Set([...(started?.warnings ?? []), ...(why?.warnings ?? [])])];
  if (warnings.length === 0) return html``;
  const named = warnings.map((name) => safeText(name).replaceAll("-", " ")).join(", ");
  return html`<p class="warnings">⚠ The canary warned: ${named}.</p>`;
}
