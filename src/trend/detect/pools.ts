import { MINUTE_MS } from "../../lib/time/time.ts";
import type { DetectorSettings } from "../settings.ts";
import { formatDecimal } from "../state/decimal.ts";
import type { Pool, TokenState } from "../state/token-state.ts";
import { noteLiquidity } from "./liquidity-level.ts";
import { decay } from "./statistics.ts";

const MAX_POOLS = 16;
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
export interface LiquidityReport {
  readonly atMs: number;
  readonly usd: number;
  /** The same as the feed wrote it. */
  readonly usdText: string;
  /** `listing`: the pool is new. The others as in the market event. */
  readonly cause: "listing" | "sync" | "add" | "remove";
}

/**
 * Stores what a pool holds and compares the token's total with its recent level. A report older than
 * the one before it changes nothing. Of more than 16 pools the shallowest is dropped.
 */
export function notePool(
  token: TokenState,
  name: string,
  report: LiquidityReport,
  settings: DetectorSettings,
): Pool {
  const { atMs, usd, usdText, cause } = report;
  const beforeUsd = liquidityOf(token) ?? 0;
  const known = findPool(token, name);
  if (known && atMs < known.usdAtMs) return known;
  const pool = known ?? createPool(token, name, atMs);
  pool.usd = usd;
  pool.usdText = usdText;
  pool.usdAtMs = atMs;
  const change = cause !== "sync" ? "made" : known ? "traded" : "found";
  noteLiquidity(token.level, atMs, beforeUsd, liquidityOf(token) ?? 0, change, settings);
  if (!known && token.pools.length > MAX_POOLS) dropShallowest(token, atMs, settings);
  const deepestUsd = deepestOf(token).usd;
  const main = findPool(token, token.mainPool);
  if (!main || token.price === 0 || main.usd < PRICE_POOL_SHARE * deepestUsd) {
    token.mainPool = busiest(token, PRICE_POOL_SHARE * deepestUsd, atMs).pool;
  }
  return pool;
}

function createPool(token: TokenState, name: string, atMs: number): Pool {
  const pool = {
    pool: name,
    usd: 0,
    usdText: "0",
    usdAtMs: atMs,
    listedMs: -1,
    volumeUsd: 0,
    volumeAtMs: atMs,
  };
  token.pools.push(pool);
  return pool;
}

/**
 * Adds a trade to its pool's recent volume and says whether the pool sets the token's price. That is the
 * pool that trades: another one of sufficient depth takes over once it has traded twice as much recently,
 * and, while the present pool trades, only near its price and at most once an hour: volume is cheap to fake, a price that
 * nobody brings into line is no price, and steps to and fro could add up to a rise that nobody traded.
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
    pool.volumeUsd = volumeAt(pool, minuteMs);
    pool.volumeAtMs = minuteMs;
  }
  pool.volumeUsd += usd;
  if (token.mainPool === pool.pool) return true;
  const main = findPool(token, token.mainPool);
  const isDeep = pool.usd >= PRICE_POOL_SHARE * deepestOf(token).usd;
  if (!isDeep || (main && pool.volumeUsd <= TAKE_OVER * volumeAt(main, atMs))) return false;
  const isTraded = main !== undefined && main.volumeUsd > 0 && atMs - main.volumeAtMs < VOLUME_MS;
  if (isTraded) {
    if (token.tookOverMs >= 0 && atMs - token.tookOverMs < MIN_STAY_MS) return false;
    if (token.price > 0 && Math.abs(Math.log(price / token.price)) > MAX_STEP) return false;
  }
  token.mainPool = pool.pool;
  token.tookOverMs = atMs;
  return true;
}

/** Dollars in all of the token's pools; `null` where none is known. */
export function liquidityOf(token: TokenState): number | null {
  if (token.pools.length === 0) return null;
  let sum = 0;
  for (const pool of token.pools) sum += pool.usd;
  return sum;
}

/** Dollars in the pool that sets the price: what a move of it has to push against; `null` where that is not known. */
export function priceDepthOf(token: TokenState): number | null {
  return findPool(token, token.mainPool)?.usd ?? null;
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

function deepestOf(token: TokenState): Pool {
  return token.pools.reduce((deepest, other) => (other.usd > deepest.usd ? other : deepest));
}

/** The pool with the most recent volume among those that hold at least `minUsd`; of equals the deepest. */
function busiest(token: TokenState, minUsd: number, atMs: number): Pool {
  return token.pools
    .filter(({ usd }) => usd >= minUsd)
    .reduce((best, other) => {
      const more = volumeAt(other, atMs) - volumeAt(best, atMs);
      return more > 0 || (more === 0 && other.usd > best.usd) ? other : best;
    });
}

/** Stops counting the shallowest pool. Its liquidity was not removed, so the reference shrinks with it. */
function dropShallowest(token: TokenState, atMs: number, settings: DetectorSettings): void {
  const beforeUsd = liquidityOf(token) ?? 0;
  const shallowest = token.pools.reduce((best, pool) => (pool.usd < best.usd ? pool : best));
  token.pools.splice(token.pools.indexOf(shallowest), 1);
  noteLiquidity(token.level, atMs, beforeUsd, liquidityOf(token) ?? 0, "found", settings);
}
