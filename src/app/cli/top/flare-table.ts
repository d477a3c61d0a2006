import { formatCount, formatDollars } from "../../../base/lib/text/figures.ts";
import { formatPct } from "../../../base/lib/text/percent.ts";
import type { Group } from "../../../base/model/index.ts";
import { END_TEXTS, isHardToSell } from "../../../base/model/text/end-texts.ts";
import { formatRoughSpan, padColumns } from "../terminal/columns.ts";
import { columns, plainText } from "../terminal/plain-text.ts";
import type { Paint } from "../terminal/terminal.ts";
import type { FlareRow } from "./flare-row.ts";
import { TREND_WIDTH } from "./price-trends.ts";
import { rowWindow } from "./scroll.ts";

/** The sort order. `reversed` inverts the column's default order. */
export interface Order {
  readonly by: SortColumn;
  readonly reversed: boolean;
}

export interface TableLayout {
  readonly width: number;
  /** Maximum number of lines, including the heading. Infinity: all. */
  readonly height: number;
  /** First row to show, if not all fit. Default: 0. */
  readonly first?: number;
  /** Default: the current flares. */
  readonly list?: FlareList;
  /** Whose flares they are. Default: `bsc`, which alone has candles. */
  readonly group?: Group;
  /** ID of the marked row, if any. */
  readonly selected?: string | undefined;
  readonly order: Order;
  /** Event time to which ages refer, in milliseconds since 1970; NaN if unknown. */
  readonly nowMs: number;
  /** Draws a token's last prices in {@link TREND_WIDTH} characters, by address. Default: blank. */
  readonly trendOf?: (address: string) => string;
  readonly paint: Paint;
}

export type FlareList = "now" | "finished";

interface Column {
  readonly title: string;
  readonly width: number;
  readonly left?: boolean;
  readonly text: (row: FlareRow, layout: TableLayout) => string;
  readonly style?: (row: FlareRow) => Parameters<Paint>[0] | undefined;
}

/*
 * Numbers come first and untrusted text last: a symbol that renders wider than computed, or right
 * to left, then moves no number. The warning mark comes first, where no symbol can imitate it.
 */
const COLUMNS = {
  mark: {
    title: "  ",
    width: 2,
    text: ({ id, warnings }, { selected }) =>
      `${selected !== undefined && id === selected ? ">" : " "}${warnings.length > 0 ? "!" : " "}`,
    style: () => "yellow",
  },
  age: { title: "age", width: 6, text: ({ startedAtMs }, { nowMs }) => formatRoughSpan(nowMs - startedAtMs) },
  change: {
    title: "5 min",
    width: 8,
    text: ({ change }) => percent(change),
    style: ({ change }) => riseOrFall(change),
  },
  trend: {
    title: "last hour",
    width: TREND_WIDTH,
    text: ({ address }, { trendOf }) => trendOf?.(address) ?? "",
  },
  buys: { title: "buys", width: 6, text: ({ buys }) => figure(buys, formatCount) },
  sells: { title: "sells", width: 6, text: ({ sells }) => figure(sells, formatCount) },
  liquidity: {
    title: "liquidity",
    width: 9,
    text: ({ liquidityUsd }) => figure(liquidityUsd, formatDollars),
  },
  score: { title: "score", width: 5, text: ({ score }) => figure(score, (value) => value.toFixed(2)) },
  ended: { title: "ended", width: 6, text: ({ endedAtMs }, { nowMs }) => formatRoughSpan(nowMs - endedAtMs) },
  lasted: {
    title: "lasted",
    width: 6,
    text: ({ startedAtMs, endedAtMs }) => formatRoughSpan(endedAtMs - startedAtMs),
  },
  peak: { title: "peak", width: 8, text: (row) => percent(peakOf(row)) },
  end: {
    title: "end",
    width: 8,
    text: ({ outcome }) => percent(outcome?.end_change ?? Number.NaN),
    // Without color, because a rise at which hardly anyone could sell is no gain.
    style: ({ outcome, warnings }) =>
      isHardToSell({ warnings }) ? undefined : riseOrFall(outcome?.end_change ?? Number.NaN),
  },
  later: { title: "15 min", width: 8, text: ({ outcome }) => percent(outcome?.change_15m ?? Number.NaN) },
  cause: {
    title: "ended by",
    width: 16,
    left: true,
    text: ({ outcome }) => (outcome ? END_TEXTS[outcome.ended_by] : "-"),
    style: ({ outcome }) => (outcome?.ended_by === "canary" ? "red" : undefined),
  },
  symbol: { title: "symbol", width: 16, left: true, text: ({ symbol }) => symbol, style: () => "bold" },
  exchange: { title: "exchange", width: 8, left: true, text: ({ exchange }) => exchange },
  warnings: {
    title: "warnings",
    width: 12,
    left: true,
    text: ({ warnings }) => warnings.join(", "),
    style: () => "yellow",
  },
} as const satisfies Record<string, Column>;

type ColumnName = keyof typeof COLUMNS;
const LISTED: Readonly<Record<FlareList, readonly ColumnName[]>> = {
  now: [
    ...(["mark", "age", "change", "trend", "buys", "sells", "liquidity", "score"] as const),
    ...(["symbol", "exchange", "warnings"] as const),
  ],
  finished: ["mark", "ended", "lasted", "peak", "end", "later", "cause", "symbol", "exchange"],
};
/** Columns that only one group has. */
const ONLY: Readonly<Partial<Record<ColumnName, Group>>> = { trend: "bsc", exchange: "exchange" };
/** Columns that a narrow terminal drops, in this order. The symbol always stays. */
const DROPPED: readonly ColumnName[] = [
  ...["warnings", "exchange", "sells", "buys", "liquidity", "lasted", "score", "later", "trend", "ended"],
  ...["age", "end", "cause", "peak", "change", "mark"],
] as const;
const MIN_SYMBOL = 8;
const GAP = 2;
/** Maximum characters read of untrusted text; wider than any terminal. */
const MAX_TEXT_LENGTH = 2_000;

