import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketGroup, Trade } from "../../base/market/index.ts";
import type { AnyFlare, Candle, Explanation, Surge } from "../../base/model/index.ts";
import { createCanary } from "../detect/canary.ts";
import { createTrend } from "../detect/hysteresis.ts";
import { createLiquidityLevel } from "../detect/liquidity-level.ts";
import type { CandleState, Minute } from "../detect/measures/candle-detector.ts";
import type { SecondsState } from "../detect/measures/seconds-detector.ts";
import type { TradeState } from "../detect/measures/trade-detector.ts";
import type { WindowState } from "../detect/measures/window-detector.ts";
import type { Pool } from "../detect/pools.ts";
import type { CandleRing } from "../views/candle-ring.ts";
import { type BucketRing, createRing, scaleRing, type TradeCounts, tradesWithin } from "./bucket-ring.ts";
import { createControl, type FollowedFlare } from "./followed-flare.ts";
import type { TokenProfile } from "./token-profile.ts";

/** Length of the charts in minutes. The ring of minutes is a little larger. */
export const CHART_MINUTES = 60;
const MINUTE_RING = 64;
/**
 * Length of the fine ring's steps. From it, flares show the trades of five minutes and the price
 * changes of ten.
 */
export const FINE_STEP_MS = 5_000;
export const FINE_RING = 128;
const RECENT_MS = 300_000;
/**
 * If past prices would be rescaled by more than this in total, the pools' prices have different
 * units.
 */
const MAX_RATIO = 1e6;
/** A token is live until its last trade, or candle with volume, is older than this. */
const LIVE_MS = 3_600_000;
/** Number of minutes in {@link TokenState.activeMinutes}. */
const ACTIVITY_MINUTES = 32;
/** A token is trading if at least three of the last ten minutes had a trade. */
const TRADING_WINDOW_MINUTES = 10;
const MIN_TRADING_MINUTES = 3;

/** A candle of the current minute. It counts when the minute ends. */
export interface PendingCandle extends Minute {
  /** The close as the feed's decimal string. */
  readonly text: string;
}

/** A running flare as served. */
export interface RunningFlare {
  readonly id: string;
  readonly startedMs: number;
  isFree: boolean;
  published: AnyFlare;
  explanation: Explanation;
  /** Its latest surge. */
  surge?: Surge;
}

/** `null`, of a field that may have a value. */
const none = <T>(): T | null => null;
const listOf = <T>(): T[] => [];

