import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import { CANDLE_MINUTES } from "../../base/model/index.ts";
import { createTrend } from "../detect/hysteresis.ts";
import type { Markets } from "../detect/market.ts";
import { type CandleState, logMultiple } from "../detect/measures/candle-detector.ts";
import { compactRing, createCandleRing } from "../views/candle-ring.ts";
import { FOLLOW_MS } from "../views/flare-candles.ts";
import type { FinishedFlare } from "../views/group-flares.ts";
import type { NewListing } from "../views/newest-listings.ts";
import type { ServedRankings } from "../views/rankings.ts";
import { createControl } from "./followed-flare.ts";
import type { Rejections } from "./rejection.ts";
import { decodeState, encodeState, type JsonValue } from "./state-codec.ts";
import type { TokenProfile } from "./token-profile.ts";
import type { TokenState } from "./token-state.ts";

/**
 * Increase it whenever the meaning of {@link EngineState} changes. Only checkpoints of
 * {@link READABLE} versions are accepted.
 */
const VERSION = 17;
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
const READABLE: readonly number[] = [
  WITHOUT_CANDLES,
  WITH_BOUGHT,
  WITHOUT_REPORTED_PRICES,
  WITHOUT_SURGES,
  VERSION,
];

/** An engine's complete state as a plain JSON value. A restored engine continues identically. */
export interface EngineCheckpoint {
  readonly version: number;
  readonly state: JsonValue;
}

export interface EngineState {
  readonly clockMs: number;
  readonly stepMs: number;
  readonly nextMinuteMs: number;
  readonly hasClock: boolean;
  readonly rejected: Rejections;
  /** By group, each in the order in which they were first seen. */
  readonly tokens: readonly TokenState[];
  readonly profiles: Map<string, TokenProfile>;
  readonly priors: Map<string, { events: number; timeMs: number; atMs: number }>;
  readonly markets: Markets;
  readonly finished: FinishedFlare[];
  readonly newest: NewListing[];
  readonly standings: ServedRankings;
  /** Events that wait for the first clock event. */
  readonly waiting: readonly MarketEvent[];
}

export function packEngine(state: EngineState): EngineCheckpoint {
  const from = Math.floor(state.clockMs / MINUTE_MS) - CANDLE_MINUTES;
  const tokens = state.tokens.map((token) =>
    token.candles ? { ...token, candles: compactRing(token.candles, from) } : token,
  );
  return { version: VERSION, state: encodeState({ ...state, tokens }) };
}

/**
 * Returns a checkpoint's state. Throws RangeError if the version is unsupported, and TypeError if
 * the state is malformed. Does not check every field.
 */
export function unpackEngine({ version, state: json }: EngineCheckpoint): EngineState {
  if (!READABLE.includes(version)) {
    throw new RangeError(`unsupported checkpoint version ${version}; expected one of ${READABLE.join(", ")}`);
  }
  const state = decodeState(json);
  if (typeof state !== "object" || state === null || !("tokens" in state) || !Array.isArray(state.tokens)) {
    throw new TypeError("invalid checkpoint: no engine state");
  }
  const unpacked = state as EngineState;
  if (version === VERSION) return unpacked;
  const tokens = unpacked.tokens.map((token) => {
    const candled = version === WITHOUT_CANDLES ? withCandles(token, unpacked.clockMs) : token;
    return withSurges(version < WITHOUT_SURGES ? withReportedPrices(candled) : candled);
  });
  return { ...unpacked, tokens };
}

/**
 * Adds what a token up to version {@link WITHOUT_SURGES} lacks. A running flare is not reversed.
 */
function withSurges(token: TokenState): TokenState {
  const { trend, followed, candle, candleBefore } = token;
  return {
    ...token,
    candle: candle && withRecentVolume(candle),
    candleBefore: candleBefore && withRecentVolume(candleBefore),
    seconds: null,
    trend: { ...createTrend(), ...trend, surgedMs: trend.startedMs },
    followed: followed?.map((one) => ({ ...one, end: one.end && { ...one.end, lost: null } })) ?? null,
  };
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
