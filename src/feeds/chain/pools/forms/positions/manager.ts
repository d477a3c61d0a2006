import type { Factory } from "../../../network.ts";
import type { Inquiry, PoolIdentity } from "../pool-form.ts";
import type { PriceRange } from "../pool-log.ts";

/** Reads a singleton's pools from its manager. */
export interface PoolManager {
  /** Returns a pool's tokens and tick spacing; `undefined` if the chain does not know them. */
  readKey(
    pool: string,
    manager: Factory,
  ): Inquiry<Pick<PoolIdentity, "token0" | "token1" | "step"> | undefined>;
  source(pool: string, manager: Factory): PositionSource;
}

/** A pool's price and positions. A word is `undefined` if it could not be read. */
export interface PositionSource {
  range(): Inquiry<PriceRange | undefined>;
  /** Words of the bitmap of the ticks that have liquidity. */
  bitmaps(words: readonly number[]): Inquiry<readonly (bigint | undefined)[]>;
  /** Liquidity that begins at each tick, minus the liquidity that ends there. */
  nets(ticks: readonly number[]): Inquiry<readonly (bigint | undefined)[]>;
}
