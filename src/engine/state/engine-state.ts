import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import { CANDLE_MINUTES } from "../../base/model/index.ts";
import { createTrend } from "../detect/hysteresis.ts";
import type { LaunchSums } from "../detect/launches.ts";
import type { Markets } from "../detect/market.ts";
import { type CandleState, logMultiple } from "../detect/measures/candle-detector.ts";
import type { TradeState } from "../detect/measures/trade-detector.ts";
import { DEFAULT_SETTINGS } from "../settings.ts";
import { compactRing, createCandleRing } from "../views/candle-ring.ts";
import { FOLLOW_MS } from "../views/flare-candles.ts";
import type { FinishedFlare } from "../views/group-flares.ts";
import type { NewListing } from "../views/newest-listings.ts";
import type { ServedRankings } from "../views/rankings.ts";
import { joinRing } from "./bucket-ring.ts";
import { createControl } from "./followed-flare.ts";
import type { Rejections } from "./rejection.ts";
import type { TokenProfile } from "./token-profile.ts";
import type { TokenState } from "./token-state.ts";

/**
 * Increase it whenever the meaning of {@link EngineState} changes, and let {@link upgradeState}
 * convert the version before.
 */
export const STATE_VERSION = 19;
/** The last version that counted purchases and sales instead of dollars. */
const WITHOUT_NET_BUYING = 18;
/** The last version without what launches usually have, and without emptied pools. */
const WITHOUT_LAUNCHES = 17;
/** The last version without surges, reversals, an exchange's seconds and recent volumes. */
const WITHOUT_SURGES = 16;
/** The last version without the pools' reported prices. */
const WITHOUT_REPORTED_PRICES = 15;
/**
 * The last version that counted the bought volume of candles. The additional fields are ignored.
 */
const WITH_BOUGHT = 14;
/** The last version without candles, control moments and net buying. */
const WITHOUT_CANDLES = 12;
/** The versions that {@link upgradeState} reads. */
export const READABLE_VERSIONS: readonly number[] = [
  WITHOUT_CANDLES,
  WITH_BOUGHT,
  WITHOUT_REPORTED_PRICES,
  WITHOUT_SURGES,
  WITHOUT_LAUNCHES,
  WITHOUT_NET_BUYING,
  STATE_VERSION,
];

/** An engine's complete state: plain data, maps and typed arrays. An engine with it continues. */
export interface EngineState {
  readonly clockMs: number;
  readonly stepMs: number;
  readonly nextMinuteMs: number;
  readonly hasClock: boolean;
  readonly rejected: Rejections;
  /** By group, each in the order in which they were first seen. */
  readonly tokens: readonly TokenState[];
  readonly profiles: ReadonlyMap<string, TokenProfile>;
  readonly priors: Map<string, { events: number; timeMs: number; atMs: number }>;
  readonly launches: Map<string, LaunchSums>;
  readonly markets: Markets;
  readonly finished: FinishedFlare[];
  readonly newest: NewListing[];
  readonly standings: ServedRankings;
  /** Events that wait for the first clock event. */
  readonly waiting: readonly MarketEvent[];
  /** The state of the book of odds; absent without one. */
  readonly odds?: unknown;
}

/** Learns of changes to an engine's tokens in advance. */
export interface StateWatcher {
  /** Called before the engine changes the tokens. Must not throw. */
  beforeChange(tokens: Iterable<TokenState>): void;
}

/** Whether a second may change the token without an event of its own. */
export function isInUse({ isTouched, flare, followed, shownCandles }: TokenState): boolean {
  return isTouched || flare !== null || followed !== null || shownCandles !== null;
}

/** Returns a token of this time as it is worth storing: without space and old candles. */
export function compactToken(token: TokenState, clockMs: number): TokenState {
  const { candles } = token;
  const from = Math.floor(clockMs / MINUTE_MS) - CANDLE_MINUTES;
  return candles ? { ...token, candles: compactRing(candles, from) } : token;
}

