import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import { CANDLE_MINUTES } from "../../base/model/index.ts";
import { createTrend } from "../detect/hysteresis.ts";
import type { LaunchSums } from "../detect/launches.ts";
import type { Markets } from "../detect/market.ts";
import { type CandleState, logMultiple } from "../detect/measures/candle-detector.ts";
import type { TradeState } from "../detect/measures/trade-detector.ts";
import { DEFAULT_SETTINGS } from "../settings.ts";
import { compactRing } from "../views/candle-ring.ts";
import type { FinishedFlare } from "../views/group-flares.ts";
import type { NewListing } from "../views/newest-listings.ts";
import type { ServedRankings } from "../views/rankings.ts";
import { joinRing } from "./bucket-ring.ts";
import type { Rejections } from "./rejection.ts";
import type { TokenProfile } from "./token-profile.ts";
import type { TokenState } from "./token-state.ts";

/**
 * Increase it whenever the meaning of {@link EngineState} changes, and let {@link upgradeState}
 * convert the version before.
 */
export const STATE_VERSION = 19;
/** The version of release 0.1.0. No release wrote one between it and the present. */
const FIRST_RELEASE = 16;
/** The versions that {@link upgradeState} reads. */
export const READABLE_VERSIONS: readonly number[] = [FIRST_RELEASE, STATE_VERSION];

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
  const tokens = state.tokens.map((token) => withSurges(withJoinedRings(withNetBuying(token))));
  return { ...state, tokens, launches: new Map() };
}

/**
 * Adds what a token of {@link FIRST_RELEASE} lacks, as if all its trades were of equal size, and
 * half of its usual dollars a usual surplus.
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
 * Adds what is known of a rise and of emptied pools. A running flare is not reversed. The strength
 * of the last one is unknown, so nothing counts as stronger.
 */
function withSurges(token: TokenState): TokenState {
  const { trend, followed, candle, candleBefore } = token;
  const hasFlared = trend.startedMs >= 0 || trend.coolUntilMs >= 0;
  const strength = hasFlared ? Number.POSITIVE_INFINITY : 0;
  return {
    ...token,
    level: { ...token.level, goneMs: -1 },
    candle: candle && withRecentVolume(candle),
    candleBefore: candleBefore && withRecentVolume(candleBefore),
    seconds: null,
    candleMinute: token.candle ? token.minutes.last : -1,
    trend: { ...createTrend(), ...trend, surgedMs: trend.startedMs, strength },
    followed: followed?.map((one) => ({ ...one, end: one.end && { ...one.end, lost: null } })) ?? null,
  };
}

/** Its rings have another form. */
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
