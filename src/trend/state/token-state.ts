import { MINUTE_MS } from "../../lib/time/time.ts";
import type { MarketGroup } from "../../market/index.ts";
import type { Explanation, Flare } from "../../model/index.ts";
import { type CanaryState, createCanary } from "../detect/canary.ts";
import type { CandleState, Minute } from "../detect/candle-detector.ts";
import { createTrend, type Trend } from "../detect/hysteresis.ts";
import { createLiquidityLevel, type LiquidityLevel } from "../detect/liquidity-level.ts";
import type { TradeState } from "../detect/trade-detector.ts";
import { type BucketRing, buysWithin, createRing, scaleRing, sellsWithin } from "./bucket-ring.ts";
import type { TokenProfile } from "./token-profile.ts";

/** Minutes that the charts look back, and the ring that holds them with a little to spare. */
export const CHART_MINUTES = 60;
const MINUTE_RING = 64;
/** The counts and price changes of flares look back ten minutes in steps of five seconds. */
export const FINE_STEP_MS = 5_000;
const FINE_RING = 128;
const RECENT_MS = 300_000;
/** Prices that are further apart are not of the same token in the same unit. */
const MAX_RATIO = 1e6;
/** A token is alive while its last trade or candle is no older. */
const LIVE_MS = 3_600_000;
/** Minutes that {@link TokenState.activeMinutes} remembers. */
const ACTIVITY_MINUTES = 32;
/** A token is trading while at least three of the last ten minutes had a trade. */
const TRADING_WINDOW_MINUTES = 10;
const MIN_TRADING_MINUTES = 3;

/** A pool of a token, and what lies in it. */
export interface Pool {
  readonly pool: string;
  usd: number;
  /** The same as the feed wrote it. */
  usdText: string;
  /** Event time of that report. */
  usdAtMs: number;
  /** The running span of 20 seconds, counted from 1970, the least held within it and within the one before: see {@link steadyUsd}. */
  span: number;
  leastUsd: number;
  leastBeforeUsd: number;
  /** Dollars it would hold if its makers had done nothing recently. */
  referenceUsd: number;
  /** First liquidity; -1 where no listing was seen. */
  listedMs: number;
  /** Dollars traded, decaying over ten minutes from one minute to the next, as of `volumeAtMs`. */
  volumeUsd: number;
  volumeAtMs: number;
  /** {@link TokenState.priceScale} when this pool last set the price; 0 where that says nothing any more. */
  scale: number;
}

/** A candle of the running minute, which counts when the minute ends. */
export interface PendingCandle extends Minute {
  /** The close as the feed wrote it. */
  readonly text: string;
}

/** A running flare as it is served. */
export interface RunningFlare {
  readonly id: string;
  readonly startedMs: number;
  /** It stands in `free` too. */
  isFree: boolean;
  published: Flare;
  explanation: Explanation;
}

/** A token's standing in its group's chart. */
export interface ChartPlace {
  /** Rank now, from 1; 0 outside. */
  rank: number;
  streak: number;
  /** Rank of each of the past 360 minutes, by minute modulo 360; 0 outside. `null` while it was never charted. */
  ranks: Uint8Array | null;
  rankSum: number;
  rankCount: number;
}

