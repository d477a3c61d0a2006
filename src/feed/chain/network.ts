import type { MarketGroup } from "../../market/index.ts";

/** A token in which others are priced. */
export interface QuoteToken {
  /** In lower case, as all addresses here. */
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /**
   * Counts as one US dollar, always. If a stablecoin loses its peg, tokens priced in it appear too
   * expensive.
   */
  readonly isStable: boolean;
}

/** A factory and the form of its pools. */
export interface Factory {
  readonly address: string;
  readonly name: string;
  /**
   * `v2`: two reserves, x·y = k. `v3`: liquidity in ranges. `algebra`: the events of `v3` with
   * another creation event.
   */
  readonly form: "v2" | "v3" | "algebra";
}

/** A chain and the contracts that are followed on it. */
export interface Network {
  readonly name: string;
  /** Group of its tokens. */
  readonly group: MarketGroup;
  readonly chainId: number;
  /** Blocks that must follow a block before it is published, because it no longer changes then. */
  readonly finalityBlocks: number;
  /**
   * Usual time between two blocks in milliseconds: the polling interval, and the blocks of an hour.
   */
  readonly blockMs: number;
  readonly factories: readonly Factory[];
  readonly quotes: readonly QuoteToken[];
  /** Public endpoints, used if none are configured. */
  readonly rpcUrls: readonly string[];
}
