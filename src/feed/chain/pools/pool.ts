import type { QuoteToken } from "../network.ts";
import type { PriceRange } from "./decode.ts";
import type { TokenFacts } from "./token.ts";

/**
 * A pool between a quote token and another token, or between two quote tokens: an anchor of prices.
 */
export interface Pool {
  readonly address: string;
  readonly form: "v2" | "v3";
  readonly sides: readonly [PoolSide, PoolSide];
  /**
   * Balances in the smallest units, by side. For V3 forms only those of quote tokens are current.
   */
  balances: [bigint, bigint];
  /**
   * V3 forms: the part of the balances that makers removed from their ranges but did not collect.
   */
  owed: [bigint, bigint];
  /** Whether {@link balances} are known: a V3 pool never reports them. */
  isCounted: boolean;
  /** The block after which {@link balances} were read: they include everything up to it. */
  readonly countedAtBlock: number;
  /** As far as known, it never had real liquidity yet. */
  isFresh: boolean;
  /** V3 forms: price and liquidity in range; `undefined` while unknown. */
  range: PriceRange | undefined;
  /**
   * The block after which {@link range} was read: it includes the positions up to there. −1 once
   * the pool's own logs report it.
   */
  rangeAtBlock: number;
}

export type PoolSide =
  | { readonly kind: "quote"; readonly quote: QuoteToken }
  | { readonly kind: "token"; readonly token: TrackedToken };

/** A token, and when it was last introduced to the reader. */
export interface TrackedToken extends TokenFacts {
  introducedAtMs: number;
}

/** The sides of a market between a token and a quote token. */
export interface MarketSides {
  readonly token: TrackedToken;
  readonly quote: QuoteToken;
  readonly tokenIndex: 0 | 1;
  readonly quoteIndex: 0 | 1;
}

/** Returns a pool's balance available to traders on a side, in the token's smallest unit. */
export function tradable({ balances, owed }: Pool, side: 0 | 1): bigint {
  return balances[side] > owed[side] ? balances[side] - owed[side] : 0n;
}

/**
 * Returns a pool's depth near its price on a side, in the token's smallest unit; `undefined` while
 * the liquidity in range is unknown.
 *
 * For V3 forms it is the smaller of the balance and the virtual reserve of the liquidity in range:
 * a position out of range adds no depth, and a narrow range is no deeper than the balance. If one
 * pool has a narrow range and a position out of range, the latter counts up to the virtual reserve
 * of the former.
 */
export function depthOf(pool: Pool, side: 0 | 1): bigint | undefined {
  const balance = tradable(pool, side);
  if (pool.form === "v2") return balance;
  if (!pool.range) return undefined;
  const { sqrtPriceX96, liquidity } = pool.range;
  if (sqrtPriceX96 === 0n) return 0n;
  // Virtual reserves of the range: L / √P of token 0, L · √P of token 1 (Uniswap v3 whitepaper,
  // 6.1).
  const near = side === 0 ? (liquidity << 96n) / sqrtPriceX96 : (liquidity * sqrtPriceX96) >> 96n;
  return near < balance ? near : balance;
}

/** Returns which side is which; `undefined` for an anchor. */
export function marketSides({ sides: [first, second] }: Pool): MarketSides | undefined {
  if (first.kind === "quote")
    return second.kind === "token"
      ? { token: second.token, quote: first.quote, tokenIndex: 1, quoteIndex: 0 }
      : undefined;
  return second.kind === "quote"
    ? { token: first.token, quote: second.quote, tokenIndex: 0, quoteIndex: 1 }
    : undefined;
}