/** All that the engine holds of one token. Plain data, so that a checkpoint can hold it. */
export interface TokenState {
  readonly group: MarketGroup;
  /** The address in lower case; on the exchange the symbol. */
  readonly key: string;
  /** The address as first seen. */
  readonly address: string;
  /** Other spellings of the address that were seen. */
  readonly aliases: string[];
  readonly firstSeenMs: number;
  /** Last event of any kind. */
  lastSeenMs: number;
  /** First and last trade, or candle with volume; -1 before the first. */
  firstMarketMs: number;
  lastMarketMs: number;
  /** The minutes of the last 32 that had a trade, the newest in the lowest bit, and the newest one's number. A signed 32-bit integer. */
  activeMinutes: number;
  lastActiveMinute: number;
  /** Trades and candles in all. */
  events: number;
  profile: TokenProfile;
  price: number;
  /** The price as the feed wrote it. */
  priceText: string;
  /** Event time of the trade or candle that set it, and the pool of that trade; -1 and "" before the first. */
  priceAtMs: number;
  pricePool: string;
  /** By how much the past prices have been multiplied in all, see {@link rescalePrices}. */
  priceScale: number;
  /** Highest price of the past hour, and the minute it was seen in. */
  peak: number;
  peakMinute: number;
  readonly pools: Pool[];
  /** Name of the pool whose trades set the price: see {@link noteTradeIn}. "" where none is known. */
  mainPool: string;
  /** When that pool last took over from another by its volume; -1 before. */
  tookOverMs: number;
  /** Pool of the first trade; "" before it. */
  firstPool: string;
  readonly level: LiquidityLevel;
  readonly minutes: BucketRing;
  /** Only of what can be a flare and has single trades. */
  fine: BucketRing | null;
  candle: CandleState | null;
  /** The state before the last minute, to which a late candle returns. */
  candleBefore: CandleState | null;
  /** The running minute's candle. */
  pending: PendingCandle | null;
  trades: TradeState | null;
  readonly trend: Trend;
  readonly canary: CanaryState;
  flare: RunningFlare | null;
  /** Of the latest flare that every plan was shown: it stood in `free`, or it ended. */
  publicFlareId: string | null;
  /** Identifiers derived once they are needed. */
  nestedId: string | null;
  chartId: string | null;
  isRelevant: boolean;
  lastRelevantMs: number;
  lastIrrelevantMs: number;
  readonly chart: ChartPlace;
  /** Waits to be judged; never of a token that was forgotten. */
  isTouched: boolean;
  /** Something that a flare shows may have changed since it was last refreshed. */
  isStale: boolean;
}

/** A token at first sight. */
export function createToken(
  group: MarketGroup,
  key: string,
  address: string,
  atMs: number,
  profile: TokenProfile,
): TokenState {
  return {
    group,
    key,
    address,
    aliases: [],
    firstSeenMs: atMs,
    lastSeenMs: atMs,
    firstMarketMs: -1,
    lastMarketMs: -1,
    activeMinutes: 0,
    lastActiveMinute: -1,
    events: 0,
    profile,
    price: 0,
    priceText: "0",
    priceAtMs: -1,
    pricePool: "",
    priceScale: 1,
    peak: 0,
    peakMinute: -1,
    pools: [],
    mainPool: "",
    tookOverMs: -1,
    firstPool: "",
    level: createLiquidityLevel(),
    minutes: createRing(MINUTE_RING),
    fine: null,
    candle: null,
    candleBefore: null,
    pending: null,
    trades: null,
    trend: createTrend(),
    canary: createCanary(),
    flare: null,
    publicFlareId: null,
    nestedId: null,
    chartId: null,
    isRelevant: false,
    lastRelevantMs: atMs,
    lastIrrelevantMs: atMs,
    chart: { rank: 0, streak: 0, ranks: null, rankSum: 0, rankCount: 0 },
    isTouched: false,
    isStale: false,
  };
}

/** The ring in which a token that may flare keeps its last ten minutes. */
export function createFineRing(): BucketRing {
  return createRing(FINE_RING);
}

/** Sets the token's price to that of a trade or candle. */
export function notePrice(token: TokenState, price: number, text: string): void {
  token.price = price;
  token.priceText = text;
}

/** Raises the peak to a minute's close. A single trade within it is no peak: anyone can make one and fall from it. */
export function notePeak(token: TokenState, close: number, minute: number): void {
  if (close < token.peak) return;
  token.peak = close;
  token.peakMinute = minute;
}

/**
 * Rescales all past prices, because from now on another pool sets them. Pools may stand apart, and the
 * step from one to the other is not a move that anybody traded.
 */
