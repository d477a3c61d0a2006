import { clip, decay } from "../../../base/lib/statistics.ts";
import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { DetectorSettings } from "../../settings.ts";
import { LN_EPSILON_SHARE, stepPageSum } from "./candle-detector.ts";
import { createSuspects, noteFirstBlock, noteNewBuyer, noteSale } from "./suspects.ts";
import { createWallets, KEY, LAST_BUY, LAST_SELL, rowOf, TRIPS, USD, USD_AT } from "./wallet-table.ts";

/*
 * The detector's measurements for a token with individual trades. Every sum decays exponentially
 * and is updated only on access, so a trade costs the same however long the history.
 */

/** Time constant of the canary's sums: half an hour. */
const CANARY_MS = 1_800_000;
/** A sale this soon after the same wallet's purchase closes a round trip. */
const ROUND_TRIP_MS = 900_000;
const MAX_SAMPLES = 360;

export interface TradeInput {
  at: number;
  isBuy: boolean;
  usd: number;
  trader: string;
  /** How long ago a past trade was, as of the state's time; 0 for a live one. */
  ageMs: number;
  /** `null` if the trade does not set the token's price. */
  price: number | null;
  /** The pool is too shallow to count: anyone can make one and trade with themselves. */
  isShallow: boolean;
}

export function createTradeState(atMs: number, price: number, settings: DetectorSettings) {
  return {
    atMs,
    /** Time of the first live trade; -1 while all are past ones. */
    startMs: atMs,
    /** Since when trades are known. */
    sinceMs: atMs,
    /** The price just before `startMs`. */
    startPrice: price,
    /** The time of the trade with that price; -1 while it is assumed. */
    startPriceAtMs: -1,
    price,
    longPrice: price,
    /** Log return above the long average, as last read. */
    longRise: 0,
    /** Log return since the last low, as for candles. */
    burst: 0,
    /** Fast count of distinct buyers. */
    buyers: 0,
    /** Fast sum of dollars. */
    usd: 0,
    /** Fast sum of dollars bought minus sold, and of the squares of its parts. */
    netUsd: 0,
    squareUsd: 0,
    /** Decaying dollars bought minus sold in the pool that sets the price. */
    inflow: 0,
    /** Slow count of distinct buyers. */
    slowBuyers: 0,
    /** Slow sum of dollars. */
    slowUsd: 0,
    /** Observation time of the slow sums, in milliseconds. */
    slowMs: 0,
    /** Expected distinct buyers per millisecond: see {@link BuyerRatePriors}. */
    priorRate: 0,
    minuteBuyers: 0,
    /** Mean and variance of the fast count of buyers, sampled each minute. */
    meanBuyers: 0,
    varianceBuyers: 0,
    samples: 0,
    /** Mean and variance of `netUsd`, sampled each minute. */
    meanNetUsd: 0,
    varianceNetUsd: 0,
    /** Means of `buyers`, `quickBuyers`, `longBuyers` and `quickSellers`, sampled each minute. */
    usualBuyers: 0,
    usualQuickBuyers: 0,
    usualLongBuyers: 0,
    usualQuickSellers: 0,
    /** Price at the last minute, and variance of one-minute log returns. */
    minutePrice: price,
    variance: settings.priorVolatility ** 2,
    /** Mean and variance of the logarithm of the fast volume, sampled each minute. */
    logMean: 0,
    logVariance: 1,
    /** Distinct buyers in the canary's half hour. */
    longBuyers: 0,
    /** Of `longBuyers`, those who sold within minutes of a purchase. */
    quickSellers: 0,
    /** Of `buyers`, those who sold within minutes of a purchase. */
    quickBuyers: 0,
    /** Distinct sellers in the canary's half hour. */
    longSellers: 0,
    /** Purchases in the canary's half hour. */
    longBuys: 0,
    /** Dollars bought in the canary's half hour. */
    longBuyUsd: 0,
    /** Dollars bought and sold in the canary's half hour. */
    longUsd: 0,
    /** Dollars of each wallet's second and later round trips in the canary's half hour. */
    roundTripUsd: 0,
    /** Dollars of the largest buyer in the canary's half hour. */
    topBuyerUsd: 0,
    /** Sum of the squares of what each wallet bought in the canary's half hour, in dollars. */
    squareBuyUsd: 0,
    suspects: createSuspects(),
    wallets: createWallets(),
  };
}

