import { formatDecimal } from "./decimal.ts";
import type { Pool, TokenState } from "./token-state.ts";

const MOST_POOLS = 16;

/** The token's pool of that name, if it is known. */
export function findPool(token: TokenState, name: string): Pool | undefined {
  for (const pool of token.pools) if (pool.pool === name) return pool;
  return undefined;
}

/** Whether a trade in the pool may speak for the token: any may while no pool's depth is known, then only a known one. */
export function mayTradeIn(token: TokenState, name: string): boolean {
  return token.mainPool === "" || token.mainPool === name || findPool(token, name) !== undefined;
}

/** Notes what lies in a pool. Of more than 16 pools the shallowest is forgotten. */
export function notePool(token: TokenState, name: string, usd: number, usdText: string): Pool {
  let pool = findPool(token, name);
  if (pool) {
    pool.usd = usd;
    pool.usdText = usdText;
  } else {
    pool = { pool: name, usd, usdText, listedMs: -1 };
    token.pools.push(pool);
    if (token.pools.length > MOST_POOLS) token.pools.splice(shallowest(token.pools), 1);
  }
  token.mainPool = token.pools.reduce((deepest, other) => (other.usd > deepest.usd ? other : deepest)).pool;
  return pool;
}

/** Dollars in all of the token's pools; `null` where none is known. */
export function liquidityOf(token: TokenState): number | null {
  if (token.pools.length === 0) return null;
  let sum = 0;
  for (const pool of token.pools) sum += pool.usd;
  return sum;
}

/** The same as a decimal string: the feed's own where there is one pool; `"0"` where none is known. */
export function liquidityText(token: TokenState): string {
  const [only, second] = token.pools;
  if (!only) return "0";
  return second ? formatDecimal(liquidityOf(token) ?? 0, 15) : only.usdText;
}

function shallowest(pools: readonly Pool[]): number {
  return pools.reduce((best, pool, index) => (pool.usd < (pools[best]?.usd ?? 0) ? index : best), 0);
}
