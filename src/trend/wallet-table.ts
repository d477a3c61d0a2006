/*
 * What is remembered of the traders of one token: a row of numbers each. The rows of all lie in one array, for there are hundreds a token and
 * hundreds of thousands in all: as objects they were most of the engine's memory, and reading them most of the time of a trade.
 */

const MEMORY_MS = 7_200_000;
const MOST_ROWS = 512;
const SPARE_ROWS = 128;
const FIRST_ROWS = 4;

/** The columns of a row. Times are -1 before the first. */
export const LAST_BUY_MS = 0;
export const LAST_SELL_MS = 1;
/** Bought for, in decayed dollars as of `USD_AT_MS`. */
export const USD = 2;
export const USD_AT_MS = 3;
/** Round trips closed. */
export const TRIPS = 4;
const COLUMNS = 5;

/** The traders of one token. Plain data, so that a checkpoint can hold it. */
export interface WalletTable {
  /** Where each trader's row begins, in order of their first sighting. */
  readonly rows: Map<string, number>;
  /** Beginnings of rows that were given back. */
  readonly free: number[];
  numbers: Float64Array;
}

/** A table of nobody. */
export function createWallets(): WalletTable {
  return { rows: new Map(), free: [], numbers: new Float64Array(FIRST_ROWS * COLUMNS) };
}

/** Where the trader's row begins in `numbers`; one seen for the first time is given a row, for which others may be forgotten. */
export function rowOf(table: WalletTable, trader: string, atMs: number): number {
  const known = table.rows.get(trader);
  if (known !== undefined) return known;
  const row = table.free.pop() ?? table.rows.size * COLUMNS;
  if (row >= table.numbers.length) grow(table);
  table.rows.set(trader, row);
  const { numbers } = table;
  numbers[row + LAST_BUY_MS] = -1;
  numbers[row + LAST_SELL_MS] = -1;
  numbers[row + USD] = 0;
  numbers[row + USD_AT_MS] = atMs;
  numbers[row + TRIPS] = 0;
  if (table.rows.size > MOST_ROWS + SPARE_ROWS) forget(table, atMs);
  return row;
}

function grow(table: WalletTable): void {
  const rows = Math.min((table.numbers.length / COLUMNS) * 2, MOST_ROWS + SPARE_ROWS + 1);
  const numbers = new Float64Array(rows * COLUMNS);
  numbers.set(table.numbers);
  table.numbers = numbers;
}

/** Forgets traders that count for nothing any more and, if they are still too many, those that came first. A pass is paid for by the arrivals since the last. */
function forget({ rows, free, numbers }: WalletTable, atMs: number): void {
  const release = (trader: string, row: number) => {
    rows.delete(trader);
    free.push(row);
  };
  const lastOf = (row: number) =>
    Math.max(
      numbers[row + LAST_BUY_MS] ?? -1,
      numbers[row + LAST_SELL_MS] ?? -1,
      numbers[row + USD_AT_MS] ?? -1,
    );
  for (const [trader, row] of rows) if (atMs - lastOf(row) > MEMORY_MS) release(trader, row);
  for (const [trader, row] of rows) {
    if (rows.size <= MOST_ROWS) break;
    release(trader, row);
  }
}