/** Running state of one token. Decaying sums are as of `atMs`. */
export type TradeState = ReturnType<typeof createTradeState>;

/** Decays every sum to `atMs`, if that is later. `rate` slows the baselines, as for candles. */
export function decayTrades(state: TradeState, atMs: number, rate: number, settings: DetectorSettings): void {
  const elapsed = atMs - state.atMs;
  if (elapsed <= 0) return;
  state.atMs = atMs;
  const fast = decay(elapsed, settings.fastMs);
  state.buyers *= fast;
  state.quickBuyers *= fast;
  state.usd *= fast;
  state.netUsd *= fast;
  state.squareUsd *= fast * fast;
  const long = decay(elapsed, settings.priceMs);
  state.inflow *= long;
  state.longPrice = state.price + (state.longPrice - state.price) * long;
  if (state.burst > 0) {
    const drift = (settings.burstDrift * Math.sqrt(state.variance) * elapsed) / MINUTE_MS;
    state.burst = stepPageSum(state.burst, 0, drift);
  }
  const slow = decay(elapsed * rate, settings.baselineMs);
  state.slowBuyers *= slow;
  state.slowUsd *= slow;
  state.slowMs = state.slowMs * slow + settings.baselineMs * (1 - slow);
  // By default the two are the same, and this is the most frequent computation of all.
  const canary = settings.priceMs === CANARY_MS ? long : decay(elapsed, CANARY_MS);
  state.longBuyers *= canary;
  state.quickSellers *= canary;
  state.longSellers *= canary;
  state.longBuys *= canary;
  state.longBuyUsd *= canary;
  state.longUsd *= canary;
  state.roundTripUsd *= canary;
  state.topBuyerUsd *= canary;
  state.squareBuyUsd *= canary * canary;
}

/**
 * Adds one trade to the state. First call {@link decayTrades} with the trade's time. A past trade
 * is added with its decayed weight. It adds to a distinct count only if its trader has not bought
 * (or sold) since. For the slow count, see {@link slowNewness}.
 */
export function addTrade(
  state: TradeState,
  trade: Readonly<TradeInput>,
  rate: number,
  settings: DetectorSettings,
): void {
  const { usd, ageMs, price } = trade;
  const long = decay(ageMs, settings.priceMs);
  if (price !== null) {
    if (ageMs === 0) state.burst = stepPageSum(state.burst, Math.log(price / state.price), 0);
    else {
      // The price has held since the trade. When it moved is unknown, so this is not a burst now.
      state.longPrice += (price - state.price) * (1 - long);
      state.minutePrice *= price / state.price;
    }
    state.price = price;
    state.inflow += (trade.isBuy ? usd : -usd) * long;
  }
  if (trade.isShallow) return;
  const fastUsd = usd * decay(ageMs, settings.fastMs);
  state.usd += fastUsd;
  state.netUsd += trade.isBuy ? fastUsd : -fastUsd;
  state.squareUsd += fastUsd * fastUsd;
  state.slowUsd += usd * rate * decay(ageMs, settings.baselineMs);
  state.longUsd += usd * decay(ageMs, CANARY_MS);
  const row = rowOf(state.wallets, trade.trader, trade.at);
  if (trade.isBuy) addPurchase(state, row, trade, rate, settings);
  else addSale(state, row, trade, settings);
}

/** Extends the observation time {@link TradeState.slowMs} back to a past trade. */
export function extendObservation(state: TradeState, atMs: number, settings: DetectorSettings): void {
  if (atMs >= state.sinceMs) return;
  const leftOf = (fromMs: number) => decay(state.atMs - fromMs, settings.baselineMs);
  state.slowMs += settings.baselineMs * (leftOf(state.sinceMs) - leftOf(atMs));
  state.sinceMs = atMs;
}

/**
 * Adds a past trade that is not the latest: its inflow to the sums, and its price to the average.
 * Past prices should come in order: each counts until the next one. One out of order, or not before
 * the first live trade, leaves the average unchanged.
 */
