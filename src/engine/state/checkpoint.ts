import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import { createTrend } from "../detect/hysteresis.ts";
import type { Markets } from "../detect/market.ts";
import { type CandleState, logMultiple } from "../detect/measures/candle-detector.ts";
import { createCandleRing } from "../views/candle-ring.ts";
import { FOLLOW_MS } from "../views/flare-candles.ts";
import type { FinishedFlare } from "../views/group-flares.ts";
import type { NewListing } from "../views/newest-listings.ts";
import type { ServedRankings } from "../views/rankings.ts";
import { joinRing } from "./bucket-ring.ts";
import { createControl } from "./followed-flare.ts";
import { unpackSlices } from "./packing.ts";
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

/** An engine's complete state as plain JSON values. A restored engine continues identically. */
export interface EngineCheckpoint {
  readonly version: number;
  /** The state without the tokens and profiles in {@link slices}. */
  readonly state: JsonValue;
  /**
   * The tokens and profiles, some in each JSON text: all in one would exceed the longest string.
   * Absent in a checkpoint of an earlier release, whose state has them.
   */
  readonly slices?: Iterable<string>;
}

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
  readonly markets: Markets;
  readonly finished: FinishedFlare[];
  readonly newest: NewListing[];
  readonly standings: ServedRankings;
  /** Events that wait for the first clock event. */
  readonly waiting: readonly MarketEvent[];
  /** The state of the book of odds; absent without one. */
  readonly odds?: unknown;
}

/** Packs everything but the tokens and profiles, which go into slices. */
export function packRest({
  tokens,
  profiles,
  ...rest
}: EngineState): Required<Omit<EngineCheckpoint, "slices">> {
  const counts = { tokens: tokens.length, profiles: profiles.size };
  return { version: VERSION, state: encodeState({ ...rest, counts }) };
}

/**
 * Returns a checkpoint's state. Throws RangeError if the version is unsupported, and TypeError if
 * the state is malformed or slices are missing. Does not check every field.
 */
export function unpackEngine({ version, state: json, slices = [] }: EngineCheckpoint): EngineState {
  if (!READABLE.includes(version)) {
    throw new RangeError(`unsupported checkpoint version ${version}; expected one of ${READABLE.join(", ")}`);
  }
  const state = decodeState(json);
  if (typeof state !== "object" || state === null || !("markets" in state))
    throw new TypeError("invalid checkpoint: no engine state");
  const unpacked = "counts" in state ? withSlices(state, slices) : withJoinedRings(state as OldState);
  if (version === VERSION) return unpacked;
  const tokens = unpacked.tokens.map((token) => {
    const candled = version === WITHOUT_CANDLES ? withCandles(token, unpacked.clockMs) : token;
    return withSurges(version < WITHOUT_SURGES ? withReportedPrices(candled) : candled);
  });
  return { ...unpacked, tokens };
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

/** The tokens of an earlier release, whose rings had a different form. */
type OldToken = Omit<TokenState, "minutes" | "fine"> &
  Record<"minutes" | "fine", Parameters<typeof joinRing>[0]>;
type OldState = Omit<EngineState, "tokens"> & { readonly tokens: readonly OldToken[] };

function withJoinedRings(state: OldState): EngineState {
  const tokens = state.tokens.map((token) => ({
    ...token,
    minutes: joinRing(token.minutes),
    fine: token.fine && joinRing(token.fine),
  }));
  return { ...state, tokens };
}

function withSlices(rest: object & { readonly counts: unknown }, slices: Iterable<string>): EngineState {
  const { counts, ...state } = rest as EngineState & {
    readonly counts: { tokens: number; profiles: number };
  };
  const found = unpackSlices(slices);
  const count = Object.keys(found.tokens).length;
  if (count !== counts.tokens || found.profiles.size !== counts.profiles)
    throw new TypeError(`invalid checkpoint: ${count} of ${counts.tokens} tokens`);
  return { ...state, ...found };
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
