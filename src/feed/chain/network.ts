import type { MarketGroup } from "../../market/index.ts";

/** A token that others are priced in. */
export interface QuoteToken {
  /** In lower case, as all addresses here. */
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Taken to be worth one US dollar, always: a stablecoin that loses its peg makes what is priced in it too dear. */
  readonly isStable: boolean;
}

/** Who makes pools, and of which form. */
export interface Factory {
  readonly address: string;
  readonly name: string;
  /** `v2`: two reserves, x·y = k. `v3`: liquidity in ranges. `algebra`: the same events as `v3`, but another one of creation. */
  readonly form: "v2" | "v3" | "algebra";
}

/** A chain, and what is looked at on it. */
export interface Network {
  readonly name: string;
  /** The group to which its tokens belong. */
  readonly group: MarketGroup;
  readonly chainId: number;
  /** Blocks that must lie above one before it is told: what lies that deep does not change any more. */
  readonly finalityBlocks: number;
  /** Usual time between two blocks, in milliseconds: how often to look, and how far back an hour is. */
  readonly blockMs: number;
  readonly factories: readonly Factory[];
  readonly quotes: readonly QuoteToken[];
  /** Public endpoints, for who names none of their own. */
  readonly rpcUrls: readonly string[];
}