export function addPastPrice(
  state: TradeState,
  { at, price, inflowUsd }: { readonly at: number; readonly price: number; readonly inflowUsd: number },
  settings: DetectorSettings,
): void {
  const leftOf = (fromMs: number) => decay(state.atMs - fromMs, settings.priceMs);
  state.inflow += inflowUsd * leftOf(at);
  if (at >= state.startMs || at < state.startPriceAtMs) return;
  // Before the first known trade, the price is assumed to have been the same.
  const before = state.startPriceAtMs < 0 ? 0 : leftOf(at);
  state.longPrice += (price - state.startPrice) * (leftOf(state.startMs) - before);
  state.startPrice = price;
  state.startPriceAtMs = at;
}

function addPurchase(
  state: TradeState,
  row: number,
  { at, usd, ageMs }: Readonly<TradeInput>,
  rate: number,
  settings: DetectorSettings,
): void {
  const { numbers } = state.wallets;
  const lastBuyMs = numbers[row + LAST_BUY] ?? -1;
  if (ageMs === 0) {
    if (lastBuyMs < 0 && (numbers[row + LAST_SELL] ?? -1) < 0) noteNewBuyer(state.suspects, at, usd);
    noteFirstBlock(state.suspects, numbers[row + KEY] ?? 0, at - state.sinceMs);
  }
  const fresh = newness(at, lastBuyMs, settings.fastMs);
  const fast = decay(ageMs, settings.fastMs);
  state.buyers += fresh * fast;
  if (ageMs === 0) state.minuteBuyers += fresh;
  state.slowBuyers += rate * slowNewness(fresh, lastBuyMs, at, ageMs, settings);
  // Who buys more before selling trades now and then, like anyone else.
  if (lastBuyMs > (numbers[row + LAST_SELL] ?? -1)) numbers[row + TRIPS] = 0;
  numbers[row + LAST_BUY] = Math.max(lastBuyMs, at);
  const canary = decay(ageMs, CANARY_MS);
  const newShare = newness(at, lastBuyMs, CANARY_MS) * canary;
  state.longBuyers += newShare;
  if ((numbers[row + TRIPS] ?? 0) > 0) {
    state.quickSellers += newShare;
    state.quickBuyers += fresh * fast;
  }
  state.longBuys += canary;
  state.longBuyUsd += usd * canary;
  const usdAtMs = numbers[row + USD_AT] ?? at;
  const latestMs = Math.max(usdAtMs, at);
  const earlierUsd = (numbers[row + USD] ?? 0) * decay(latestMs - usdAtMs, CANARY_MS);
  const bought = earlierUsd + usd * decay(ageMs === 0 ? 0 : latestMs - at, CANARY_MS);
  numbers[row + USD] = bought;
  numbers[row + USD_AT] = latestMs;
  const left = decay(ageMs === 0 ? 0 : state.atMs - latestMs, CANARY_MS);
  const boughtNow = bought * left;
  state.squareBuyUsd += boughtNow * boughtNow - (earlierUsd * left) ** 2;
  if (boughtNow >= state.topBuyerUsd) state.topBuyerUsd = boughtNow;
}

/**
 * Returns what a purchase adds to the slow count. Example: a purchase at 10:05 was counted as a
 * whole buyer. Then one at 10:00 by the same wallet arrives. If both had been known, the later one
 * would have added only 1 − e^(−5 min/`fastMs`). The excess, e^(−5 min/`fastMs`), is subtracted
 * here. Only a wallet's latest purchase is stored. So several older ones are each compared with
 * that one alone, and add up to too many buyers.
 */
function slowNewness(
  fresh: number,
  lastBuyMs: number,
  atMs: number,
  ageMs: number,
  { fastMs, baselineMs }: DetectorSettings,
): number {
  if (ageMs === 0 || lastBuyMs < atMs) return fresh * decay(ageMs, baselineMs);
  const sinceMs = lastBuyMs - atMs;
  return decay(ageMs, baselineMs) - decay(sinceMs, fastMs) * decay(ageMs - sinceMs, baselineMs);
}

