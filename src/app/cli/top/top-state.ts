import type { FlareRow } from "./flare-row.ts";
import type { FlareList, Order, SortColumn } from "./flare-table.ts";
import { firstAfter, rowWindow } from "./scroll.ts";

/** What the user has chosen to see. */
export interface TopState {
  readonly list: FlareList;
  readonly order: Order;
  /** Only flares whose symbol, name, address or exchange contains this. Empty: all. */
  readonly filter: string;
  /** Keys go into the filter. */
  readonly isTyping: boolean;
  readonly isHelp: boolean;
  /** The selected flare's reason is shown. */
  readonly isWhy: boolean;
  /** ID of the selected flare. `undefined`: the first one, whichever that is. */
  readonly selected: string | undefined;
  /** Index of its row, which stays selected if the flare leaves the list. */
  readonly at: number;
  /** First row on the screen. */
  readonly first: number;
}

export const INITIAL_STATE: TopState = {
  list: "now",
  order: { by: "age", reversed: false },
  filter: "",
  isTyping: false,
  isHelp: false,
  isWhy: false,
  selected: undefined,
  at: 0,
  first: 0,
};

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

const ENTER: ReadonlySet<string> = new Set(["\r", "\n"]);
const ESCAPE = "\u001B";
const ERASE: ReadonlySet<string> = new Set(["\u007F", "\b"]);
const MAX_FILTER = 40;

/** Returns the rows that contain the filter's text, in any case. */
export function filterRows(rows: readonly FlareRow[], filter: string): readonly FlareRow[] {
  const text = filter.toLowerCase();
  if (text === "") return rows;
  return rows.filter(({ symbol, name, address, exchange }) =>
    [symbol, name, address, exchange].some((one) => one.slice(0, 2_000).toLowerCase().includes(text)),
  );
}

/** Returns the state after a key. `rows`: as shown. `page`: how many of them fit. */
export function stateAfter(state: TopState, key: string, rows: readonly FlareRow[], page: number): TopState {
  if (state.isTyping) return typed(state, key);
  if (state.isHelp) return { ...state, isHelp: false };
  if (key === "?") return { ...state, isHelp: true };
  if (key === "/") return { ...state, isTyping: true };
  // A reason that is being read stays when a newer flare arrives.
  if (ENTER.has(key)) return { ...state, isWhy: !state.isWhy, selected: rows[state.at]?.id };
  if (key === ESCAPE) return state.isWhy ? { ...state, isWhy: false } : { ...state, filter: "" };
  if (key === "f")
    return {
      ...state,
      list: state.list === "now" ? "finished" : "now",
      selected: undefined,
      at: 0,
      first: 0,
    };
  const by = Object.hasOwn(SORT_KEYS, key) ? SORT_KEYS[key] : undefined;
  if (by) return { ...state, order: { by, reversed: by === state.order.by && !state.order.reversed } };
  const at = Math.min(firstAfter(key, { first: state.at, count: page }), Math.max(0, rows.length - 1));
  return at === state.at ? state : { ...state, at, selected: at === 0 ? undefined : rows[at]?.id };
}

function typed(state: TopState, key: string): TopState {
  if (ENTER.has(key)) return { ...state, isTyping: false };
  if (key === ESCAPE) return { ...state, isTyping: false, filter: "" };
  if (ERASE.has(key)) return { ...state, filter: [...state.filter].slice(0, -1).join("") };
  if (/^[\p{C}\p{Zl}\p{Zp}]/u.test(key) || [...state.filter].length >= MAX_FILTER) return state;
  return { ...state, filter: `${state.filter}${key}`, selected: undefined, at: 0, first: 0 };
}

/** Follows the selected flare to its row among `rows`, and scrolls until that row is visible. */
export function settle(state: TopState, rows: readonly FlareRow[], lines: number): TopState {
  const found = rows.findIndex(({ id }) => id === state.selected);
  const at = state.selected === undefined ? 0 : found < 0 ? Math.min(state.at, rows.length - 1) : found;
  const { count } = rowWindow(rows.length, lines, 0);
  const { first } = rowWindow(rows.length, lines, Math.min(at, Math.max(state.first, at - count + 1)));
  return { ...state, at: Math.max(0, at), first };
}
