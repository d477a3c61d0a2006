import type { QuoteToken } from "./network.ts";
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
  /** Of the V3 forms: √(token1 / token0) × 2⁹⁶; 0 before it is known. */
  sqrtPriceX96: bigint;
  /** Of the V3 forms: the liquidity in range, where that price was told; 0 before it is known. */
  rangeLiquidity: bigint;
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
