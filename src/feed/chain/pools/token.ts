import type { PriceRange } from "./decode.ts";

/** What a token's contract says of itself. Its words are a stranger's. */
export interface TokenFacts {
  readonly address: string;
  /** Figures behind the point, from 0 to 77. */
  readonly decimals: number;
  /** `undefined`: the contract says none. */
  readonly symbol: string | undefined;
  readonly name: string | undefined;
}

/** What is known of a pool that was there before it was first seen. */
export interface PoolFacts {
  readonly address: string;
  readonly form: "v2" | "v3";
  readonly token0: string;
  readonly token1: string;
  /** What it had at the end of block `countedAtBlock`; `undefined`: it could not be asked. */
  readonly balances: readonly [bigint, bigint] | undefined;
  readonly countedAtBlock: number;
  /** Of the V3 forms: price and liquidity in range; `undefined`: not known, or no price yet. */
  readonly range: PriceRange | undefined;
}
