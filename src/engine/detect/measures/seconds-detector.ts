import { decay } from "../../../base/lib/statistics.ts";
import { MINUTE_MS, SECOND_MS } from "../../../base/lib/time/time.ts";
import type { DetectorSettings } from "../../settings.ts";

/*
 * The detector's measurements for a token of an exchange with individual trades. A pump there lasts
 * seconds: from its first 2 % to its peak, real ones took a median of 36 s (43 pumps on Binance,
 * 2020 to 2022). The strongest sign is a burst of market buys (La Morgia et al. 2020).
 */

/** Seconds in which trades are counted. */
const SPAN_S = 10;
/** Seconds in which the lowest price is looked up. */
const LOW_S = 60;
/** The latest minutes, which do not count as usual: a rise begins slowly. */
const LATEST_MINUTES = 5;
const MINUTE_SLOTS = LATEST_MINUTES + 1;

const COUNT = LOW_S;
const BOUGHT = COUNT + SPAN_S;
const SOLD = BOUGHT + SPAN_S;
const AT_ONCE = SOLD + SPAN_S;
const SLOTS = AT_ONCE + SPAN_S;

export function createSecondsState(atMs: number) {
  return {
    /** When trades began to be known. */
    sinceMs: atMs,
    /** The latest second with a stored trade, counted from 1970. */
    second: Math.floor(atMs / SECOND_MS),
    /**
     * By second: the lowest price of the last 60 (0 without trades), then the number of trades, the
     * bought and the sold money, and the most buys within one millisecond of the last 10.
     */
    numbers: new Float64Array(SLOTS),
    /** The latest trade's time, and whether it bought. */
    lastMs: -1,
    lastIsBuy: false,
    /** Buys of the latest millisecond. */
    atOnce: 0,
    /** Money bought in each of the latest minutes, by minute modulo 6. */
    minuteBought: new Float64Array(MINUTE_SLOTS),
    /** The latest minute of `minuteBought`. */
    minute: Math.floor(atMs / MINUTE_MS),
    /** Decaying sum of money bought before the latest minutes, and its observation time. */
    slowBought: 0,
    slowMs: 0,
    /** The current minute's money and last price, for its candle; no volume: no trades yet. */
    volume: 0,
    close: 0,
    closeText: "0",
  };
}

/** Running state of one token. Plain data. */
export type SecondsState = ReturnType<typeof createSecondsState>;

/** A trade of the exchange. */
export interface QuickTrade {
  readonly at: number;
  readonly isBuy: boolean;
  readonly price: number;
  /** Its value in the pair's quote, like a candle's volume. */
  readonly money: number;
}

/** What happened in the last ten seconds, and what is usual. Money as in {@link QuickTrade}. */
export interface SecondsSums {
  trades: number;
  bought: number;
  sold: number;
  /** The most buys within one millisecond. */
  atOnce: number;
  /** The lowest price of the last minute; 0 without trades. */
  low: number;
}

/** Makes `second` the newest one. Skipped seconds had no trades. */
function advance(state: SecondsState, second: number, settings: DetectorSettings): void {
  const { numbers } = state;
  for (let step = Math.max(state.second + 1, second - LOW_S + 1); step <= second; step++) {
    numbers[step % LOW_S] = 0;
    const slot = step % SPAN_S;
    numbers[COUNT + slot] = 0;
    numbers[BOUGHT + slot] = 0;
    numbers[SOLD + slot] = 0;
    numbers[AT_ONCE + slot] = 0;
  }
  if (second > state.second) state.second = second;
  advanceMinute(state, Math.floor((second * SECOND_MS) / MINUTE_MS), settings);
}

/** Makes `minute` the latest one. Minutes that are no longer among the latest become usual ones. */
function advanceMinute(state: SecondsState, minute: number, { baselineMs }: DetectorSettings): void {
  const sinceMinute = Math.floor(state.sinceMs / MINUTE_MS);
  const pass = (minutes: number) => {
    const left = decay(minutes * MINUTE_MS, baselineMs);
    state.slowBought *= left;
    state.slowMs = state.slowMs * left + baselineMs * (1 - left);
  };
  for (let step = 0; step < MINUTE_SLOTS && state.minute < minute; step++) {
    state.minute += 1;
    if (state.minute - MINUTE_SLOTS < sinceMinute) continue;
    pass(1);
    const slot = state.minute % MINUTE_SLOTS;
    state.slowBought += state.minuteBought[slot] ?? 0;
    state.minuteBought[slot] = 0;
  }
  if (state.minute >= minute) return;
  // All stored minutes have passed, and the rest of the silence had no trades.
  pass(minute - state.minute);
  state.minute = minute;
}

