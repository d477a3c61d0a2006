import { formatPrice } from "../../../base/lib/text/figures.ts";
import { outcomeText } from "../../../base/model/index.ts";
import { sayWarning } from "../../../base/model/text/end-texts.ts";
import type { ConnectionStatus, DataFreshness } from "../../../clients/sdk/index.ts";
import { fillingText } from "../../../clients/text/index.ts";
import { describeEnd } from "../tail/connection-report.ts";
import { formatRoughSpan } from "../terminal/columns.ts";
import { columns, plainText, wrapText } from "../terminal/plain-text.ts";
import type { Paint } from "../terminal/terminal.ts";
import type { FlareRow, FlaresNow } from "./flare-row.ts";
import { sortRows, tableLines } from "./flare-table.ts";
import { filterRows, type TopState } from "./top-state.ts";

/** Wider than any terminal. */
const MAX_PART = 500;

export interface TopPage {
  readonly host: string;
  readonly connection: ConnectionStatus;
  /** `undefined` before the first data. */
  readonly freshness: DataFreshness | undefined;
  readonly cursor: string | undefined;
  readonly flares: FlaresNow;
  /** Flares that started in the list since the command started. */
  readonly started: number;
  /** Flares that ended or were withdrawn in the list since the command started. */
  readonly ended: number;
  /** Events missed since the command started; `null`: an unknown number. */
  readonly missed: number | null;
}

interface PageLayout {
  readonly width: number;
  /** Infinity: prints the page once, without what only keys can change. */
  readonly height: number;
  readonly state: TopState;
  readonly trendOf?: (address: string) => string;
  readonly paint: Paint;
}

const HEAD_LINES = 4;

/** Returns the rows in the order of the screen, and the number of lines for them. */
export function rowsOf(
  page: TopPage,
  { width, height, state }: Pick<PageLayout, "width" | "height" | "state">,
): { readonly rows: readonly FlareRow[]; readonly lines: number } {
  const { rows: now, finished } = page.flares;
  const rows = sortRows(filterRows(state.list === "now" ? now : finished, state.filter), state.order);
  const { table } = shares(height, whyLines(rows[state.at], state, width));
  return { rows, lines: Math.max(0, table - 1) };
}

/** Formats the page, within `width` and `height`: four lines of state, the table, and the keys. */
export function pageLines(page: TopPage, layout: PageLayout): readonly string[] {
  const { width, height, paint } = layout;
  const { freshness } = page;
  const deviation = deviationText(page);
  const head = [
    stateLine(page, layout),
    freshness ? fitParts(countTexts(page, layout.state), width) : "",
    paint("dim", fitParts(timeTexts(page), width)),
    deviation === "" || !freshness ? "" : paint("yellow", plainText(deviation, width)),
  ];
  const body = freshness ? bodyLines(page, layout) : wrapText(deviation, width);
  if (!Number.isFinite(height)) return [...head.filter((line) => line !== ""), ...body];
  const room = Math.max(0, height - HEAD_LINES - 1);
  const shown = body.slice(0, room);
  const filled = [...head, ...shown, ...Array<string>(room - shown.length).fill("")];
  return [...filled.slice(0, Math.max(0, height - 1)), paint("dim", keysText(layout))];
}

/** Splits the height: what the reason needs, up to a half, and the rest for the table. */
function shares(height: number, why: readonly string[]) {
  const room = Number.isFinite(height) ? Math.max(0, height - HEAD_LINES - 1) : height;
  const reason = Math.min(why.length, Math.floor(room / 2));
  return { reason, table: room - reason };
}

function bodyLines(page: TopPage, layout: PageLayout): readonly string[] {
  const { width, height, state, trendOf, paint } = layout;
  if (state.isHelp) return HELP.map((line) => plainText(line, width));
  const { rows } = rowsOf(page, layout);
  const row = rows[state.at];
  const why = whyLines(row, state, width);
  const { reason, table } = shares(height, why);
  const selected = Number.isFinite(height) ? row?.id : undefined;
  const nowMs = Date.parse(page.freshness?.observedAt ?? "");
  const { list, order, first } = state;
  const { group } = page.flares;
  const options = { width, height: table, list, group, order, first, selected, nowMs, paint };
  const lines = tableLines(rows, { ...options, ...(trendOf ? { trendOf } : {}) });
  const whose = list === "now" ? "flare" : "finished flare";
  const none = state.filter === "" ? `no ${whose}s` : `no ${whose} matches the filter`;
  const shown = rows.length === 0 ? [plainText(none, width)] : lines;
  const reasons = why.slice(0, reason).map((line, at) => (at === 0 ? paint("bold", line) : line));
  return [...shown, ...(reason > 0 && shown.length < table ? [""] : []), ...reasons];
}

