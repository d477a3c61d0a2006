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

/** Reads one line or entry of a file; `undefined` if it is unusable. */
type ReadRow = (fields: readonly string[]) => Row | undefined;

const AMOUNTS = ["open", "high", "low", "close", "volume"] as const;
/** Names of columns in files of exchanges, data vendors and bots, in lower case without spaces. */
const NAMES = {
  at: ["time_ms", "unix", "timestamp", "open_time", "opentime", "time", "datetime", "date"],
  pair: ["pair", "symbol", "market"],
  price: ["price"],
  amount: ["amount", "qty", "quantity", "size"],
  side: ["side", "taker_side"],
  isMaker: ["is_buyer_maker", "isbuyermaker"],
} as const;

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
 * (7), of Binance's archive (12) and of most others (6), aggregated trades (8) and trades (7) of
 * Binance's archive.
 */
export function readerByShape(fields: readonly string[]): ReadRow | undefined {
  const isFlag = (text: string | undefined) => /^(true|false)$/i.test(text ?? "");
  const { length } = fields;
  if (length === 6 || length === 12) return (row) => candle(row[0], undefined, row.slice(1, 6));
  if (length === 7 && isFlag(fields[5]))
    return (row) => trade(row[4], undefined, row[1], row[2], boolean(row[5], "false"));
  if (length === 7) return (row) => candle(row[0], row[1], row.slice(2));
  if (length === 8 && isFlag(fields[6]))
    return (row) => trade(row[5], undefined, row[1], row[2], boolean(row[6], "false"));
  return undefined;
}

/**
 * Reads a JSON list: candles as lists of time, open, high, low, close and volume, which freqtrade
 * and ccxt write, or objects with the same names or those of ccxt's trades.
 */
export function readJsonRows(text: string): readonly (Row | undefined)[] | undefined {
  const list = parseJson(text);
  if (!Array.isArray(list)) return undefined;
  return list.map((entry: unknown) => {
    if (Array.isArray(entry)) return candle(String(entry[0]), undefined, entry.slice(1, 6).map(String));
    if (typeof entry !== "object" || entry === null) return undefined;
    const fields = Object.entries(entry).map(([name, value]) => [name, String(value)] as const);
    return readerOf(fields.map(([name]) => name))?.(fields.map(([, value]) => value));
  });
}

/** Splits a line of CSV, with or without quotes. */
export function splitLine(line: string): readonly string[] {
  const fields = line.includes('"')
    ? (line.match(/"(?:[^"]|"")*"|[^,]+|(?<=,|^)(?=,|$)/g) ?? [])
    : line.split(",");
  return fields.map((field) => field.trim().replace(/^"(.*)"$/s, "$1"));
}

function candle(
  time: string | undefined,
  pair: string | undefined,
  texts: readonly string[],
): Row | undefined {
  const at = readTime(time ?? "");
  const amounts = texts.flatMap((text) => plainDecimal(text) ?? []);
  return at === undefined || amounts.length !== AMOUNTS.length
    ? undefined
    : { kind: "candle", at, pair, amounts };
}

function trade(
  time: string | undefined,
  pair: string | undefined,
  ...[priceText = "", amountText = "", isBuy]: [string | undefined, string | undefined, boolean | undefined]
): Row | undefined {
  const at = readTime(time ?? "");
  const [price, amount] = [plainDecimal(priceText), plainDecimal(amountText)];
  if (at === undefined || price === undefined || amount === undefined || isBuy === undefined)
    return undefined;
  return { kind: "trade", at, pair, price, amount, isBuy };
}

/** Whether the text is `yes`, in any case; `undefined` if it is no such word at all. */
function boolean(text: string | undefined, yes: "buy" | "false"): boolean | undefined {
  const word = text?.toLowerCase();
  const isWord = yes === "buy" ? word === "buy" || word === "sell" : word === "true" || word === "false";
  return isWord ? word === yes : undefined;
}