/** Converts a state of one of the {@link READABLE_VERSIONS}. Does not check its fields. */
export function upgradeState(version: number, state: EngineState): EngineState {
  if (version === STATE_VERSION) return state;
  const tokens = state.tokens.map((present) => {
    const weighed = withNetBuying(present);
    if (version === WITHOUT_NET_BUYING) return weighed;
    const token = { ...weighed, level: { ...weighed.level, goneMs: -1 } };
    if (version === WITHOUT_LAUNCHES) return token;
    const joined = withJoinedRings(token);
    const candled = version === WITHOUT_CANDLES ? withCandles(joined, state.clockMs) : joined;
    return withSurges(version < WITHOUT_SURGES ? withReportedPrices(candled) : candled);
  });
  return { ...state, tokens, launches: version < WITHOUT_NET_BUYING ? new Map() : state.launches };
}

/**
 * Adds what a token up to version {@link WITHOUT_NET_BUYING} lacks, as if all its trades were of
 * equal size, and half of its usual dollars a usual surplus.
 */
function withNetBuying(token: TokenState): TokenState {
  if (!token.trades) return token;
  const { buys = 0, sells = 0, ...trades }: TradeState & { buys?: number; sells?: number } = token.trades;
  const { usd, slowUsd, slowMs } = trades;
  const count = Math.max(1, buys + sells);
  const usual = slowMs > 0 ? (slowUsd * DEFAULT_SETTINGS.fastMs) / slowMs : 0;
  const net = { netUsd: (usd * (buys - sells)) / count, squareUsd: (usd * usd) / count / 2 };
  const means = { meanNetUsd: 0, varianceNetUsd: (usual / 2) ** 2 };
  const crowd = { usualBuyers: 0, usualQuickBuyers: 0, usualLongBuyers: 0, usualQuickSellers: 0 };
  return { ...token, trades: { ...trades, ...net, ...means, ...crowd } };
}

/**
 * Adds what a token up to version {@link WITHOUT_SURGES} lacks. A running flare is not
 * reversed. The strength of the last one is unknown, so nothing counts as stronger.
 */
function withSurges(token: TokenState): TokenState {
  const { trend, followed, candle, candleBefore } = token;
  const hasFlared = trend.startedMs >= 0 || trend.coolUntilMs >= 0;
  const strength = hasFlared ? Number.POSITIVE_INFINITY : 0;
  return {
    ...token,
    candle: candle && withRecentVolume(candle),
    candleBefore: candleBefore && withRecentVolume(candleBefore),
    seconds: null,
    candleMinute: token.candle ? token.minutes.last : -1,
    trend: { ...createTrend(), ...trend, surgedMs: trend.startedMs, strength },
    followed: followed?.map((one) => ({ ...one, end: one.end && { ...one.end, lost: null } })) ?? null,
  };
}

/** The rings of an earlier release may have another form. */
function withJoinedRings(token: TokenState): TokenState {
  const { minutes, fine } = token;
  return { ...token, minutes: joinRing(minutes), fine: fine && joinRing(fine) };
}

/** Its sum of net buying and its logarithm of the volume had other meanings. */
function withRecentVolume(candle: CandleState): CandleState {
  const { volume, usualVolume } = candle;
  const logVolume = usualVolume > 0 ? logMultiple(volume / usualVolume) : 0;
  return { ...candle, recentVolume: usualVolume, netBought: 0, logVolume };
}

/** Adds what a token up to version {@link WITHOUT_REPORTED_PRICES} lacks. */
function withReportedPrices(token: TokenState): TokenState {
  const { pools, pricePool, price } = token;
  return {
    ...token,
    pools: pools.map((pool) => ({ ...pool, reportedPrice: pool.pool === pricePool ? price : 0 })),
  };
}

/**
 * Adds what a token of version {@link WITHOUT_CANDLES} lacks. Candles start with the next minute,
 * because trades of the current one may be missing.
 */
function withCandles(token: TokenState, clockMs: number): TokenState {
  const { group, trades, followed, flare } = token;
  const since = Math.floor(clockMs / MINUTE_MS) + 1;
  const startedMs = flare?.startedMs ?? followed?.at(-1)?.startedMs;
  return {
    ...token,
    candles: group === "bsc" && trades ? createCandleRing(since) : null,
    shownCandles: startedMs === undefined ? null : { untilMs: startedMs + FOLLOW_MS, list: [] },
    control: createControl(),
    followed: followed?.map((one) => ({ ...one, known: {} })) ?? null,
  };
}
