import { decay } from "../../base/lib/statistics.ts";
import { formatDecimal } from "../../base/lib/text/figures.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, startOf } from "../../base/lib/time/time.ts";
import type { FeedFacts, LocksEvent } from "../../base/market/index.ts";
import type { DetectorSettings } from "../settings.ts";
import type { TokenState } from "../state/token-state.ts";
import { lossOf, noteGone, noteLevel, passTime, referenceAfterTrade, shareLeft } from "./liquidity-level.ts";

const MAX_POOLS = 16;
/**
 * Liquidity counts after one to two of these periods, 20 to 40 seconds. A deposit for one block
 * therefore does not count.
 */
const STEADY_MS = 20 * SECOND_MS;
/** A pool needs this share of the deepest pool's liquidity to set the price. */
const PRICE_POOL_SHARE = 0.1;
/** Time constant of a pool's recent volume. */
const VOLUME_MS = 10 * MINUTE_MS;
/** A pool takes over the price if its recent volume is this many times the current pool's. */
const TAKE_OVER = 2;
/** Minimum time between takeovers while the current pool trades. */
const MIN_STAY_MS = HOUR_MS;
/** Maximum distance of the new price from the current one, as log ratio. */
const MAX_STEP = 0.25;
/**
 * `MIN_STAY_MS` and `MAX_STEP` do not apply to a pool this many times as deep: depth is hard to
 * fake.
 */
const MUCH_DEEPER = 4;

export function findPool(token: TokenState, name: string): Pool | undefined {
  for (const pool of token.pools) if (pool.pool === name) return pool;
  return undefined;
}

/**
 * Returns whether trades in a pool of unknown depth count. Until any pool's depth is known, they
 * count in every pool. Afterwards, they count only in the pool of the token's first trade.
 */
export function countsTradesOfUnknownDepth(token: TokenState, name: string): boolean {
  return token.mainPool === "" || token.firstPool === name;
}

interface LiquidityReport {
  readonly atMs: number;
  readonly usd: number;
  /** The same, as the feed's decimal string. */
  readonly usdText: string;
  /** `listing`: the pool is new. The others are as in a market event. */
  readonly cause: "listing" | "sync" | "add" | "remove";
  /** For a `sync`: the pool's dollars after the trades alone. Default: `usd`. */
  readonly tradedUsd?: number;
}

/**
 * Stores a pool's liquidity and compares the token's total with its recent level. Older reports
 * change nothing. The first pool counts at once. If a later pool's first report is a `sync`, its
 * reference is set at once, but its liquidity does not count as steady yet. Beyond 16 pools, the
 * least valuable is dropped. Chooses another main pool if the present one is too shallow.
 */
export function notePool(
  token: TokenState,
  name: string,
  report: LiquidityReport,
  settings: DetectorSettings,
): Pool {
  const { atMs, usd, usdText, cause, tradedUsd = usd } = report;
  const existing = findPool(token, name);
  if (existing && atMs < existing.usdAtMs) return existing;
  advanceTo(token, atMs, settings);
  const isFirst = isFirstLiquidity(token, existing);
  const steadyBefore = existing ? steadyUsd(existing, atMs) : 0;
  const pool: Pool = existing ?? createPool(name, atMs);
  if (!existing) token.pools.push(pool);
  if (isFirst) pool.leastUsd = pool.leastBeforeUsd = usd;
  if (isFirst || (!existing && cause === "sync")) pool.referenceUsd = usd;
  else if (cause === "sync") pool.referenceUsd = referenceAfterTrade(pool.referenceUsd, pool.usd, tradedUsd);
  noteMinimum(pool, usd, atMs);
  pool.usd = usd;
  pool.usdText = usdText;
  pool.usdAtMs = atMs;
  let gainedUsd = cause === "remove" ? moveSteady(token, pool, steadyBefore - usd) : 0;
  if (token.pools.length > MAX_POOLS) dropLowest(token);
  let sumUsd = 0;
  let referenceUsd = 0;
  for (const other of token.pools) {
    sumUsd += other.usd;
    referenceUsd += other.referenceUsd;
    gainedUsd += other.usd - steadyUsd(other, atMs);
  }
  noteLevel(token.level, sumUsd, referenceUsd, atMs, settings);
  // An aggregator's report may be wrong. Without a flare, nobody needs to know at once.
  const mayBeGone = cause === "remove" && token.trades !== null && token.trend.startedMs >= 0;
  const change = { missingUsd: referenceUsd - sumUsd, gainedUsd };
  noteGone(token.level, mayBeGone ? pool : undefined, change, atMs);
  const main = token.mainPool === name ? pool : findPool(token, token.mainPool);
  const minDepth = minPriceDepth(token, atMs);
  if (!main || token.price === 0 || main.usd < minDepth) token.mainPool = busiest(token, minDepth, atMs).pool;
  return pool;
}