function addSale(
  state: TradeState,
  row: number,
  { at, usd, ageMs }: Readonly<TradeInput>,
  settings: DetectorSettings,
): void {
  const { numbers } = state.wallets;
  const lastBuyMs = numbers[row + LAST_BUY] ?? -1;
  const lastSellMs = numbers[row + LAST_SELL] ?? -1;
  const canary = decay(ageMs, CANARY_MS);
  if (ageMs === 0) noteSale(state.suspects, numbers[row + KEY] ?? 0, lastSellMs < 0, at, usd);
  state.longSellers += newness(at, lastSellMs, CANARY_MS) * canary;
  if (at - lastBuyMs > ROUND_TRIP_MS) numbers[row + TRIPS] = 0;
  // `>=` because a purchase and a sale in one block have the same time.
  const isAfter = lastBuyMs >= Math.max(0, lastSellMs) && (ageMs === 0 || at >= lastBuyMs);
  if (isAfter && at - lastBuyMs <= ROUND_TRIP_MS) {
    const trips = (numbers[row + TRIPS] ?? 0) + 1;
    numbers[row + TRIPS] = trips;
    if (trips > 1) state.roundTripUsd += 2 * usd * canary;
    else {
      const sinceMs = state.atMs - lastBuyMs;
      state.quickSellers += newness(lastBuyMs, lastSellMs, CANARY_MS) * decay(sinceMs, CANARY_MS);
      state.quickBuyers += newness(lastBuyMs, lastSellMs, settings.fastMs) * decay(sinceMs, settings.fastMs);
    }
  }
  numbers[row + LAST_SELL] = ageMs === 0 ? at : Math.max(lastSellMs, at);
}

/**
 * Returns what an action adds to a distinct count: 1 − e^(−t/τ), where t is the time since the
 * trader's last one.
 */
function newness(atMs: number, lastMs: number, tauMs: number): number {
  return lastMs < 0 ? 1 : 1 - decay(atMs - lastMs, tauMs);
}

/** Takes the minute's samples. Call it every minute, after {@link decayTrades}. */
export function sampleTrades(state: TradeState, rate: number, settings: DetectorSettings): void {
  state.samples = Math.min(state.samples + 1, MAX_SAMPLES);
  const evidence = 1 / (state.samples + settings.priorMinutes);
  const learn = Math.max(MINUTE_MS / settings.baselineMs, evidence) * rate;
  const bound = settings.returnClip * Math.sqrt(state.variance);
  const change = clip(Math.log(state.price / state.minutePrice), -bound, bound);
  state.variance += (change * change - state.variance) * learn;
  state.minutePrice = state.price;
  const surplus = state.buyers - state.meanBuyers;
  state.meanBuyers += surplus * learn;
  state.varianceBuyers += (surplus * (state.buyers - state.meanBuyers) - state.varianceBuyers) * learn;
  const net = state.netUsd - state.meanNetUsd;
  state.meanNetUsd += net * learn;
  state.varianceNetUsd += (net * (state.netUsd - state.meanNetUsd) - state.varianceNetUsd) * learn;
  const sooner = Math.max(MINUTE_MS / settings.baselineMs, 1 / state.samples) * rate;
  state.usualBuyers += (state.buyers - state.usualBuyers) * sooner;
  state.usualQuickBuyers += (state.quickBuyers - state.usualQuickBuyers) * sooner;
  state.usualLongBuyers += (state.longBuyers - state.usualLongBuyers) * sooner;
  state.usualQuickSellers += (state.quickSellers - state.usualQuickSellers) * sooner;
  const log = logVolume(state, settings);
  if (state.samples === 1) state.logMean = log;
  const above = log - state.logMean;
  state.logMean += above * Math.max(learn, rate / state.samples);
  state.logVariance += (above * above - state.logVariance) * learn;
  state.minuteBuyers = 0;
}

/**
 * Returns log(dollars per minute + a twentieth of the usual + 1), so that the log of no volume is
 * finite.
 */
export function logVolume(state: TradeState, settings: DetectorSettings): number {
  const now = (state.usd * MINUTE_MS) / settings.fastMs;
  return Math.log(now + usualUsd(state) * LN_EPSILON_SHARE + 1);
}

export function usualUsd(state: TradeState): number {
  return state.slowMs > 0 ? (state.slowUsd * MINUTE_MS) / Math.max(state.slowMs, MINUTE_MS) : 0;
}
