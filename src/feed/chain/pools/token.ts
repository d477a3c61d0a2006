import type { PriceRange } from "./decode.ts";

/** What a token's contract reports about itself. Its texts are untrusted. */
export interface TokenFacts {
  readonly address: string;
  /** From 0 to 77. */
  readonly decimals: number;
  /** `undefined` if the contract reports none. */
  readonly symbol: string | undefined;
  readonly name: string | undefined;
}

/** Facts about a pool that existed before it was first seen. */
export interface PoolFacts {
  readonly address: string;
  readonly form: "v2" | "v3";
  readonly token0: string;
  readonly token1: string;
  /** Balances at the end of block `countedAtBlock`; `undefined` if they could not be read. */
  readonly balances: readonly [bigint, bigint] | undefined;
  readonly countedAtBlock: number;
  /** V3 forms: price and liquidity in range; `undefined` if unknown or without a price. */
  readonly range: PriceRange | undefined;
}
