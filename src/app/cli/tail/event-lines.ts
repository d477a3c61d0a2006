import { z } from "zod";
import { formatDollars, formatPrice } from "../../../base/lib/text/figures.ts";
import {
  FinishCause,
  flaresKeyOf,
  GROUPS,
  Locked,
  nameItem,
  Odds,
  Outcome,
  outcomeText,
  WARNING_TEXTS,
} from "../../../base/model/index.ts";
import { END_TEXTS, sayWarning } from "../../../base/model/text/end-texts.ts";
import { lockedPart } from "../../../base/model/text/locked-text.ts";
import { oddsText } from "../../../base/model/text/odds-text.ts";
import { flarePatternOf, matchChannels } from "../../../base/protocol/index.ts";
import type { View } from "../../../clients/sdk/index.ts";
import { formatMinutes, valuesText } from "../../../clients/text/index.ts";
import { padColumns } from "../terminal/columns.ts";
import { columns, plainText, wrapText } from "../terminal/plain-text.ts";
import type { Paint } from "../terminal/terminal.ts";
import { candlesText } from "./candle-text.ts";
import { asRecord, type Fields, type SymbolIndex } from "./symbol-index.ts";

/** The fields of an event that are printed. The server may be newer and know other events. */
const Printable = z.looseObject({
  name: z.string(),
  channel: z.string(),
  observed_at: z.string(),
  data: z.record(z.string(), z.unknown()),
});
export type TailEvent = z.infer<typeof Printable>;

/** Reads a received event; `undefined` if it cannot be printed. */
export function readEvent(event: unknown): TailEvent | undefined {
  return Printable.safeParse(event).data;
}

/** Frequent events that only change numbers. */
export const UPDATES: ReadonlySet<string> = new Set(["flare-updated", "token-updated"]);

const STYLES: Readonly<Record<string, Parameters<Paint>[0]>> = {
  "flare-started": "green",
  "flare-surged": "green",
  "flare-outcome": "cyan",
  "flare-withdrawn": "yellow",
  "token-listed": "cyan",
  "source-status": "yellow",
};

/**
 * Returns the flares of the followed lists that ran at this time, oldest first, in the form of
 * events.
 */
export function runningFlares(view: View | undefined, observed_at: string): readonly TailEvent[] {
  const running = GROUPS.flatMap((group) => {
    const { pro, free } = view?.[flaresKeyOf(group)] ?? {};
    const channel = flarePatternOf(group).replace("*", pro ? "pro" : "free");
    return list(pro ?? free).map((flare) => {
      const data = { flare, why: asRecord(view?.explanations)?.[word(flare.id)] };
      return { name: RUNNING, channel, observed_at, data, since: word(flare.started_trending_at) };
    });
  });
  return running.sort((a, b) => Date.parse(a.since) - Date.parse(b.since) || 0);
}

function styled(event: TailEvent, text: string, paint: Paint): string {
  const style = event.data.cause === "canary" ? "red" : STYLES[event.name];
  return style === undefined ? text : paint(style, text);
}

const MAX_LINE = 400;
const MIN_CHANNEL_WIDTH = 18;

/** Returns the width of the longest channel that matches a pattern, for {@link eventLine}. */
export function channelWidth(patterns: readonly string[]): number {
  return Math.max(MIN_CHANNEL_WIDTH, ...patterns.flatMap(matchChannels).map(({ length }) => length));
}

/** Formats an event as one line of at most 400 columns, without control characters. */
export function eventLine(
  event: TailEvent,
  symbols: SymbolIndex,
  paint: Paint,
  width = MIN_CHANNEL_WIDTH,
): string {
  const { symbol, change, text } = describe(event, symbols);
  const when = plainText(event.observed_at.slice(0, 19).replace("T", " "), 19);
  const name = padColumns(plainText(event.name, 19), 19);
  const rest = plainText(
    `${padColumns(plainText(event.channel, width), width)} ${padColumns(plainText(symbol, 12), 12)} ${change.padStart(7)}  ${text}`.trimEnd(),
    MAX_LINE - 41,
  );
  return `${paint("dim", when)}  ${styled(event, name, paint)} ${rest}`;
}

/** Names of events within nine columns. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  "token-updated": "listing",
  "chart-updated": "chart",
  "leaderboard-updated": "leaders",
  "candles-closed": "candles",
  "source-status": "source",
};
const NARROW = 60;
const SYMBOL_WIDTH = 10;
/** Fewer columns to the right of the symbol would break a sentence into pieces. */
const MIN_BESIDE = 30;
/** Untrusted text may be long. */
const MAX_TEXT_LINES = 5;
/** No event has this name: see {@link runningFlares}. */
const RUNNING = "flare-running";

