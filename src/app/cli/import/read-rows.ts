import { parseJson } from "../../../base/lib/parse-json.ts";
import { plainDecimal, readTime } from "../../../feeds/replay/index.ts";

/** A candle as read, with plain decimals. `pair` is undefined if the file does not name it. */
export interface CandleRow {
  readonly kind: "candle";
  readonly at: number;
  readonly pair: string | undefined;
  /** Open, high, low, close and volume. */
  readonly amounts: readonly string[];
}

/** A trade as read. `isBuy`: the taker bought. */
export interface TradeRow {
  readonly kind: "trade";
  readonly at: number;
  readonly pair: string | undefined;
  readonly price: string;
  readonly amount: string;
  readonly isBuy: boolean;
}

export type Row = CandleRow | TradeRow;

/** A line or entry as read. `quiet`: a minute without trades; `undefined`: unusable. */
export type Found = Row | "quiet" | undefined;

type ReadRow = (fields: readonly string[]) => Found;

const AMOUNTS = ["open", "high", "low", "close", "volume"] as const;
/** Names of columns in files of exchanges, data vendors and bots, in lower case without spaces. */
const NAMES = {
  at: ["time_ms", "unix", "timestamp", "open_time", "opentime", "transact_time", "time", "datetime", "date"],
  pair: ["pair", "symbol", "market"],
  price: ["price"],
  amount: ["amount", "qty", "quantity", "size"],
  side: ["side", "taker_side"],
  isMaker: ["is_buyer_maker", "isbuyermaker"],
} as const;

/** Returns the columns that a header of candles lacks; none if it is no such header. */
export function missingIn(header: readonly string[]): readonly string[] {
  const names = header.map((name) => name.toLowerCase().replaceAll(" ", ""));
  const missing = AMOUNTS.filter((amount) => !names.some((name) => name.startsWith(amount)));
  return missing.length < 2 ? missing : [];
}

/** Returns a reader for the columns that a header names; `undefined` if it lacks some. */
export function readerOf(header: readonly string[]): ReadRow | undefined {
  const names = header.map((name) => name.toLowerCase().replaceAll(" ", ""));
  const find = (wanted: readonly string[]) => wanted.map((name) => names.indexOf(name)).find((at) => at >= 0);
  const at = find(NAMES.at);
  const pair = find(NAMES.pair);
  if (at === undefined) return undefined;
  const named = (fields: readonly string[]) => (pair === undefined ? undefined : fields[pair]);
  const volume = names.findIndex((name) => name.startsWith("volume"));
  const columns = AMOUNTS.map((name) => (name === "volume" ? volume : names.indexOf(name)));
  if (columns.every((column) => column >= 0))
    return (fields) =>
      candle(
        fields[at],
        named(fields),
        columns.map((column) => fields[column] ?? ""),
      );
  const [price, amount] = [find(NAMES.price), find(NAMES.amount)];
  const [side, isMaker] = [find(NAMES.side), find(NAMES.isMaker)];
  if (price === undefined || amount === undefined || (side ?? isMaker) === undefined) return undefined;
  return (fields) => {
    const isBuy = side === undefined ? boolean(fields[isMaker ?? 0], "false") : boolean(fields[side], "buy");
    return trade(fields[at], named(fields), fields[price], fields[amount], isBuy);
  };
}

/**
 * Returns a reader for lines without a header, by their number of columns: candles of this program
 * (7), of Kraken (7), of Binance's archive (12) and of most others (6), aggregated trades (8) and
 * trades (7) of Binance's archive.
 */
export function readerByShape(fields: readonly string[]): ReadRow | undefined {
  const isFlag = (text: string | undefined) => /^(true|false)$/i.test(text ?? "");
  const { length } = fields;
  if (length === 6 || length === 12) return (row) => candle(row[0], undefined, row.slice(1, 6));
  if (length === 7 && isFlag(fields[5]))
    return (row) => trade(row[4], undefined, row[1], row[2], boolean(row[5], "false"));
  // Kraken's candles have no pair, and a number of trades at the end.
  if (length === 7 && plainDecimal(fields[1] ?? "") !== undefined)
    return (row) => candle(row[0], undefined, row.slice(1, 6));
  if (length === 7) return (row) => candle(row[0], row[1], row.slice(2));
  if (length === 8 && isFlag(fields[6]))
    return (row) => trade(row[5], undefined, row[1], row[2], boolean(row[6], "false"));
  return undefined;
}

