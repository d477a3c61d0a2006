import type { MarketGroup } from "../../base/market/index.ts";
import type { QuoteToken } from "../quote-tokens.ts";

/**
 * The contract that runs many calls as one, at the same address on every chain:
 * https://github.com/mds1/multicall3#multicall3-contract-addresses
 */
export const MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11";

/**
 * Kinds of pools, by their logs and their state. `v2`: two reserves, x·y = k. `v3`: ranges.
 * `positions`: ranges, in a contract that has all pools. `bins`: amounts at steps of the price.
 * `infinity-bin`: bins, in a contract that has all pools. `curve`: a launchpad's bonding curves.
 */
export type PoolFormName = "v2" | "v3" | "positions" | "bins" | "infinity-bin" | "curve";

/**
 * Kinds of factories. `v2`, `v3` and `infinity-bin` create the pools of that name. `solidly` and
 * `velodrome`: pools like `v2`, and stable pairs, which are ignored. `v3-spacing`: pools like `v3`,
 * listed by tick spacing instead of fee. `algebra`: pools like `v3`, with another creation event.
 * `uniswap-v4` and `infinity-cl`: managers of `positions`. `liquidity-book`: pairs with `bins`.
 * `four-meme`, `flap` and `arena`: launchpads.
 */
export type FactoryForm =
  | "v2"
  | "v3"
  | "v3-spacing"
  | "solidly"
  | "velodrome"
  | "algebra"
  | "uniswap-v4"
  | "infinity-cl"
  | "liquidity-book"
  | "infinity-bin"
  | "four-meme"
  | "flap"
  | "arena";

/** The address that represents the chain's own coin. */
export const NATIVE_COIN = "0x0000000000000000000000000000000000000000";

/** A factory contract and the kind of its pools. */
export interface Factory {
  readonly address: string;
  readonly name: string;
  readonly form: FactoryForm;
  /** `algebra`: the deployers whose custom pools are looked up if they existed before the start. */
  readonly deployers?: readonly string[];
  /** `uniswap-v4`: the contract that knows the tokens of pools that existed before the start. */
  readonly positionManager?: string;
}

/** A chain and the contracts that are followed on it. */
export interface Network {
  readonly name: string;
  readonly group: MarketGroup;
  readonly chainId: number;
  /**
   * Number of blocks that must follow a block before it counts as final, for endpoints that do not
   * report which blocks are final.
   */
  readonly finalityBlocks: number;
  /** Whether that number always decides, because the chain's own finality is minutes late. */
  readonly isFinalByDepth?: boolean;
  readonly factories: readonly Factory[];
  readonly quotes: readonly QuoteToken[];
  /** Public endpoints, used if none are configured. */
  readonly rpcUrls: readonly string[];
}

/** When a block of the chain counts as final. */
export type Finality = Pick<Network, "finalityBlocks" | "isFinalByDepth">;

/**
 * Returns the network's quote tokens by address. The chain's own coin maps to the token that wraps
 * it.
 */
export function quotesByAddress({ quotes }: Pick<Network, "quotes">): ReadonlyMap<string, QuoteToken> {
  return new Map(
    quotes.flatMap((quote) => [
      [quote.address, quote] as const,
      ...(quote.isWrappedCoin ? [[NATIVE_COIN, quote] as const] : []),
    ]),
  );
}