/** The value by which each column sorts, largest first. */
const SORTS = {
  age: ({ startedAtMs, endedAtMs }) => (Number.isNaN(endedAtMs) ? startedAtMs : endedAtMs),
  change: (row) => (row.outcome ? peakOf(row) : row.change),
  buys: ({ buys }) => buys,
  sells: ({ sells }) => sells,
  liquidity: ({ liquidityUsd }) => liquidityUsd,
  score: ({ score, threshold }) => score - threshold,
  warnings: ({ warnings }) => warnings.length,
} as const satisfies Record<string, (row: FlareRow) => number>;

export type SortColumn = keyof typeof SORTS | "symbol";

/** Sorts the rows. Unknown values come last, and ties keep the server's order. */
export function sortRows(rows: readonly FlareRow[], { by, reversed }: Order): readonly FlareRow[] {
  const sign = reversed ? -1 : 1;
  if (by === "symbol") {
    return rows.toSorted((a, b) => sign * (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : 0));
  }
  const measure = SORTS[by];
  return rows.toSorted((a, b) => {
    const [left, right] = [measure(a), measure(b)];
    const unknown = Number(Number.isNaN(left)) - Number(Number.isNaN(right));
    return unknown || (left === right || Number.isNaN(left) ? 0 : sign * (left > right ? -1 : 1));
  });
}

/** Formats a heading and one line per flare. The last line counts the hidden ones, if any. */
export function tableLines(rows: readonly FlareRow[], layout: TableLayout): readonly string[] {
  const { width, height, order, selected, paint } = layout;
  const { list = "now", group = "bsc" } = layout;
  const listed = LISTED[list].filter((name) => (ONLY[name] ?? group) === group);
  const shown = columnsFor(width, listed);
  const { first, count } = rowWindow(rows.length, Math.max(0, height - 1), layout.first ?? 0);
  const visible = sortRows(rows, order).slice(first, first + count);
  const below = rows.length - first - count;
  const above = first === 0 ? "" : `${first} above, `;
  const heading = line(shown, ({ title }) => title);
  const lines = [
    paint("bold", heading.map(([text]) => text).join("")),
    ...visible.map((row) => {
      const text = line(shown, (column) => column.text(row, layout))
        .map(([cell, column]) => {
          const style = column.style?.(row);
          return style && cell.trim() !== "" ? paint(style, cell) : cell;
        })
        .join("");
      return selected !== undefined && row.id === selected ? paint("inverse", text) : text;
    }),
    ...(above === "" && below === 0 ? [] : [paint("dim", plainText(`${above}and ${below} more`, width))]),
  ];
  return lines.slice(0, height);
}

type Shown = Column & { readonly before: string };

/** Returns the columns that fit, with their widths and gaps. */
function columnsFor(width: number, all: readonly ColumnName[]): readonly Shown[] {
  let names = all;
  for (const dropped of DROPPED) {
    if (taken(names) + MIN_SYMBOL <= width) break;
    names = names.filter((name) => name !== dropped);
  }
  // Extra space goes to the symbol first, then to the warnings, if they are shown.
  const free = Math.max(1, width - taken(names));
  const symbol = Math.min(COLUMNS.symbol.width, free);
  return names.map((name, at) => {
    const column: Column = COLUMNS[name];
    const more = name === "warnings" ? free - symbol : 0;
    const own = name === "symbol" ? symbol : column.width + more;
    return { ...column, width: own, before: gapBefore(names, at) };
  });
}

/** Returns the width of everything except the symbol's text. */
function taken(names: readonly ColumnName[]): number {
  return names.reduce(
    (sum, name, at) => sum + gapBefore(names, at).length + (name === "symbol" ? 0 : COLUMNS[name].width),
    0,
  );
}

function gapBefore(names: readonly ColumnName[], at: number): string {
  return " ".repeat(at === 0 ? 0 : names[at - 1] === "mark" ? 1 : GAP);
}

function line(shown: readonly Shown[], textOf: (column: Column) => string): readonly [string, Column][] {
  return shown.map((column) => {
    // Remove variation selectors, which make some characters wider than computed.
    const given = textOf(column)
      .slice(0, MAX_TEXT_LENGTH)
      .replace(/\p{Variation_Selector}/gu, "");
    const text = plainText(given, column.width);
    const fill = " ".repeat(Math.max(0, column.width - columns(text)));
    return [`${column.before}${column.left ? padColumns(text, column.width) : `${fill}${text}`}`, column];
  });
}

function peakOf({ outcome }: FlareRow): number {
  return outcome?.peak_change ?? Number.NaN;
}

/** A percentage of at most eight columns: from 100,000 %, without the space. */
function percent(value: number): string {
  return figure(value, (known) => formatPct(known).replace(/(?<=.{7}) (?=%)/, ""));
}

function riseOrFall(change: number): "green" | "red" | undefined {
  // As printed: what rounds to zero has no direction.
  const sign = formatPct(change)[0];
  return sign === "+" ? "green" : sign === "−" ? "red" : undefined;
}

function figure(value: number, write: (value: number) => string): string {
  return Number.isFinite(value) ? write(value) : "-";
}
