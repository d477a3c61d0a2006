import { MINUTE_MS } from "../../lib/time/time.ts";

/*
 * Stores the candles of a token's last hour: only of minutes in which it traded, so that an idle
 * token costs little. A trade that arrives late amends its minute.
 */

export interface CandleRing {
  /** {@link WIDTH} numbers per candle, oldest first. */
  data: Float64Array;
  count: number;
  /** First minute, counted from 1970, that changed since the candles were last read. */
  changedFrom: number;
}

/** A candle in numbers. Prices, buys and sells are NaN if unknown. */
export interface MinuteCandle {
  readonly minute: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly usd: number;
  readonly buys: number;
  readonly sells: number;
}

const WIDTH = 10;
const [MINUTE, OPEN, HIGH, LOW, CLOSE, USD, BUYS, SELLS, OPEN_AT, CLOSE_AT] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const FIRST_CAPACITY = 4;
/** Candles are stored for this many minutes before the newest one. */
const STORED_MINUTES = 60;

export function createCandleRing(): CandleRing {
  return { data: new Float64Array(FIRST_CAPACITY * WIDTH), count: 0, changedFrom: 0 };
}

/** Adds a trade. `price` is `null` if the trade did not set the token's price. */
export function addTradeToCandle(
  ring: CandleRing,
  atMs: number,
  price: number | null,
  usd: number,
  isBuy: boolean,
): void {
  const at = slotOf(ring, Math.floor(atMs / MINUTE_MS));
  if (at < 0) return;
  const { data } = ring;
  const side = at + (isBuy ? BUYS : SELLS);
  data[at + USD] = (data[at + USD] ?? 0) + usd;
  data[side] = (data[side] ?? 0) + 1;
  if (price === null) return;
  const isFirst = Number.isNaN(data[at + OPEN]);
  if (isFirst || atMs < (data[at + OPEN_AT] ?? 0)) {
    data[at + OPEN] = price;
    data[at + OPEN_AT] = atMs;
  }
  if (isFirst || atMs >= (data[at + CLOSE_AT] ?? 0)) {
    data[at + CLOSE] = price;
    data[at + CLOSE_AT] = atMs;
  }
  if (isFirst || price > (data[at + HIGH] ?? 0)) data[at + HIGH] = price;
  if (isFirst || price < (data[at + LOW] ?? 0)) data[at + LOW] = price;
}

/** Stores a whole candle, in place of an earlier one of its minute. */
export function setCandle(ring: CandleRing, candle: MinuteCandle): void {
  const at = slotOf(ring, candle.minute);
  if (at < 0) return;
  const { open, high, low, close, usd, buys, sells } = candle;
  ring.data.set([open, high, low, close, usd, buys, sells], at + OPEN);
}

/** Returns the candles of the minutes from `from` to before `to`. */
export function candlesWithin(
  { data, count }: CandleRing,
  from: number,
  to: number,
): readonly MinuteCandle[] {
  const candles: MinuteCandle[] = [];
  let index = count;
  while (index > 0 && (data[(index - 1) * WIDTH + MINUTE] ?? 0) >= from) index -= 1;
  for (; index < count; index++) {
    const [minute = 0, open = 0, high = 0, low = 0, close = 0, usd = 0, buys = 0, sells = 0] = data.subarray(
      index * WIDTH,
      index * WIDTH + OPEN_AT,
    );
    if (minute >= to) break;
    candles.push({ minute, open, high, low, close, usd, buys, sells });
  }
  return candles;
}

/** Returns the offset of the minute's candle, new if necessary; -1 if it is too old. */
function slotOf(ring: CandleRing, minute: number): number {
  if (minute < ring.changedFrom) ring.changedFrom = minute;
  let index = ring.count;
  let known = ring.data[(index - 1) * WIDTH + MINUTE];
  if (known === minute) return (index - 1) * WIDTH;
  if (index > 0 && minute < (known ?? 0) - STORED_MINUTES) return -1;
  while (index > 0 && (known ?? 0) > minute) {
    index -= 1;
    known = ring.data[(index - 1) * WIDTH + MINUTE];
  }
  if (index > 0 && known === minute) return (index - 1) * WIDTH;
  return insertAt(ring, index, minute);
}

function insertAt(ring: CandleRing, index: number, minute: number): number {
  const dropped = ring.count * WIDTH === ring.data.length ? dropOld(ring, minute) : 0;
  const at = (index - dropped) * WIDTH;
  ring.data.copyWithin(at + WIDTH, at, ring.count * WIDTH);
  ring.count += 1;
  ring.data.fill(0, at, at + WIDTH);
  ring.data.fill(Number.NaN, at + OPEN, at + CLOSE + 1);
  ring.data[at + MINUTE] = minute;
  return at;
}

/** Makes room: drops candles too old beside one of `minute`, else doubles the space. */
function dropOld(ring: CandleRing, minute: number): number {
  let old = 0;
  while (old < ring.count && (ring.data[old * WIDTH + MINUTE] ?? 0) < minute - STORED_MINUTES) old += 1;
  if (old > 0) {
    ring.data.copyWithin(0, old * WIDTH, ring.count * WIDTH);
    ring.count -= old;
    return old;
  }
  const larger = new Float64Array(ring.data.length * 2);
  larger.set(ring.data);
  ring.data = larger;
  return 0;
}
