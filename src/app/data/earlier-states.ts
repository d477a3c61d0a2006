import {
  createRing,
  createSuspects,
  createTrend,
  DEFAULT_SETTINGS,
  type EngineState,
  logMultiple,
  recordInRing,
  STATE_VERSION,
} from "../../engine/index.ts";

/** The last version without the dollars of suspects. No release had it. */
const WITHOUT_SUSPECT_DOLLARS = 20;
/** The last version without signs that wallets are one person's. */
const WITHOUT_SUSPECTS = 19;
/** The last version that counted purchases and sales instead of dollars. */
const WITHOUT_NET_BUYING = 18;
/** The last version without what launches usually have, and without emptied pools. */
const WITHOUT_LAUNCHES = 17;
/**
 * The last version without surges, reversals, an exchange's seconds and recent volumes: release
 * 0.1.0.
 */
const WITHOUT_SURGES = 16;
/** The last version without the pools' reported prices. */
const WITHOUT_REPORTED_PRICES = 15;
/**
 * The last version that counted the bought volume of candles. The additional fields are ignored.
 */
const WITH_BOUGHT = 14;
/** The versions that {@link upgradeState} reads. */
export const READABLE_VERSIONS: readonly number[] = [
  WITH_BOUGHT,
  WITHOUT_REPORTED_PRICES,
  WITHOUT_SURGES,
  WITHOUT_LAUNCHES,
  WITHOUT_NET_BUYING,
  WITHOUT_SUSPECTS,
  WITHOUT_SUSPECT_DOLLARS,
  STATE_VERSION,
];

type TokenState = EngineState["tokens"][number];
type TradeState = NonNullable<TokenState["trades"]>;
type CandleState = NonNullable<TokenState["candle"]>;
type Ring = TokenState["minutes"];

/** Converts a state of one of the {@link READABLE_VERSIONS}. Does not check its fields. */
export function upgradeState(version: number, state: EngineState): EngineState {
  if (version === STATE_VERSION) return state;
  const tokens = state.tokens.map((stored) => {
    let token = stored;
    if (version <= WITHOUT_REPORTED_PRICES) token = withReportedPrices(token);
    if (version <= WITHOUT_SURGES) token = withSurges(withJoinedRings(token));
    if (version <= WITHOUT_LAUNCHES) token = { ...token, level: { ...token.level, goneMs: -1 } };
    if (version <= WITHOUT_NET_BUYING) token = withNetBuying(token);
    return withSuspects(token);
  });
  return { ...state, tokens, launches: version <= WITHOUT_LAUNCHES ? new Map() : state.launches };
}

/**
 * Adds what a token up to {@link WITHOUT_SUSPECT_DOLLARS} lacks. It forgets the suspects, because
 * their dollars are unknown and they count for half an hour at most.
 */
function withSuspects(token: TokenState): TokenState {
  if (!token.trades) return token;
  const { squareBuyUsd = 0, ...trades } = token.trades;
  return { ...token, trades: { ...trades, squareBuyUsd, suspects: createSuspects() } };
}

/**
 * Adds what a token up to {@link WITHOUT_NET_BUYING} lacks, as if all its trades were of equal
 * size, and half of its usual dollars a usual surplus.
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
 * Adds what a token up to {@link WITHOUT_SURGES} lacks. A running flare is not reversed. The
 * strength of the last one is unknown, so nothing counts as stronger.
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

/** Its rings may have another form. */
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

/** A ring of release 0.1.0. */
interface SeparateRing {
  readonly closes: Float64Array;
  readonly buys: Uint32Array;
  readonly sells: Uint32Array;
  readonly last: number;
  readonly first: number;
}

/** Converts a ring, unless it has the present form. */
function joinRing(stored: Ring | SeparateRing): Ring {
  if ("steps" in stored) return stored;
  const { closes, buys, sells, last, first } = stored;
  const ring = createRing(closes.length);
  for (let step = Math.max(first, last - closes.length + 1); step <= last && last >= 0; step++) {
    const slot = step % closes.length;
    recordInRing(ring, step, closes[slot] ?? 0, buys[slot] ?? 0, sells[slot] ?? 0);
  }
  return { ...ring, first };
}

/** Adds what a token up to {@link WITHOUT_REPORTED_PRICES} lacks. */
function withReportedPrices(token: TokenState): TokenState {
  const { pools, pricePool, price } = token;
  return {
    ...token,
    pools: pools.map((pool) => ({ ...pool, reportedPrice: pool.pool === pricePool ? price : 0 })),
  };
}