export function rescalePrices(token: TokenState, ratio: number): void {
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
  trades.minutePrice *= ratio;
}

/** Notes that the token traded at `atMs`, within that minute counted from 1970. */
export function noteActivity(token: TokenState, atMs: number, minute: number): void {
  if (token.firstMarketMs < 0) token.firstMarketMs = atMs;
  token.lastMarketMs = Math.max(token.lastMarketMs, atMs);
  const passed = minute - token.lastActiveMinute;
  if (passed > 0) {
    token.activeMinutes = passed < ACTIVITY_MINUTES ? (token.activeMinutes << passed) | 1 : 1;
    token.lastActiveMinute = minute;
  } else if (passed > -ACTIVITY_MINUTES) token.activeMinutes |= 1 << -passed;
}

/** How many of the `minutes` before `atMs` had a trade; at most 32 are remembered. */
export function activeMinutesOf(token: TokenState, atMs: number, minutes = ACTIVITY_MINUTES): number {
  const passed = Math.floor((atMs - 1) / MINUTE_MS) - token.lastActiveMinute;
  if (passed >= minutes) return 0;
  const window = minutes - Math.max(0, passed);
  const mask = window >= ACTIVITY_MINUTES ? 0xffffffff : (1 << window) - 1;
  let count = 0;
  for (let bits = token.activeMinutes & mask; bits !== 0; bits &= bits - 1) count += 1;
  return count;
}

/**
 * Whether the token trades recently and repeatedly: in at least three of the last ten minutes. Only such
 * tokens make up their group's medians and its chart.
 */
export function isTrading(token: TokenState, atMs: number): boolean {
  return activeMinutesOf(token, atMs, TRADING_WINDOW_MINUTES) >= MIN_TRADING_MINUTES;
}

/** Since when the token is known to be offered: its first trade or listing; `null` before either. */
export function offeredSince({ firstMarketMs, pools }: TokenState): number | null {
  let since = firstMarketMs < 0 ? Number.POSITIVE_INFINITY : firstMarketMs;
  for (const { listedMs } of pools) if (listedMs >= 0) since = Math.min(since, listedMs);
  return Number.isFinite(since) ? since : null;
}

/** Whether the token traded within the hour before `atMs`. */
export function isLive(token: TokenState, atMs: number): boolean {
  return token.lastMarketMs >= 0 && atMs - token.lastMarketMs <= LIVE_MS;
}

/** The ring in which a token's last five minutes lie, the step that ended last at `atMs`, and how many of them five minutes are. */
export function recentSteps(token: TokenState, atMs: number) {
  const stepMs = token.fine ? FINE_STEP_MS : MINUTE_MS;
  return {
    ring: token.fine ?? token.minutes,
    end: Math.floor((atMs - 1) / stepMs),
    steps: RECENT_MS / stepMs,
  };
}

/** The trades of the last five minutes: those that a flare shows. */
export function countRecentTrades(
  token: TokenState,
  atMs: number,
): { readonly buys: number; readonly sells: number } {
  const { ring, end, steps } = recentSteps(token, atMs);
  return { buys: buysWithin(ring, end - steps + 1, end), sells: sellsWithin(ring, end - steps + 1, end) };
}

/**
 * Makes the token relevant, or not, as it stands now: in its group's chart, or flaring for every plan.
 * Charts are the same for all plans, so a flare that only `pro` shows must not change them.
 */
export function judgeRelevance(token: TokenState, atMs: number): void {
  const isPublicFlare = token.flare !== null && token.flare.id === token.publicFlareId;
  const isRelevant = token.chart.rank > 0 || isPublicFlare;
  if (isRelevant === token.isRelevant) return;
  token.isRelevant = isRelevant;
  if (isRelevant) token.lastRelevantMs = atMs;
  else token.lastIrrelevantMs = atMs;
}