/**
 * Returns whether this is the token's first liquidity. Its only pool may be known already, because
 * a bonding curve starts empty.
 */
function isFirstLiquidity({ pools }: TokenState, pool: Pool | undefined): boolean {
  return pools.length === 0 || (pools.length === 1 && pool?.usd === 0 && pool.referenceUsd === 0);
}

/**
 * If liquidity left this pool and entered others at the same moment, as when a launchpad's bonding
 * curve is complete, counts it there at once. Only liquidity that was steady in this pool counts,
 * so a deposit for a single block cannot pass as moved. Returns how much moved.
 */
function moveSteady({ pools }: TokenState, from: Pool, usd: number): number {
  let left = usd;
  for (const pool of pools) {
    if (pool === from || pool.usdAtMs !== from.usdAtMs || left <= 0) continue;
    const moved = Math.min(left, pool.usd - steadyUsd(pool, pool.usdAtMs));
    pool.leastUsd = Math.min(pool.usd, pool.leastUsd + moved);
    pool.leastBeforeUsd = Math.min(pool.usd, pool.leastBeforeUsd + moved);
    left -= moved;
  }
  return usd - left;
}

/** Updates the level and each pool's reference to `atMs`, with the liquidity until then. */
function advanceTo(token: TokenState, atMs: number, settings: DetectorSettings): void {
  const { level, pools } = token;
  if (atMs <= level.atMs) return;
  const left = shareLeft(level, atMs, settings.removalMs);
  let usd = 0;
  let steadySum = 0;
  for (const pool of pools) {
    const steady = steadyUsd(pool, atMs);
    pool.referenceUsd = steady + (pool.referenceUsd - steady) * left;
    usd += pool.usd;
    steadySum += steady;
  }
  passTime(level, usd, steadySum, atMs, settings);
}

/** Returns the pool's minimum liquidity of the last 20 to 40 seconds. */
export function steadyUsd(pool: Pool, atMs: number): number {
  const passed = Math.floor(atMs / STEADY_MS) - pool.span;
  if (passed >= 2) return pool.usd;
  return passed === 1 ? pool.leastUsd : Math.min(pool.leastUsd, pool.leastBeforeUsd);
}

/** Includes `usd`, the liquidity from now on, in the span's minimum. */
function noteMinimum(pool: Pool, usd: number, atMs: number): void {
  const passed = Math.floor(atMs / STEADY_MS) - pool.span;
  if (passed > 0) {
    pool.leastBeforeUsd = passed === 1 ? pool.leastUsd : pool.usd;
    pool.leastUsd = pool.usd;
    pool.span += passed;
  }
  pool.leastUsd = Math.min(pool.leastUsd, usd);
}

/** Returns the liquidity that a pool needs to set the price. */
function minPriceDepth(token: TokenState, atMs: number): number {
  let deepest = 0;
  for (const pool of token.pools) deepest = Math.max(deepest, steadyUsd(pool, atMs));
  return PRICE_POOL_SHARE * deepest;
}

