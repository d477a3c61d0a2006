import { MINUTE_MS } from "../../lib/time/time.ts";
import type { FeedFacts } from "../../market/index.ts";
import type { DetectorSettings } from "../settings.ts";
import { formatDecimal } from "../state/decimal.ts";
import type { Pool, TokenState } from "../state/token-state.ts";
import { noteLevel, passTime, referenceAfterTrade, shareLeft } from "./liquidity-level.ts";
import { decay } from "./statistics.ts";

const MAX_POOLS = 16;
/** What a pool holds counts once it has stood for one to two of these: what stands there for a block only is not there. */
const STEADY_MS = 20_000;
/** A pool may set the price only while it holds this share of the deepest one. */
const PRICE_POOL_SHARE = 0.1;
/** Time constant of a pool's recent volume. */
const VOLUME_MS = 600_000;
/** A pool takes over the price when its recent volume is this many times that of the present one. */
const TAKE_OVER = 2;
/** A pool that took over keeps the price for this long while it trades: a pool that is left is not watched, and may fall unseen. */
const MIN_STAY_MS = 3_600_000;
/** The furthest, as log of the ratio, that its price may stand from the present one while that one is traded. */
const MAX_STEP = 0.25;
/** A pool this many times as deep as the present one is held by neither: volume is cheap to fake, depth that stands is not. */
const MUCH_DEEPER = 4;

/** The token's pool of that name, if it is known. */
export function findPool(token: TokenState, name: string): Pool | undefined {
  for (const pool of token.pools) if (pool.pool === name) return pool;
  return undefined;
}

/** Whether a pool of unknown depth may trade the token: any may while no pool's depth is known, then only the first. */
export function mayTradeInUnknown(token: TokenState, name: string): boolean {
  return token.mainPool === "" || token.firstPool === name;
}

/** What a report of a pool's liquidity says, beside its dollars. */
interface LiquidityReport {
  readonly atMs: number;
  readonly usd: number;
  /** The same as the feed wrote it. */
  readonly usdText: string;
  /** `listing`: the pool is new. The others as in the market event. */
  readonly cause: "listing" | "sync" | "add" | "remove";
}

/**
 * Stores what a pool holds and compares the token's total with its recent level. A report older than
 * the one before it changes nothing. A token's first pool is believed at once; of a later one only that
 * it was there before, where trades are heard of first. Of more than 16 pools the one of least worth is dropped.
 */
export function notePool(
  token: TokenState,
  name: string,
  report: LiquidityReport,
  settings: DetectorSettings,
): Pool {
  const { atMs, usd, usdText, cause } = report;
  const known = findPool(token, name);
  if (known && atMs < known.usdAtMs) return known;
  bringUp(token, atMs, settings);
  const isFirst = token.pools.length === 0;
  const pool = known ?? createPool(token, name, atMs);
  if (isFirst) pool.leastUsd = pool.leastBeforeUsd = usd;
  if (isFirst || (!known && cause === "sync")) pool.referenceUsd = usd;
  else if (cause === "sync") pool.referenceUsd = referenceAfterTrade(pool.referenceUsd, pool.usd, usd);
  noteLeast(pool, usd, atMs);
  pool.usd = usd;
  pool.usdText = usdText;
  pool.usdAtMs = atMs;
  if (token.pools.length > MAX_POOLS) dropLeast(token);
  let sumUsd = 0;
  let referenceUsd = 0;
  for (const other of token.pools) {
    sumUsd += other.usd;
    referenceUsd += other.referenceUsd;
  }
  noteLevel(token.level, sumUsd, referenceUsd, atMs, settings);
  const main = token.mainPool === name ? pool : findPool(token, token.mainPool);
  const least = leastPriceDepth(token, atMs);
  if (!main || token.price === 0 || main.usd < least) token.mainPool = busiest(token, least, atMs).pool;
  return pool;
}

/** Brings the level, and each pool's reference, up to `atMs` by what the pools held until then. */
function bringUp(token: TokenState, atMs: number, settings: DetectorSettings): void {
  const { level, pools } = token;
  if (atMs <= level.atMs) return;
  const left = shareLeft(level, atMs, settings.removalMs);
  let usd = 0;
  let steady = 0;
  for (const pool of pools) {
    const stood = steadyUsd(pool, atMs);
    pool.referenceUsd = stood + (pool.referenceUsd - stood) * left;
    usd += pool.usd;
    steady += stood;
  }
  passTime(level, usd, steady, atMs, settings);
}

/** The least that the pool held for the last 20 to 40 seconds. */
export function steadyUsd(pool: Pool, atMs: number): number {
  const passed = Math.floor(atMs / STEADY_MS) - pool.span;
  if (passed >= 2) return pool.usd;
  return passed === 1 ? pool.leastUsd : Math.min(pool.leastUsd, pool.leastBeforeUsd);
}

/** Takes what the pool holds from now on into its running span. */
function noteLeast(pool: Pool, usd: number, atMs: number): void {
  const passed = Math.floor(atMs / STEADY_MS) - pool.span;
  if (passed > 0) {
    pool.leastBeforeUsd = passed === 1 ? pool.leastUsd : pool.usd;
    pool.leastUsd = pool.usd;
    pool.span += passed;
  }
  pool.leastUsd = Math.min(pool.leastUsd, usd);
}

