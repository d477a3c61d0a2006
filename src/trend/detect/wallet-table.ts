/*
 * What is remembered of the traders of one token: a row of numbers each. There are hundreds a token and hundreds of thousands in all, and a trade
 * must find its own: as objects they were most of the engine's memory, and by a map of names a fifth of its time. So the rows of all lie in one
 * array, which is itself the hash table (open addressing, linear probing), and a trader is known by 53 bits of its name: two of a token's
 * few hundred are taken for one once in 10^10 tokens. Who seeks such a name on purpose makes his own buyers fewer.
 */

const MEMORY_MS = 7_200_000;
const MAX_ROWS = 512;
const SPARE_ROWS = 128;
const FIRST_ROWS = 4;
/** The fullest that a table gets before it is made twice as large. */
const MAX_LOAD = 0.75;

/** The columns of a row. The key is 0 where there is no row. */
const KEY = 0;
/** Times are -1 before the first. */
export const LAST_BUY_MS = 1;
export const LAST_SELL_MS = 2;
/** Bought for, in decayed dollars as of `USD_AT_MS`. */
export const USD = 3;
export const USD_AT_MS = 4;
/** Round trips closed. */
export const TRIPS = 5;
const COLUMNS = 6;

/** The traders of one token. Plain data, so that a checkpoint can hold it. */
export interface WalletTable {
  /** How many rows are held. */
  count: number;
  /** The rows, each at or after the place that its key asks for. Room for a power of two of them. */
  numbers: Float64Array;
}

/** A table of nobody. */
export function createWallets(): WalletTable {
  return { count: 0, numbers: new Float64Array(FIRST_ROWS * COLUMNS) };
}

/** Where the trader's row begins in `numbers`; one seen for the first time is given a row, for which others may be forgotten. Valid until the next call. */
export function rowOf(table: WalletTable, trader: string, atMs: number): number {
  const key = keyOf(trader);
  const known = seek(table.numbers, key);
  if (table.numbers[known] === key) return known;
  if (table.count >= MAX_ROWS + SPARE_ROWS) forget(table, atMs);
  else if (table.count >= (table.numbers.length / COLUMNS) * MAX_LOAD) grow(table);
  const { numbers } = table;
  const row = seek(numbers, key);
  numbers[row + KEY] = key;
  numbers[row + LAST_BUY_MS] = -1;
  numbers[row + LAST_SELL_MS] = -1;
  numbers[row + USD] = 0;
  numbers[row + USD_AT_MS] = atMs;
  numbers[row + TRIPS] = 0;
  table.count += 1;
  return row;
}

/** Where the row of that key begins or, if there is none, would. The table is never full. */
function seek(numbers: Float64Array, key: number): number {
  const mask = numbers.length / COLUMNS - 1;
  for (let place = key & mask; ; place = (place + 1) & mask) {
    const row = place * COLUMNS;
    const held = numbers[row + KEY];
    if (held === key || held === 0) return row;
  }
}

/**
 * 53 bits of a name, never 0: two lanes of FNV-1a, the second with the multiplier of MurmurHash2, each finished as in MurmurHash3 so that the low
 * bits depend on all of the name.
 */
function keyOf(name: string): number {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995);
  }
  return (finish(high) & 0x1fffff) * 0x1_0000_0000 + finish(low) || 1;
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function grow(table: WalletTable): void {
  rehash(table, table.numbers.length * 2, () => true);
}

/** Forgets traders that count for nothing any more and, if they are still too many, those that were longest silent. A pass is paid for by the arrivals since the last. */
function forget(table: WalletTable, atMs: number): void {
  const { numbers } = table;
  const lasts: number[] = [];
  for (let row = 0; row < numbers.length; row += COLUMNS) {
    if (numbers[row + KEY] !== 0) lasts.push(lastOf(numbers, row));
  }
  lasts.sort((a, b) => b - a);
  const oldest = Math.max(lasts[MAX_ROWS - 1] ?? -1, atMs - MEMORY_MS);
  // Of those that were all silent for as long, as the buyers of one block, as many as there is room for behind those that were not.
  let left = MAX_ROWS - lasts.filter((last) => last > oldest).length;
  rehash(table, numbers.length, (row) => {
    const last = lastOf(numbers, row);
    return last > oldest || (last === oldest && left-- > 0);
  });
}

function lastOf(numbers: Float64Array, row: number): number {
  return Math.max(
    numbers[row + LAST_BUY_MS] ?? -1,
    numbers[row + LAST_SELL_MS] ?? -1,
    numbers[row + USD_AT_MS] ?? -1,
  );
}

/** Lays the rows that stay out anew in an array of that length. */
function rehash(table: WalletTable, length: number, stays: (row: number) => boolean): void {
  const before = table.numbers;
  const numbers = new Float64Array(length);
  table.count = 0;
  for (let row = 0; row < before.length; row += COLUMNS) {
    const key = before[row + KEY] ?? 0;
    if (key === 0 || !stays(row)) continue;
    numbers.set(before.subarray(row, row + COLUMNS), seek(numbers, key));
    table.count += 1;
  }
  table.numbers = numbers;
}
