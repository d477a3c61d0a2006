import type { QuoteToken } from "../network.ts";
import type { PriceRange } from "./decode.ts";
import type { TokenFacts } from "./token.ts";

/** A pool between a quote token and another one, or between two quote tokens: an anchor of prices. */
export interface Pool {
  readonly address: string;
  readonly form: "v2" | "v3";
  readonly sides: readonly [PoolSide, PoolSide];
  /** In the token's smallest unit what it has, by side. Of the V3 forms only that of quote tokens is kept up to date. */
  balances: [bigint, bigint];
  /** Of the V3 forms the part of it that makers took out of their range but did not collect yet. */
  owed: [bigint, bigint];
  /** Whether {@link balances} are true: a pool of a V3 form whose state could not be asked never tells them. */
  isCounted: boolean;
  /** Number of the block of whose end {@link balances} were asked: what moved up to there is in them. */
  readonly countedAtBlock: number;
  /** It never had real liquidity yet, as far as is known. */
  isFresh: boolean;
  /** Of the V3 forms: price and liquidity in range; `undefined` while they are not known. */
  range: PriceRange | undefined;
  /**
   * Number of the block at whose end {@link range} was asked: positions up to there are in it.
   * −1 once the pool's own logs state it.
   */
  rangeAtBlock: number;
}

/** One of a pool's two tokens. */
export type PoolSide =
  | { readonly kind: "quote"; readonly quote: QuoteToken }
  | { readonly kind: "token"; readonly token: TrackedToken };

/** A token, and when it was last introduced to the reader. */
export interface TrackedToken extends TokenFacts {
  toldAtMs: number;
}

/** The sides of a market between a token and a quote token: which is which; `undefined` for an anchor. */
export interface MarketSides {
  readonly token: TrackedToken;
  readonly quote: QuoteToken;
  readonly tokenIndex: 0 | 1;
  readonly quoteIndex: 0 | 1;
}

/** What lies in a pool for traders on a side, in the token's smallest unit. */
export function tradable({ balances, owed }: Pool, side: 0 | 1): bigint {
  return balances[side] > owed[side] ? balances[side] - owed[side] : 0n;
}

/**
 * A pool's depth near its price on a side, in the token's smallest unit; `undefined` while the
 * liquidity in range is not known. Of the V3 forms it is the smaller of what the pool holds and the
 * virtual reserve of the liquidity in range: a position that the price does not reach adds no depth,
 * and a narrow range is no deeper than the balance. Where a narrow range and a position out of reach
 * meet in one pool, the latter counts up to the virtual reserve of the former.
 */
export function depthOf(pool: Pool, side: 0 | 1): bigint | undefined {
  const held = tradable(pool, side);
  if (pool.form === "v2") return held;
  if (!pool.range) return undefined;
  const { sqrtPriceX96, liquidity } = pool.range;
  if (sqrtPriceX96 === 0n) return 0n;
  // Virtual reserves of the range: L / √P of token 0, L · √P of token 1 (Uniswap v3 whitepaper, 6.1).
  const near = side === 0 ? (liquidity << 96n) / sqrtPriceX96 : (liquidity * sqrtPriceX96) >> 96n;
  return near < held ? near : held;
}

/** See {@link MarketSides}. */
export function marketSides({ sides: [first, second] }: Pool): MarketSides | undefined {
  if (first.kind === "quote")
    return second.kind === "token"
      ? { token: second.token, quote: first.quote, tokenIndex: 1, quoteIndex: 0 }
      : undefined;
  return second.kind === "quote"
    ? { token: first.token, quote: second.quote, tokenIndex: 0, quoteIndex: 1 }
    : undefined;
}