/** What a pool must hold to set the price. */
function leastPriceDepth(token: TokenState, atMs: number): number {
  let most = 0;
  for (const pool of token.pools) most = Math.max(most, steadyUsd(pool, atMs));
  return PRICE_POOL_SHARE * most;
}

function createPool(token: TokenState, name: string, atMs: number): Pool {
  const pool = {
    pool: name,
    usd: 0,
    usdText: "0",
    usdAtMs: atMs,
    span: Math.floor(atMs / STEADY_MS),
    leastUsd: 0,
    leastBeforeUsd: 0,
    referenceUsd: 0,
    listedMs: -1,
    volumeUsd: 0,
    volumeAtMs: atMs,
    scale: 0,
  };
  token.pools.push(pool);
  return pool;
}

/**
 * Adds a trade to its pool's recent volume and says whether the pool sets the token's price. That is the
 * pool that trades: another one of sufficient depth takes over once it has traded twice as much recently,
 * and, while the present pool trades, only near its price and at most once an hour, unless it is much deeper:
 * volume is cheap to fake, a price that nobody brings into line is no price, and steps to and fro could add
 * up to a rise that nobody traded.
 */
export function noteTradeIn(
  token: TokenState,
  pool: Pool,
  usd: number,
  price: number,
  atMs: number,
): boolean {
  const minuteMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  if (minuteMs > pool.volumeAtMs) {
    // What others paid meanwhile says more of the price than what this pool said so long ago.
    if (minuteMs - pool.volumeAtMs > VOLUME_MS) pool.scale = 0;
    pool.volumeUsd = volumeAt(pool, minuteMs);
    pool.volumeAtMs = minuteMs;
  }
  pool.volumeUsd += usd;
  if (token.mainPool === pool.pool) return true;
  const main = findPool(token, token.mainPool);
  if (steadyUsd(pool, atMs) < leastPriceDepth(token, atMs)) return false;
  if (main && pool.volumeUsd <= TAKE_OVER * volumeAt(main, minuteMs)) return false;
  const isTraded = main !== undefined && main.volumeUsd > 0 && atMs - main.volumeAtMs < VOLUME_MS;
  if (isTraded && steadyUsd(pool, atMs) < MUCH_DEEPER * main.usd) {
    if (token.tookOverMs >= 0 && atMs - token.tookOverMs < MIN_STAY_MS) return false;
    if (token.price > 0 && Math.abs(Math.log(price / token.price)) > MAX_STEP) return false;
  }
  token.mainPool = pool.pool;
  token.tookOverMs = atMs;
  pool.scale = 0;
  return true;
}

/** Dollars in all of the token's pools; `null` where none is known. */
export function liquidityOf(token: TokenState): number | null {
  if (token.pools.length === 0) return null;
  let sum = 0;
  for (const pool of token.pools) sum += pool.usd;
  return sum;
}

/**
 * Returns whether the pools hold enough for the token to count in its group's charts and medians:
 * a token with less costs next to nothing to make. True where the feed knows no liquidity.
 */
export function isDeepEnough(token: TokenState, facts: FeedFacts, settings: DetectorSettings): boolean {
  const liquidity = facts.liquidity ? liquidityOf(token) : null;
  return liquidity === null || liquidity >= settings.chartLiquidityUsd;
}

/** Dollars in the pool that sets the price: what a move of it has to push against; `null` where that is not known. */
export function priceDepthOf(token: TokenState): number | null {
  return findPool(token, token.mainPool)?.usd ?? null;
}

/** Whether no other pool holds more than the one that sets the price. */
export function isPriceOfDeepest(token: TokenState): boolean {
  const depth = priceDepthOf(token);
  return depth === null || token.pools.every(({ usd }) => usd <= depth);
}

/** {@link liquidityOf} as a decimal string: the feed's own where there is one pool; `"0"` where none is known. */
export function liquidityText(token: TokenState): string {
  const [only, second] = token.pools;
  if (!only) return "0";
  return second ? formatDecimal(liquidityOf(token) ?? 0, 15) : only.usdText;
}

function volumeAt(pool: Pool, atMs: number): number {
  return pool.volumeUsd * decay(atMs - pool.volumeAtMs, VOLUME_MS);
}

/** The pool with the most recent volume among those that hold at least `minUsd`; of equals the deepest. */
function busiest(token: TokenState, minUsd: number, atMs: number): Pool {
  return token.pools
    .filter((pool) => steadyUsd(pool, atMs) >= minUsd)
    .reduce((best, other) => {
      const more = volumeAt(other, atMs) - volumeAt(best, atMs);
      return more > 0 || (more === 0 && other.usd > best.usd) ? other : best;
    });
}

/** Stops counting the pool that is worth least as far as it stood: a flood of new ones drives out none that stands. */
function dropLeast(token: TokenState): void {
  const worth = ({ usd, referenceUsd }: Pool) => Math.min(usd, referenceUsd);
  const least = token.pools.reduce((best, pool) => {
    const more = worth(pool) - worth(best);
    return more < 0 || (more === 0 && pool.usd < best.usd) ? pool : best;
  });
  token.pools.splice(token.pools.indexOf(least), 1);
}
