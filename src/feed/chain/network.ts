import type { MarketGroup } from "../../market/index.ts";

/**
 * The contract that runs many calls as one, at the same address on every chain:
 * https://github.com/mds1/multicall3#multicall3-contract-addresses
 */
export const MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11";

/** A token in which other tokens are priced. */
export interface QuoteToken {
  /** Lower case, like all addresses here. */
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /**
   * Always counts as one US dollar. If it loses its peg, tokens priced in it appear too expensive.
   */
  readonly isStable: boolean;
}

/** Kinds of pools, by their logs and their state. `v2`: two reserves, x·y = k. `v3`: ranges. */
export type PoolFormName = "v2" | "v3";

/** Kinds of factories. `algebra`: pools like `v3`, with another creation event. */
export type FactoryForm = PoolFormName | "algebra";

/** A factory contract and the kind of its pools. */
export interface Factory {
  readonly address: string;
  readonly name: string;
  readonly form: FactoryForm;
}

/** A chain and the contracts that are followed on it. */
export interface Network {
  readonly name: string;
  /** Group of its tokens. */
  readonly group: MarketGroup;
  readonly chainId: number;
  /**
   * Number of blocks that must follow a block before it counts as final, for endpoints that do not
   * report which blocks are final.
   */
  readonly finalityBlocks: number;
  readonly factories: readonly Factory[];
  readonly quotes: readonly QuoteToken[];
  /** Public endpoints, used if none are configured. */
  readonly rpcUrls: readonly string[];
}