/** Explains the selected flare, most important first: a small screen shows only some lines. */
function whyLines(row: FlareRow | undefined, { isWhy }: TopState, width: number): readonly string[] {
  if (!isWhy || !row) return [];
  const { symbol, name, address, exchange, why, outcome, score, threshold, warnings, price } = row;
  const [since, priced] = [timeText(row.startedAtMs), timeText(row.pricedAtMs)];
  const facts = [
    since === "" ? "" : `since ${since}`,
    price === "" ? "" : `price ${formatPrice(price)}${priced === "" ? "" : ` at ${priced}`}`,
    Number.isNaN(score) ? "" : `score ${score.toFixed(2)}, required ${threshold.toFixed(2)}`,
    warnings.length === 0 ? "" : `warnings: ${warnings.map(sayWarning).join(", ")}`,
  ];
  return [
    plainText(`${symbol}  ${name}`, width),
    ...(outcome ? wrapText(outcomeText(outcome, { warnings }), width) : []),
    ...wrapText(why === "" ? "the server gives no reason" : why, width),
    ...wrapText(facts.filter((fact) => fact !== "").join("; "), width),
    plainText(address || exchange, width),
  ];
}

/** Formats event time as `08:23:00`; empty if it is none. */
function timeText(atMs: number): string {
  const at = new Date(atMs);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().slice(11, 19);
}

/** Shown by `?`, and within 50 columns and 10 lines. */
const HELP = [
  "up down j k   select a row",
  "PgUp PgDn     by a page; Home End: first, last",
  "Enter         why this flare; Esc: close",
  "/             filter by symbol, name or address",
  "Esc           show all again",
  "f             finished flares, and back",
  "a age  c change  b buys  e sells  l liquidity",
  "s score  n symbol  w warnings",
  "              sort by this; again: reverse",
  "Ctrl-Z suspend   q quit   any key: close this",
];

/** Joins the parts that fit, two columns apart, so that no number is cut. */
function fitParts(parts: readonly string[], width: number): string {
  const [first = "", ...rest] = parts.filter((part) => part !== "").map((part) => plainText(part, MAX_PART));
  let line = plainText(first, width);
  for (const part of rest) {
    const longer = `${line}  ${part}`;
    if (columns(longer) > width) break;
    line = longer;
  }
  return line;
}

/** Says first whether anything was missed, and how old the data is. */
function stateLine({ host, connection, freshness, missed }: TopPage, { width, paint }: PageLayout): string {
  const lost = missed === 0 ? "nothing missed" : `${missed ?? "some"} events missed`;
  const data = freshness ? `data ${freshness.state}, ${formatRoughSpan(freshness.ageMs)} old` : "no data yet";
  const { state, transport } = connection;
  const isGood = state === "live" && missed === 0 && freshness?.state === "live";
  const text = fitParts([`${lost}, ${data}`, `${state} by ${transport}`, host], width);
  return paint(isGood ? "green" : state === "closed" ? "red" : "yellow", text);
}

function timeTexts({ freshness, cursor }: TopPage): readonly string[] {
  if (!freshness) return [];
  const at = freshness.observedAt?.slice(0, 19).replace("T", " ");
  return [at === undefined ? "no time yet" : `${at} UTC`, cursor === undefined ? "" : `cursor ${cursor}`];
}

function countTexts({ flares, started, ended }: TopPage, { filter, list }: TopState): readonly string[] {
  const { rows, finished } = flares;
  const warned = rows.filter(({ warnings }) => warnings.length > 0).length;
  const all = list === "now" ? rows : finished;
  return [
    filter === "" ? "" : `"${filter}": ${filterRows(all, filter).length} of ${all.length}`,
    `${rows.length} flaring (${flares.group === "bsc" ? "" : `${flares.group}, `}${flares.list})`,
    `${warned} with warnings`,
    `${finished.length} finished`,
    `${started} started, ${ended} ended since the start`,
  ];
}

/** Returns what is wrong with the connection or the data; empty if nothing. */
function deviationText({ connection, freshness }: TopPage): string {
  const parts = [
    connection.state === "live"
      ? ""
      : freshness
        ? `not connected, this is old${reason(connection.reason)}`
        : connection.reason && describeEnd(connection),
    freshness === undefined || freshness.state === "live"
      ? ""
      : `the data is ${freshness.state}${reason(freshness.reason)}`,
    freshness && fillingText(freshness) ? `reading the past: ${fillingText(freshness)}` : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

function reason(text: string): string {
  return text === "" ? "" : `: ${text}`;
}

function keysText({ width, state }: PageLayout): string {
  const { order, list, isTyping, filter } = state;
  if (isTyping) return fitParts([`/${filter}_`, "Enter keep", "Esc all"], width);
  const other = list === "now" ? "f finished" : "f flaring now";
  const sorted = `sorted by ${order.by}${order.reversed ? ", reversed" : ""}`;
  return fitParts(["q quit", "? keys", "/ filter", "Enter why", other, sorted], width);
}
