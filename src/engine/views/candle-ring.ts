import { MINUTE_MS } from "../../base/lib/time/time.ts";

/*
 * Stores the candles of a token's last hour. Minutes without a trade have none, so that an idle
 * token costs little. A trade that arrives late amends its minute.
 */

export interface CandleRing {
  /** {@link WIDTH} numbers per candle, in order of time, wrapping around at the end. */
  data: Float64Array;
  count: number;
  /** Offset of the newest candle; -{@link WIDTH} before the first. */
  newest: number;
  /** Minute of the newest candle, counted from 1970; -1 before the first. */
  newestMinute: number;
  /** First minute that changed since the candles were last read. */
  changedFrom: number;
  /** First minute that may have a candle, because not all trades of earlier minutes are known. */
  readonly since: number;
}

/** A candle in numbers. Prices, buys and sells are NaN if unknown. */
export type MinuteCandle = Readonly<ReturnType<typeof candleAt>>;

const [OPEN, HIGH, LOW, CLOSE, USD, BUYS, SELLS] = [0, 1, 2, 3, 4, 5, 6];
/** Times of the trades that set open and close; before any, the minute's end and its start. */
const [OPEN_AT, CLOSE_AT, WIDTH] = [7, 8, 9];
const FIRST_CAPACITY = 16;
/** Candles are stored for this many minutes before the newest one. */
const STORED_MINUTES = 60;

export function createCandleRing(since = 0): CandleRing {
  const data = new Float64Array(FIRST_CAPACITY * WIDTH);
  return { data, count: 0, newest: -WIDTH, newestMinute: -1, changedFrom: 0, since };
}

/** Adds a trade. `price` is `null` if the trade's pool does not set the token's price. */
export function addTradeToCandle(
  ring: CandleRing,
  atMs: number,
  price: number | null,
  usd: number,
  isBuy: boolean,
): void {
  const at = ensureCandle(ring, Math.floor(atMs / MINUTE_MS));
  if (at < 0) return;
  const { data } = ring;
  const side = at + (isBuy ? BUYS : SELLS);
  data[at + USD] = (data[at + USD] ?? 0) + usd;
  data[side] = (data[side] ?? 0) + 1;
  if (price === null) return;
  if (atMs < (data[at + OPEN_AT] ?? 0)) {
    data[at + OPEN] = price;
    data[at + OPEN_AT] = atMs;
  }
  if (atMs >= (data[at + CLOSE_AT] ?? 0)) {
    data[at + CLOSE] = price;
    data[at + CLOSE_AT] = atMs;
  }
  // Also true for the first price, which is compared with NaN.
  if (!((data[at + HIGH] ?? 0) >= price)) data[at + HIGH] = price;
  if (!((data[at + LOW] ?? 0) <= price)) data[at + LOW] = price;
}

/** Stores a whole candle. Replaces an earlier candle of the same minute. */
export function setCandle(ring: CandleRing, candle: MinuteCandle): void {
  const at = ensureCandle(ring, candle.minute);
  if (at < 0) return;
  const { open, high, low, close, usd, buys, sells } = candle;
  ring.data.set([open, high, low, close, usd, buys, sells], at + OPEN);
}

/** Returns the candles of the minutes from `from` to before `to`. */
export function candlesWithin(
  { data, count, newest }: CandleRing,
  from: number,
  to: number,
): readonly MinuteCandle[] {
  const candles: MinuteCandle[] = [];
  let at = newest;
  for (let left = count; left > 0 && minuteAt(data, at) >= from; left--) {
    if (minuteAt(data, at) < to) candles.push(candleAt(data, at));
    at = offsetBefore(data, at);
  }
  return candles.reverse();
}