export function createToken(
  group: MarketGroup,
  key: string,
  address: string,
  atMs: number,
  profile: TokenProfile,
) {
  return {
    group,
    /** The address in lower case; on the exchange, the symbol. */
    key,
    /** The address or symbol as first seen. */
    address,
    /** Other spellings of the address. */
    aliases: listOf<string>(),
    firstSeenMs: atMs,
    /** Latest event other than a profile. */
    lastSeenMs: atMs,
    /** First trade, candle with volume, or report with new trades; -1 before. */
    firstMarketMs: -1,
    /** Last one of these; -1 before the first. */
    lastMarketMs: -1,
    /**
     * One bit for each of 32 minutes, set if it had trades. The lowest is {@link lastActiveMinute}.
     */
    activeMinutes: 0,
    /** Number of the last minute with trades; -1 before the first. */
    lastActiveMinute: -1,
    /** Total number of trades, candles and reports of an aggregator. */
    events: 0,
    profile,
    price: 0,
    /** The price as the feed's decimal string. */
    priceText: "0",
    /**
     * Time of the trade, candle with volume or report that last set the price; -1 before. Candles
     * without volume do not change it.
     */
    priceAtMs: -1,
    /** Pool of the trade or report that set the price; "" before, and for candles. */
    pricePool: "",
    /** Product of all factors applied to past prices; see {@link rescalePrices}. */
    priceScale: 1,
    /** Highest close of a minute in the past hour. */
    peak: 0,
    /** The minute of the peak; -1 before the first, or to search for the peak again. */
    peakMinute: -1,
    pools: listOf<Pool>(),
    /** The pool whose trades set the price: see {@link noteTradeInPool}; "" if none is known. */
    mainPool: "",
    /** When a pool last took over from another by volume; -1 before. */
    tookOverMs: -1,
    /** Pool of the first trade, or first report that set the price; "" before it. */
    firstPool: "",
    level: createLiquidityLevel(),
    minutes: createRing(MINUTE_RING),
    /** `null` unless the token has individual trades. */
    fine: none<BucketRing>(),
    /** BSC only: candles of the last hour; `null` before the first trade. */
    candles: none<CandleRing>(),
    /** The served candles, and until when they are at least; `null` if they are not served. */
    shownCandles: none<{ readonly untilMs: number; list: Candle[] }>(),
    candle: none<CandleState>(),
    /**
     * The state before the {@link silentMinutes} or, if there are none, before the last closed
     * minute.
     */
    candleBefore: none<CandleState>(),
    /** Number of latest consecutive minutes without a candle. Their candles may still arrive. */
    silentMinutes: 0,
    pending: none<PendingCandle>(),
    /** Latest minute of a candle from the feed; -1 before the first. */
    candleMinute: -1,
    trades: none<TradeState>(),
    /** An exchange's trades by the second; `null` unless the token has them. */
    seconds: none<SecondsState>(),
    /** The latest report that set the price; `null` once individual trades are known. */
    window: none<WindowState>(),
    trend: createTrend(),
    canary: createCanary(),
    flare: none<RunningFlare>(),
    /** Flares without a final outcome, oldest first; `null` if there are none. */
    followed: none<FollowedFlare[]>(),
    control: createControl(),
    /** Id of the latest flare that all plans have seen, because it was in `free` or ended. */
    publicFlareId: none<string>(),
    /** Id of the nested flare before the first public flare. Derived on first use. */
    nestedId: none<string>(),
    /** Id of the chart item. Derived on first use. */
    chartId: none<string>(),
    isRelevant: false,
    lastRelevantMs: atMs,
    lastIrrelevantMs: atMs,
    /** Rank in its group's chart. */
    chart: {
      /** Current rank from 1; 0 outside. */
      rank: 0,
      /** Consecutive minutes in the chart, not counting those without data of the group. */
      streak: 0,
      /**
       * Ranks by minute modulo 360; 0 outside the chart and without data of the group. `null`
       * unless the token was in the chart within six hours.
       */
      ranks: none<Uint8Array>(),
      /** Sum and number of the ranks above 0. */
      rankSum: 0,
      rankCount: 0,
    },
    /** The token waits to be judged. False if it was forgotten. */
    isTouched: false,
    /** Something that a flare shows may have changed since the last refresh. */
    isStale: false,
  };
}

/** The engine's state of one token. Plain data for checkpoints. */
export type TokenState = ReturnType<typeof createToken>;

/**
 * Raises the peak to a minute's close. Prices within a minute do not count: a single trade can fake
 * them.
 */
export function notePeak(token: TokenState, close: number, minute: number): void {
  if (close < token.peak) return;
  token.peak = close;
  token.peakMinute = minute;
}

/**
 * Rescales past prices when another pool sets the price, because nobody traded the difference.
 * Leaves them if the units differ: see {@link MAX_RATIO}.
 */
function rescalePrices(token: TokenState, ratio: number): void {
  const scale = token.priceScale * ratio;
  if (!(scale > 1 / MAX_RATIO && scale < MAX_RATIO)) return;
  token.priceScale = scale;
  token.peak *= ratio;
  scaleRing(token.minutes, ratio);
  if (token.fine) scaleRing(token.fine, ratio);
  const { trades } = token;
  if (!trades) return;
  trades.price *= ratio;
  trades.longPrice *= ratio;
  trades.startPrice *= ratio;
  trades.minutePrice *= ratio;
}

/**
 * Sets the token's price to an event's. If another pool set it before, rescales past prices.
 */
export function setPrice(
  token: TokenState,
  pool: Pool | undefined,
  event: Pick<Trade, "at" | "pool" | "price">,
  price: number,
): void {
  if (token.price > 0 && token.pricePool !== event.pool && token.mainPool !== "") {
    // A pool that sets the price again continues from its own last prices. Changes of other pools
    // in the meantime are undone.
    rescalePrices(token, pool?.scale ? pool.scale / token.priceScale : price / token.price);
    // Nobody traded the remaining difference, so it does not count as a rise.
    if (token.trades) token.trades.price = Math.max(token.trades.price, price);
  }
  if (pool) pool.scale = token.priceScale;
  // The same string as the pool's, because comparing two equal ones would read both.
  token.pricePool = pool?.pool ?? event.pool;
  token.priceAtMs = event.at;
  token.price = price;
  token.priceText = event.price;
}

