import { hashName } from "../../../base/lib/statistics.ts";

/*
 * The traders of one token, a row of numbers for each.
 *
 * Hundreds of thousands of traders as objects took most of the engine's memory, and a map by name
 * took a fifth of its time. So the rows are a hash table (open addressing, linear probing). A key
 * is a hash of the name with 53 bits: among a thousand traders, two collide in about one token in
 * 10^10. Forcing a collision mostly lowers the count of the attacker's own buyers.
 */

const MEMORY_MS = 7_200_000;
/**
 * Even with two hundred new traders a minute, a wallet's purchase is still stored when it sells ten
 * minutes later. Few tokens have that many.
 */
const MAX_ROWS = 2_048;
const SPARE_ROWS = 512;
const FIRST_ROWS = 8;
/** Maximum load of a table before its size doubles. */
const MAX_LOAD = 0.75;

/** The columns of a row. The key of an empty row is 0. */
export const KEY = 0;
/** Times are -1 before the first purchase or sale. */
export const LAST_BUY = 1;
export const LAST_SELL = 2;
/** Dollars bought, decayed to `USD_AT`. */
export const USD = 3;
export const USD_AT = 4;
/** Round trips closed. */
export const TRIPS = 5;
const COLUMNS = 6;

/** The traders of one token. Plain data for checkpoints. */
export interface WalletTable {
  count: number;
  /** The rows, each at or after the slot of its key. The number of slots is a power of two. */
  numbers: Float64Array;
}

export function createWallets(): WalletTable {
  return { count: 0, numbers: new Float64Array(FIRST_ROWS * COLUMNS) };
}

/**
 * Returns the index of the trader's row in `numbers`, adding it if needed; valid until the next
 * call.
 */
export function rowOf(table: WalletTable, trader: string, atMs: number): number {
  const key = hashName(trader);
  const index = seek(table.numbers, key);
  const before = table.numbers;
  if (before[index] === key) return index;
  if (table.count >= MAX_ROWS + SPARE_ROWS) forget(table, atMs);
  else if (table.count >= (before.length / COLUMNS) * MAX_LOAD) grow(table);
  const { numbers } = table;
  const row = numbers === before ? index : seek(numbers, key);
  numbers[row + KEY] = key;
  numbers[row + LAST_BUY] = -1;
  numbers[row + LAST_SELL] = -1;
  numbers[row + USD] = 0;
  numbers[row + USD_AT] = atMs;
  numbers[row + TRIPS] = 0;
  table.count += 1;
  return row;
}

/** Returns the index of the key's row or of the free row for it. The table is never full. */
function seek(numbers: Float64Array, key: number): number {
  const mask = numbers.length / COLUMNS - 1;
  for (let slot = key & mask; ; slot = (slot + 1) & mask) {
    const row = slot * COLUMNS;
    const present = numbers[row + KEY];
    if (present === key || present === 0) return row;
  }
}

function grow(table: WalletTable): void {
  rehash(table, table.numbers.length * 2, () => true);
}

/** Forgets inactive traders, then the least recent ones. Spare rows make such a pass rare. */
function forget(table: WalletTable, atMs: number): void {
  const { numbers } = table;
  const lasts: number[] = [];
  for (let row = 0; row < numbers.length; row += COLUMNS) {
    if (numbers[row + KEY] !== 0) lasts.push(lastOf(numbers, row));
  }
  lasts.sort((a, b) => b - a);
  const oldest = Math.max(lasts[MAX_ROWS - 1] ?? -1, atMs - MEMORY_MS);
  // Several may have been last active at that moment, as in one block. Keep as many as fit.
  let left = MAX_ROWS - lasts.filter((last) => last > oldest).length;
  rehash(table, numbers.length, (row) => {
    const last = lastOf(numbers, row);
    return last > oldest || (last === oldest && left-- > 0);
  });
}

function lastOf(numbers: Float64Array, row: number): number {
  return Math.max(numbers[row + LAST_BUY] ?? -1, numbers[row + LAST_SELL] ?? -1, numbers[row + USD_AT] ?? -1);
}

/** Copies the rows for which `stays` returns true to a new array of `length` numbers. */
function rehash(table: WalletTable, length: number, stays: (row: number) => boolean): void {
  const before = table.numbers;
  const numbers = new Float64Array(length);
  table.count = 0;
  for (let row = 0; row < before.length; row += COLUMNS) {
    const key = before[row + KEY] ?? 0;
    if (key === 0 || !stays(row)) continue;
    const to = seek(numbers, key);
    for (let column = 0; column < COLUMNS; column++) numbers[to + column] = before[row + column] ?? 0;
    table.count += 1;
  }
  table.numbers = numbers;
}
