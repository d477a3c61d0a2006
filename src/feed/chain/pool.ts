import type { QuoteToken } from "./network.ts";
import type { TokenFacts } from "./token.ts";

/** A pool between a quote token and another one, or between two quote tokens: an anchor of prices. */
export interface Pool {
  readonly address: string;
  readonly form: "v2" | "v3";
  readonly sides: readonly [PoolSide, PoolSide];
  /** In the token's smallest unit what lies in it for traders, by side. Of the V3 forms what makers are owed is no part of it. */
  balances: [bigint, bigint];
  /** Of the V3 forms what makers took out of the range but did not collect yet. */
  owed: [bigint, bigint];
  /** Whether {@link balances} are true: a pool of a V3 form whose state could not be asked never tells them. */
  isCounted: boolean;
  /** It never had real liquidity yet, as far as is known. */
  isFresh: boolean;
  /** Of the V3 forms: √(token1 / token0) × 2⁹⁶; 0 before it is known. */
  sqrtPriceX96: bigint;
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