/**
 * Adds a trade. One that arrives late, or that the feed read later, counts in its own second if
 * that is still stored. Returns whether it is a new order: trades of one millisecond and side are
 * one person's.
 */
export function addQuickTrade(state: SecondsState, trade: QuickTrade, settings: DetectorSettings): boolean {
  const { at, isBuy, price, money } = trade;
  const second = Math.floor(at / SECOND_MS);
  advance(state, second, settings);
  const isNewOrder = at !== state.lastMs || isBuy !== state.lastIsBuy;
  if (at === state.lastMs && isBuy && state.lastIsBuy) state.atOnce += 1;
  else state.atOnce = isBuy ? 1 : 0;
  state.lastMs = at;
  state.lastIsBuy = isBuy;
  if (isBuy) {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute > state.minute - MINUTE_SLOTS) {
      const slot = minute % MINUTE_SLOTS;
      state.minuteBought[slot] = (state.minuteBought[slot] ?? 0) + money;
    } else state.slowBought += money * decay(state.minute * MINUTE_MS - at, settings.baselineMs);
  }
  const { numbers } = state;
  const ageS = state.second - second;
  if (ageS >= LOW_S) return isNewOrder;
  const low = numbers[second % LOW_S] ?? 0;
  if (low === 0 || price < low) numbers[second % LOW_S] = price;
  if (ageS >= SPAN_S) return isNewOrder;
  const slot = second % SPAN_S;
  numbers[COUNT + slot] = (numbers[COUNT + slot] ?? 0) + 1;
  const side = (isBuy ? BOUGHT : SOLD) + slot;
  numbers[side] = (numbers[side] ?? 0) + money;
  numbers[AT_ONCE + slot] = Math.max(numbers[AT_ONCE + slot] ?? 0, state.atOnce);
  return isNewOrder;
}

/** Returns the current minute as a candle, and begins the next; `undefined` without trades. */
export function takeMinute(state: SecondsState) {
  const { volume, close, closeText: text } = state;
  state.volume = 0;
  return volume > 0 ? { close, volume, text } : undefined;
}

/** Writes the sums of the ten seconds, and the low of the minute, that end at `atMs` to `sums`. */
export function sumSeconds(
  state: SecondsState,
  sums: SecondsSums,
  atMs: number,
  settings: DetectorSettings,
): void {
  advance(state, Math.ceil(atMs / SECOND_MS) - 1, settings);
  const { numbers } = state;
  sums.trades = countSeconds(state);
  sums.bought = 0;
  sums.sold = 0;
  sums.atOnce = 0;
  for (let slot = 0; slot < SPAN_S; slot++) {
    sums.bought += numbers[BOUGHT + slot] ?? 0;
    sums.sold += numbers[SOLD + slot] ?? 0;
    sums.atOnce = Math.max(sums.atOnce, numbers[AT_ONCE + slot] ?? 0);
  }
  let low = Number.POSITIVE_INFINITY;
  for (let slot = 0; slot < LOW_S; slot++) {
    const price = numbers[slot] ?? 0;
    if (price > 0 && price < low) low = price;
  }
  sums.low = Number.isFinite(low) ? low : 0;
}

/** Returns the number of trades in the last ten seconds. */
export function countSeconds({ numbers }: SecondsState): number {
  let trades = 0;
  for (let slot = COUNT; slot < BOUGHT; slot++) trades += numbers[slot] ?? 0;
  return trades;
}

/**
 * Returns the money that is usually bought in ten seconds: the average of six hours, without the
 * latest minutes. Until half an hour of it is known, half of the usual volume of the token's
 * candles, `minuteVolume`; 0 if that is unknown too.
 */
export function usualBought(
  { slowBought, slowMs }: SecondsState,
  minuteVolume: number,
  { secondsWarmUpMs }: DetectorSettings,
): number {
  const perMs = slowMs >= secondsWarmUpMs ? slowBought / slowMs : minuteVolume / 2 / MINUTE_MS;
  return perMs * SPAN_S * SECOND_MS;
}