/**
 * Formats an event for a terminal: the time of day, what happened to which token, and the reason,
 * broken between words into at most {@link MAX_TEXT_LINES} lines.
 */
export function screenLines(
  event: TailEvent,
  symbols: SymbolIndex,
  paint: Paint,
  width: number,
): readonly string[] {
  const { symbol, change, text } = describe(event, symbols);
  const when = plainText(event.observed_at.slice(11, 19), 8);
  const short = SHORT_NAMES[event.name] ?? event.name.replace(/^(flare|token)-/, "");
  const name = padColumns(plainText(short, 9), 9);
  const whose = symbol === "" ? sourceOf(event) : symbol;
  const shortLabel = plainText(whose.replace(/\p{Variation_Selector}/gu, ""), SYMBOL_WIDTH);
  const head = `${when} ${name} ${change.padStart(7)}  `;
  const left = width - columns(head) - SYMBOL_WIDTH - 2;
  // Other scripts and emoji may render wider than computed, or move what follows.
  const isBeside = left >= MIN_BESIDE && /^[ -~]*$/.test(shortLabel);
  const margin = " ".repeat(width < NARROW ? 2 : when.length + 1);
  const room = Math.max(10, width - margin.length);
  const limits = { most: MAX_TEXT_LINES, ...(isBeside ? { first: left } : {}) };
  const wrapped = text === "" ? [] : wrapText(text, room, limits);
  const [beside = "", ...below] = isBeside ? wrapped : ["", ...wrapped];
  const label = `${paint("bold", isBeside ? padColumns(shortLabel, SYMBOL_WIDTH) : shortLabel)}`;
  const first = `${paint("dim", when)} ${styled(event, name, paint)} ${change.padStart(7)}  ${label}`;
  return [
    `${first}${beside === "" ? "" : `  ${beside}`}`.trimEnd(),
    ...below.map((line) => `${margin}${line}`),
  ];
}

/** Returns the group of a chart, a leaderboard or candles; else the channel. */
function sourceOf({ channel, data }: TailEvent): string {
  if (channel === "candles") return word(data.group) || channel;
  return channel.replace(/^(charts|leaderboards)\./, "");
}

/** Returns the id of an event's item if neither the event nor `symbols` has its symbol. */
export function unknownId({ data }: TailEvent, symbols: SymbolIndex): string | undefined {
  const { id, flare, listing } = data;
  return typeof id === "string" && !flare && !listing && !symbols.of(id) ? id : undefined;
}

interface Description {
  readonly symbol: string;
  readonly change: string;
  readonly text: string;
}

function describe(event: TailEvent, symbols: SymbolIndex): Description {
  const { name, data, channel } = event;
  const item = asRecord(data.flare) ?? asRecord(data.listing);
  const symbol = (item && nameItem(item)) ?? symbols.of(data.id) ?? "";
  // At a finish, the change in the last 5 minutes could exceed the flare's peak.
  const changed = name === "flare-finished" ? undefined : (item ?? asRecord(data.set))?.recent_price_change;
  const id = unknownId(event, symbols);
  const what = channel.startsWith("flares.") ? "flare" : "listing";
  const text = reason(event, item, symbols);
  const named = id === undefined ? [text] : [`${what} ${id}`, text].filter((part) => part !== "");
  return { symbol, change: typeof changed === "number" ? signedPct(changed) : "", text: named.join(": ") };
}

function reason({ name, data, ...event }: TailEvent, item: Fields | undefined, symbols: SymbolIndex): string {
  switch (name) {
    case RUNNING: {
      const why = sentenceOf(asRecord(data.why));
      return `${spent("flaring for", item, event.observed_at, why && "; now: ")}${why}`;
    }
    case "flare-started":
      if (data.cause === "aged") return `lasts at least 5 minutes, not a ${END_TEXTS.canary}`;
      if (data.cause !== "passed") return startOf(asRecord(data.why));
      return `meets the filter; flares since ${word(item?.started_trending_at).slice(11, 19)}`;
    case "flare-surged":
      return `surge ${word(asRecord(data.surge)?.number)}: ${sentenceOf(asRecord(data.why))}`;
    case "flare-finished":
      return `${spent("lasted", item, item?.finished_trending_at, ", ")}${outcomeOf(data) || endOf(data)}`;
    case "flare-outcome":
      return outcomeOf(data);
    case "flare-withdrawn":
      return [endOf(data), strings(asRecord(data.why)?.warnings).map(sayWarning).join(", ")]
        .filter((part) => part !== "")
        .join(": ");
    case "token-listed":
      return listingText(word(asRecord(item?.token)?.price), Number(item?.liquidity));
    case "source-status":
      return [word(data.state), word(data.reason)].filter((part) => part !== "").join(": ");
    case "chart-updated":
    case "leaderboard-updated":
      return changesText(data.changes, symbols);
    case "candles-closed":
      return candlesText(data, symbols);
    default:
      return updateText(data);
  }
}

