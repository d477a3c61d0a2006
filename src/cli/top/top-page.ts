import { fillingText } from "../../client/filling-text.ts";
import type { ConnectionStatus, DataFreshness } from "../../client/index.ts";
import { describeEnd } from "../tail/connection-report.ts";
import { columns, plainText, wrapText } from "../terminal/plain-text.ts";
import type { Paint } from "../terminal/terminal.ts";
import type { FlaresNow } from "./flare-row.ts";
import { duration, type Order, type SortColumn, tableLines } from "./flare-table.ts";
import { type RowWindow, rowWindow } from "./scroll.ts";

export interface TopPage {
  readonly host: string;
  readonly connection: ConnectionStatus;
  /** `undefined` before the first data. */
  readonly freshness: DataFreshness | undefined;
  readonly cursor: string | undefined;
  readonly flares: FlaresNow;
  /** Flares that started and ended in the list since the command started. */
  readonly started: number;
  readonly ended: number;
  /** Events missed since then; `null`: an unknown number. */
  readonly missed: number | null;
}

interface PageForm {
  readonly width: number;
  readonly height: number;
  readonly first?: number;
  readonly order: Order;
  readonly paint: Paint;
}

/** Keys that sort, each with its column. */
export const SORT_KEYS: Readonly<Record<string, SortColumn>> = {
  a: "age",
  c: "change",
  b: "buys",
  e: "sells",
  l: "liquidity",
  s: "score",
  n: "symbol",
  w: "warnings",
};

const HEAD_LINES = 4;

/** Returns the visible rows of a page of `height` lines, from `first` if possible. */
export function rowsInSight(rows: number, height: number, first: number): RowWindow {
  return rowWindow(rows, Math.max(0, height - HEAD_LINES - 2), first);
}

/** Formats the page, within `width` and `height`: four lines of state, the table, and the keys. */
export function pageLines(page: TopPage, form: PageForm): readonly string[] {
  const { width, height, first = 0, order, paint } = form;
  const { flares, freshness } = page;
  const nowMs = Date.parse(freshness?.observedAt ?? "");
  const head = [
    connectionLine(page, form),
    plainText(dataText(page), width),
    freshness ? plainText(countText(page), width) : "",
    trouble(page) === "" || !freshness ? "" : paint("yellow", plainText(trouble(page), width)),
  ];
  const live = Number.isFinite(height);
  const room = height - HEAD_LINES - (live ? 1 : 0);
  const table = !freshness
    ? wrapText(trouble(page), width).slice(0, Math.max(0, room))
    : room < 1
      ? []
      : tableLines(flares.rows, { width, height: room, first, order, nowMs, paint }).concat(
          flares.rows.length === 0 && room > 1 ? [plainText("no flares", width)] : [],
        );
  if (!live) return [...head.filter((line) => line !== ""), ...table];
  const filled = [...head, ...table, ...Array<string>(Math.max(0, room - table.length)).fill("")];
  return [...filled.slice(0, Math.max(0, height - 1)), paint("dim", plainText(keysText(order), width))];
}

function connectionLine({ host, connection }: TopPage, { width, paint }: PageForm): string {
  const title = plainText(`flarewire top  ${host}  `, width);
  const rest = width - columns(title);
  if (rest < 1) return title;
  const { state, transport } = connection;
  const text = plainText(`${state} by ${transport}`, rest);
  return title + paint(state === "live" ? "green" : state === "closed" ? "red" : "yellow", text);
}

function dataText({ freshness, cursor }: TopPage): string {
  if (!freshness) return "no data yet";
  const at = freshness.observedAt?.slice(0, 19).replace("T", " ") ?? "no time yet";
  const position = cursor === undefined ? "" : `  cursor ${cursor}`;
  return `data ${freshness.state}, ${duration(freshness.ageMs)} old  ${at}${position}`;
}

function countText({ flares: { list, rows, finished }, started, ended, missed }: TopPage): string {
  const warned = rows.filter(({ warnings }) => warnings.length > 0).length;
  const lost = missed === 0 ? "nothing missed" : `${missed ?? "some"} events missed`;
  return `${rows.length} flaring (${list}), ${warned} with warnings, ${finished} finished  since the start: ${started} started, ${ended} ended, ${lost}`;
}

/** Returns what is wrong with the connection or the data; empty if nothing. */
function trouble({ connection, freshness }: TopPage): string {
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

function keysText({ by, reversed }: Order): string {
  const keys = Object.entries(SORT_KEYS).map(
    ([key, column]) => `${key} ${column}${column === by ? (reversed ? " (reversed)" : " (sorted)") : ""}`,
  );
  return `q quit  ↑↓ scroll  ${keys.join("  ")}`;
}