/**
 * Reads a JSON list: candles as lists of time, open, high, low, close and volume, which freqtrade
 * and ccxt write, or in Coinbase's order; freqtrade's trades; or objects with the same names or
 * those of ccxt's trades.
 */
export function readJsonRows(text: string): readonly Found[] | undefined {
  const list = parseJson(text);
  if (!Array.isArray(list)) return undefined;
  const read = (order: readonly number[]) => list.map((entry: unknown) => readEntry(entry, order));
  const rows = read(OPEN_FIRST);
  const unusable = (found: readonly Found[]) => found.filter((row) => row === undefined).length;
  if (unusable(rows) === 0) return rows;
  // Minutes at one price fit both orders, so only the others tell them apart.
  const others = read(LOW_FIRST);
  return unusable(others) < unusable(rows) ? others : rows;
}

/** Where open, high, low, close and volume are in a list. */
const OPEN_FIRST = [1, 2, 3, 4, 5];
/** Coinbase's order: low, high, open, close. */
const LOW_FIRST = [3, 2, 1, 4, 5];

function readEntry(entry: unknown, order: readonly number[]): Found {
  if (Array.isArray(entry)) {
    const fields = entry.map(String);
    const isBuy = boolean(fields[3], "buy");
    // A trade of freqtrade: time, id, type, side, price, amount, cost.
    if (isBuy !== undefined) return trade(fields[0], undefined, fields[4], fields[5], isBuy);
    return candle(
      fields[0],
      undefined,
      order.map((at) => fields[at] ?? ""),
    );
  }
  if (typeof entry !== "object" || entry === null) return undefined;
  const fields = Object.entries(entry).map(([name, value]) => [name, String(value)] as const);
  return readerOf(fields.map(([name]) => name))?.(fields.map(([, value]) => value));
}

/** Returns a function that splits lines like this one at its separator. */
export function splitterFor(line: string): (line: string) => readonly string[] {
  const count = (separator: string) => line.split(separator).length - 1;
  const [semicolons, tabs, commas] = [count(";"), count("\t"), count(",")];
  if (semicolons > 0 && semicolons >= Math.max(tabs, commas))
    // Where lists have semicolons, numbers have a decimal comma.
    return (one) => one.split(";").map((field) => unquoted(field).replace(/^(-?\d+),(\d+)$/, "$1.$2"));
  if (tabs > 0 && tabs >= commas) return (one) => one.split("\t").map(unquoted);
  return splitLine;
}

/** Splits a line at its commas, with or without quotes. */
function splitLine(line: string): readonly string[] {
  const fields = line.includes('"')
    ? (line.match(/"(?:[^"]|"")*"|[^,]+|(?<=,|^)(?=,|$)/g) ?? [])
    : line.split(",");
  return fields.map(unquoted);
}

function unquoted(field: string): string {
  return field.trim().replace(/^"(.*)"$/s, "$1");
}

function candle(time: string | undefined, pair: string | undefined, texts: readonly string[]): Found {
  const at = readTime(time ?? "");
  if (!isPair(pair)) return undefined;
  if (at !== undefined && texts.every((text) => /^(nan|null)?$/i.test(text))) return "quiet";
  const amounts = texts.flatMap((text) => plainDecimal(text) ?? []);
  if (at === undefined || amounts.length !== AMOUNTS.length) return undefined;
  const [open = 0, high = 0, low = 0, close = 0] = amounts.map(Number);
  const isPossible = low > 0 && low <= Math.min(open, close) && high >= Math.max(open, close);
  return isPossible ? { kind: "candle", at, pair, amounts } : undefined;
}

function trade(
  time: string | undefined,
  pair: string | undefined,
  ...[priceText = "", amountText = "", isBuy]: [string | undefined, string | undefined, boolean | undefined]
): Row | undefined {
  const at = readTime(time ?? "");
  const [price, amount] = [plainDecimal(priceText), plainDecimal(amountText)];
  if (!isPair(pair) || at === undefined || price === undefined || amount === undefined || isBuy === undefined)
    return undefined;
  return { kind: "trade", at, pair, price, amount, isBuy };
}

/** Whether a recording can name this pair: an empty one, or one with a comma, it cannot. */
function isPair(pair: string | undefined): boolean {
  return pair === undefined || (pair !== "" && !pair.includes(","));
}

/** Whether the text is `yes`, in any case; `undefined` if it is no such word at all. */
function boolean(text: string | undefined, yes: "buy" | "false"): boolean | undefined {
  const word = text?.toLowerCase();
  const isWord = yes === "buy" ? word === "buy" || word === "sell" : word === "true" || word === "false";
  return isWord ? word === yes : undefined;
}