/** Returns a copy, as small as possible, with only the candles from minute `from` on. */
export function compactRing(ring: CandleRing, from: number): CandleRing {
  const { data, newest } = ring;
  let [before, count] = [newest, 0];
  for (; count < ring.count && minuteAt(data, before) >= from; count++) before = offsetBefore(data, before);
  const copy = new Float64Array(Math.max(1, count) * WIDTH);
  const end = newest + WIDTH;
  const atEnd = Math.min(count * WIDTH, end);
  copy.set(data.subarray(end - atEnd, end), count * WIDTH - atEnd);
  if (count * WIDTH > atEnd) copy.set(data.subarray(before + WIDTH));
  return { ...ring, data: copy, count, newest: (count - 1) * WIDTH };
}

function candleAt(data: Float64Array, at: number) {
  const numberAt = (column: number) => data[at + column] ?? 0;
  return {
    minute: minuteAt(data, at),
    open: numberAt(OPEN),
    high: numberAt(HIGH),
    low: numberAt(LOW),
    close: numberAt(CLOSE),
    usd: numberAt(USD),
    buys: numberAt(BUYS),
    sells: numberAt(SELLS),
  };
}

/**
 * Marks the minute as changed. Returns the offset of its candle, which it adds if needed; -1 if the
 * minute is too old.
 */
function ensureCandle(ring: CandleRing, minute: number): number {
  if (minute < ring.changedFrom) ring.changedFrom = minute;
  if (minute === ring.newestMinute) return ring.newest;
  if (minute < ring.newestMinute - STORED_MINUTES || minute < ring.since) return -1;
  if (minute > ring.newestMinute) {
    makeRoom(ring, minute);
    return append(ring, minute);
  }
  const { data } = ring;
  let at = ring.newest;
  let later = 0;
  while (later < ring.count && minuteAt(data, at) > minute) {
    at = offsetBefore(data, at);
    later += 1;
  }
  const isKnown = later < ring.count && minuteAt(data, at) === minute;
  return isKnown ? at : insertBefore(ring, later, minute);
}

/** Inserts a candle before the newest `later` ones. Returns its offset. */
function insertBefore(ring: CandleRing, later: number, minute: number): number {
  const { newestMinute } = ring;
  makeRoom(ring, newestMinute);
  const { data } = ring;
  let at = append(ring, minute);
  ring.newestMinute = newestMinute;
  for (let moved = 0; moved < later; moved++) {
    const before = offsetBefore(data, at);
    data.copyWithin(at, before, before + WIDTH);
    at = before;
  }
  clear(data, at, minute);
  return at;
}

/** Appends an empty candle as the newest. Returns its offset. */
function append(ring: CandleRing, minute: number): number {
  const { data } = ring;
  const next = ring.newest + WIDTH;
  const at = next === data.length ? 0 : next;
  ring.newest = at;
  ring.newestMinute = minute;
  ring.count += 1;
  clear(data, at, minute);
  return at;
}

function clear(data: Float64Array, at: number, minute: number): void {
  data.fill(Number.NaN, at + OPEN, at + USD);
  data.fill(0, at + USD, at + OPEN_AT);
  data[at + OPEN_AT] = (minute + 1) * MINUTE_MS;
  data[at + CLOSE_AT] = minute * MINUTE_MS;
}

/**
 * Makes room for a candle of `minute` if the ring is full: drops the oldest candle if it is too
 * old, or doubles the space.
 */
function makeRoom(ring: CandleRing, minute: number): void {
  const { data, count, newest } = ring;
  if (count * WIDTH < data.length) return;
  const oldest = newest + WIDTH === data.length ? 0 : newest + WIDTH;
  if (minuteAt(data, oldest) < minute - STORED_MINUTES) {
    ring.count -= 1;
    return;
  }
  ring.data = new Float64Array(data.length * 2);
  ring.data.set(data.subarray(oldest));
  ring.data.set(data.subarray(0, oldest), data.length - oldest);
  ring.newest = data.length - WIDTH;
}

function minuteAt(data: Float64Array, at: number): number {
  return Math.floor((data[at + CLOSE_AT] ?? 0) / MINUTE_MS);
}

function offsetBefore(data: Float64Array, at: number): number {
  return (at === 0 ? data.length : at) - WIDTH;
}