function createPool(name: string, atMs: number) {
  return {
    pool: name,
    usd: 0,
    /** The same, as the feed's decimal string. */
    usdText: "0",
    /** Event time of the report of `usd`. */
    usdAtMs: atMs,
    /** Index of the current 20-second span since 1970. */
    span: Math.floor(atMs / STEADY_MS),
    /** Minimum liquidity in this span, and in the one before. */
    leastUsd: 0,
    leastBeforeUsd: 0,
    /** Dollars the pool would hold if nobody had recently added or removed liquidity. */
    referenceUsd: 0,
    /** Time of the pool's listing; -1 if none was received. */
    listedMs: -1,
    /**
     * Dollars traded as of `volumeAtMs`. Decays minute by minute, with a time constant of ten
     * minutes.
     */
    volumeUsd: 0,
    volumeAtMs: atMs,
    /**
     * {@link TokenState.priceScale} when this pool last set the price; 0 if never, or too long ago.
     */
    scale: 0,
    /** The pool's price in the last report of an aggregator; 0 before the first. */
    reportedPrice: 0,
  };
}

/** A pool of a token, with its liquidity. `locks`: who holds its LP tokens, if that is known. */
export type Pool = ReturnType<typeof createPool> & { locks?: Pick<LocksEvent, "burned" | "held"> };

/**
 * A pool sets the price, or is another deep one, or is too shallow for its trades to count in the
 * score.
 */
export type PoolRole = "price" | "other" | "shallow";

/**
 * Adds a trade to its pool's recent volume. Returns the pool's role.
 *
 * The price comes from the pool that trades most. Another pool of sufficient depth takes over once
 * it has traded twice as much recently. While the current pool trades, the other's price must also
 * be near, and at least an hour must have passed since the last takeover. The reasons: volume is
 * cheap to fake, a price that nobody arbitrages means nothing, and switching back and forth could
 * add up to a rise that nobody traded. Neither is needed if the other is much deeper.
 */
export function noteTradeInPool(
  token: TokenState,
  pool: Pool,
  usd: number,
  price: number,
  atMs: number,
): PoolRole {
  const minuteMs = startOf(MINUTE_MS, atMs);
  noteVolume(pool, usd, minuteMs);
  const role = roleOf(token, pool, atMs);
  if (role !== "other") return role;
  const main = findPool(token, token.mainPool);
  if (main && pool.volumeUsd <= TAKE_OVER * volumeAt(main, minuteMs)) return "other";
  const isTraded = main !== undefined && main.volumeUsd > 0 && atMs - main.volumeAtMs < VOLUME_MS;
  if (isTraded && steadyUsd(pool, atMs) < MUCH_DEEPER * main.usd) {
    if (token.tookOverMs >= 0 && atMs - token.tookOverMs < MIN_STAY_MS) return "other";
    if (token.price > 0 && Math.abs(Math.log(price / token.price)) > MAX_STEP) return "other";
  }
  token.mainPool = pool.pool;
  token.tookOverMs = atMs;
  pool.scale = 0;
  return "price";
}

/** Adds a trade in the minute that starts at `minuteMs` to the pool's recent volume. */
export function noteVolume(pool: Pool, usd: number, minuteMs: number): void {
  if (minuteMs > pool.volumeAtMs) {
    // After so long, the other pools' trades show the price better than this pool's old one.
    if (minuteMs - pool.volumeAtMs > VOLUME_MS) pool.scale = 0;
    pool.volumeUsd = volumeAt(pool, minuteMs);
    pool.volumeAtMs = minuteMs;
  }
  const latestMs = startOf(MINUTE_MS, pool.volumeAtMs);
  pool.volumeUsd += usd * decay(latestMs - minuteMs, VOLUME_MS);
}

/** Returns the pool's present role. */
export function roleOf(token: TokenState, pool: Pool, atMs: number): PoolRole {
  if (token.mainPool === pool.pool) return "price";
  const isShallow = token.pools.length > 1 && steadyUsd(pool, atMs) < minPriceDepth(token, atMs);
  return isShallow ? "shallow" : "other";
}