/**
 * Records that the token traded in `minute`, counted from 1970, at `atMs` or, with a candle, before
 * it.
 */
export function noteActivity(token: TokenState, atMs: number, minute: number): void {
  if (token.firstMarketMs < 0 || atMs < token.firstMarketMs) token.firstMarketMs = atMs;
  token.lastMarketMs = Math.max(token.lastMarketMs, atMs);
  const passed = minute - token.lastActiveMinute;
  if (passed > 0) {
    token.activeMinutes = passed < ACTIVITY_MINUTES ? (token.activeMinutes << passed) | 1 : 1;
    token.lastActiveMinute = minute;
  } else if (passed > -ACTIVITY_MINUTES) token.activeMinutes |= 1 << -passed;
}

/** Returns how many of the `minutes` before `atMs` had a trade; at most 32. */
export function activeMinutesOf(token: TokenState, atMs: number, minutes = ACTIVITY_MINUTES): number {
  let count = 0;
  for (let bits = activeWithin(token, atMs, minutes); bits !== 0; bits &= bits - 1) count += 1;
  return count;
}

/** Returns one bit for each of the `minutes` before `atMs`, set if it had a trade. */
function activeWithin(token: TokenState, atMs: number, minutes: number): number {
  const passed = Math.floor((atMs - 1) / MINUTE_MS) - token.lastActiveMinute;
  if (passed >= minutes) return 0;
  const window = minutes - Math.max(0, passed);
  return token.activeMinutes & (window >= ACTIVITY_MINUTES ? 0xffffffff : (1 << window) - 1);
}

/**
 * Returns whether the token traded in at least three of the last ten minutes, as medians and charts
 * require.
 */
export function isTrading(token: TokenState, atMs: number): boolean {
  let bits = activeWithin(token, atMs, TRADING_WINDOW_MINUTES);
  for (let minute = 1; minute < MIN_TRADING_MINUTES; minute++) bits &= bits - 1;
  return bits !== 0;
}

/** Returns whether the token traded within the hour before `atMs`. */
export function isLive(token: TokenState, atMs: number): boolean {
  return token.lastMarketMs >= 0 && atMs - token.lastMarketMs <= LIVE_MS;
}

/** Returns whether the token is to be judged at the end of a minute, even without trades in it. */
export function isOnWatch(token: TokenState, atMs: number): boolean {
  const isRunning = token.trend.startedMs >= 0 || token.canary.isOn;
  return isRunning || token.candle !== null || token.isTouched || isLive(token, atMs);
}

/**
 * Returns the ring for the last five minutes, its step just before `atMs`, and the number of its
 * steps in five minutes. The step is incomplete unless it ends at `atMs`.
 */
export function recentSteps(token: TokenState, atMs: number) {
  const stepMs = token.fine ? FINE_STEP_MS : MINUTE_MS;
  return {
    ring: token.fine ?? token.minutes,
    end: Math.floor((atMs - 1) / stepMs),
    steps: RECENT_MS / stepMs,
  };
}

/** Returns the number of trades in the last five minutes, as flares show it. */
export function countRecentTrades(token: TokenState, atMs: number): TradeCounts {
  const { window } = token;
  if (window) return atMs - window.atMs < RECENT_MS ? window : { buys: 0, sells: 0 };
  const { ring, end, steps } = recentSteps(token, atMs);
  return tradesWithin(ring, end - steps + 1, end);
}

/**
 * Returns the trades of the {@link CHART_MINUTES} minutes that end with `end` or, if only reports
 * are known, of the hour before the last report.
 */
export function countChartTrades({ minutes, window }: TokenState, end: number): TradeCounts {
  if (window) return { buys: window.hourBuys, sells: window.hourSells };
  return tradesWithin(minutes, end - CHART_MINUTES + 1, end);
}

/**
 * Updates the token's relevance: it is in the chart, or its running flare is public. It is the same
 * for every plan.
 */
export function judgeRelevance(token: TokenState, atMs: number): void {
  const isPublicFlare = token.flare !== null && token.flare.id === token.publicFlareId;
  const isRelevant = token.chart.rank > 0 || isPublicFlare;
  if (isRelevant === token.isRelevant) return;
  token.isRelevant = isRelevant;
  if (isRelevant) token.lastRelevantMs = atMs;
  else token.lastIrrelevantMs = atMs;
}