/** The reason of a start, how much liquidity is locked, and how flares like it went. */
function startOf(why: Fields | undefined): string {
  const odds = oddsText(Odds.safeParse(why?.odds).data);
  const locked = lockedPart(Locked.safeParse(why?.locked).data);
  const sentence = sentenceOf(why);
  // A warning may say the same.
  const parts = [sentence, sentence.includes(locked) ? "" : locked, odds];
  return parts.filter((part) => part !== "").join("; ");
}

/** Returns `why.text`, with all warnings named instead of the others counted. */
function sentenceOf(why: Fields | undefined): string {
  const warnings = strings(why?.warnings).map((name) => WARNING_TEXTS.get(name) ?? sayWarning(name));
  const names = [...new Set(warnings)];
  const text = word(why?.text);
  if (names.length === 0) return text;
  const all = `; ${names.length === 1 ? "warning" : "warnings"}: ${names.join(", ")}`;
  return text.replace(/; warnings?: [^;]*\d( more)?$/, () => all);
}

/** States the new values and a changed reason: `$9K liquidity, market data; now: …`. */
function updateText({ set, why }: Fields): string {
  const now = sentenceOf(asRecord(why));
  // The change in the last 5 minutes has a column.
  const { recent_price_change: _, ...others } = asRecord(set) ?? {};
  const parts = [valuesText(others), now && `now: ${now}`];
  return parts.filter((part) => part !== "").join("; ");
}

/** The API sends 0 for what is not known yet. */
function listingText(price: string, liquidityUsd: number): string {
  const parts = [
    ...(Number(price) > 0 ? [`price ${formatPrice(price)}`] : []),
    ...(liquidityUsd > 0 ? [`liquidity ${formatDollars(liquidityUsd)}`] : []),
  ];
  return parts.join(", ") || "no price yet";
}

function outcomeOf({ outcome, why }: Fields): string {
  const { data } = Outcome.safeParse(outcome);
  return data ? outcomeText(data, { warnings: strings(asRecord(why)?.warnings) }) : "";
}

function endOf({ cause }: Fields): string {
  const { data } = FinishCause.safeParse(cause);
  return data ? END_TEXTS[data] : word(cause);
}

/** Formats how long the flare had lasted at a time, between these words: `lasted 9 min, `. */
function spent(before: string, flare: Fields | undefined, at: unknown, after: string): string {
  const ms = Date.parse(word(at)) - Date.parse(word(flare?.started_trending_at));
  return Number.isFinite(ms) ? `${before} ${formatMinutes(ms)}${after}` : "";
}

/** `in ABC, DEF; out GHI; 7 changed`. */
function changesText(changes: unknown, symbols: SymbolIndex): string {
  const all = list(changes);
  const entered = all
    .filter(({ op }) => op === "insert")
    .map(({ item }) => nameItem(asRecord(item) ?? {}) ?? "?");
  const left = all.filter(({ op }) => op === "remove").map(({ id }) => symbols.of(id) ?? "?");
  const changed = all.filter(({ op }) => op === "set").length;
  const parts = [
    entered.length > 0 ? `in ${entered.join(", ")}` : "",
    left.length > 0 ? `out ${left.join(", ")}` : "",
    changed > 0 ? `${changed} changed` : "",
    all.some(({ op }) => op === "order") ? "new order" : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

function word(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((part) => typeof part === "string") : [];
}

function list(value: unknown): readonly Fields[] {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [];
  return parts.map(asRecord).filter((part) => part !== undefined);
}

/** Formats a percentage with all its digits, and with its sign unless it is 0. */
function signedPct(pct: number): string {
  return `${pct > 0 ? "+" : pct < 0 ? "−" : ""}${Math.abs(pct)} %`;
}