/** Returns the dollars in all of the token's pools; `null` if none is known. */
export function liquidityOf(token: TokenState): number | null {
  const [only] = token.pools;
  if (token.pools.length <= 1) return only?.usd ?? null;
  let sum = 0;
  for (const pool of token.pools) sum += pool.usd;
  return sum;
}

/** Returns the time of the token's first trade or listing; `null` before either. */
export function offeredSince({ firstMarketMs, pools }: TokenState): number | null {
  let since = firstMarketMs < 0 ? Number.POSITIVE_INFINITY : firstMarketMs;
  for (const { listedMs } of pools) if (listedMs >= 0) since = Math.min(since, listedMs);
  return Number.isFinite(since) ? since : null;
}

/**
 * Returns the time of the token's listing; `null` if unknown, as for a token that traded before the
 * first listing that was received.
 */
export function listedSince(token: TokenState): number | null {
  const since = offeredSince(token);
  return since !== null && token.pools.some(({ listedMs }) => listedMs === since) ? since : null;
}

/** Whether liquidity is missing that may come back within the grace period. */
export function awaitsLiquidity(token: TokenState, atMs: number, settings: DetectorSettings): boolean {
  return token.level.isLow && lossOf(token.level, liquidityOf(token) ?? 0, atMs, settings) === "plunged";
}

/**
 * Whether the token has enough liquidity for charts and medians, if any is known. Shallow tokens
 * cost nothing to create.
 */
export function isDeepEnough(token: TokenState, facts: FeedFacts, settings: DetectorSettings): boolean {
  const liquidity = facts.liquidity ? liquidityOf(token) : null;
  return liquidity === null || liquidity >= settings.chartLiquidityUsd;
}

/** Returns the dollars in the pool that sets the price; `null` if unknown. */
export function priceDepthOf(token: TokenState): number | null {
  const { pools, mainPool } = token;
  // Comparing names would cost more than the rest, and most tokens have one pool.
  if (pools.length === 1 && mainPool !== "") return pools[0]?.usd ?? null;
  return findPool(token, mainPool)?.usd ?? null;
}

/** Returns whether no pool is known to be deeper than the one that sets the price. */
export function isPriceOfDeepest(token: TokenState): boolean {
  const depth = priceDepthOf(token);
  return depth === null || token.pools.every(({ usd }) => usd <= depth);
}

/** Returns {@link liquidityOf} as a decimal string; `"0"` if unknown. */
export function liquidityText(token: TokenState): string {
  const [only, second] = token.pools;
  if (!only) return "0";
  return second ? formatDecimal(liquidityOf(token) ?? 0, 15) : only.usdText;
}

function volumeAt(pool: Pool, atMs: number): number {
  return pool.volumeUsd * decay(atMs - pool.volumeAtMs, VOLUME_MS);
}

/**
 * Returns the pool with the highest recent volume among those with at least `minUsd`; the deepest
 * if equal.
 */
function busiest(token: TokenState, minUsd: number, atMs: number): Pool {
  return token.pools
    .filter((pool) => steadyUsd(pool, atMs) >= minUsd)
    .reduce((best, other) => {
      const more = volumeAt(other, atMs) - volumeAt(best, atMs);
      return more > 0 || (more === 0 && other.usd > best.usd) ? other : best;
    });
}

/**
 * Drops the pool with the smallest amount of lasting liquidity: a flood of new pools must not
 * displace old ones.
 */
function dropLowest(token: TokenState): void {
  const worth = ({ usd, referenceUsd }: Pool) => Math.min(usd, referenceUsd);
  const dropped = token.pools.reduce((lowest, pool) => {
    const difference = worth(pool) - worth(lowest);
    return difference < 0 || (difference === 0 && pool.usd < lowest.usd) ? pool : lowest;
  });
  token.pools.splice(token.pools.indexOf(dropped), 1);
}
