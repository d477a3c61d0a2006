import { reuseIfEqual, reuseListIfSame } from "../../base/lib/reuse.ts";
import type { Listing, Newest } from "../../base/model/index.ts";
import { findPool } from "../detect/pools.ts";
import type { DetectorSettings } from "../settings.ts";
import { listingId } from "../state/ids.ts";
import type { TokenState } from "../state/token-state.ts";
import { toTimestamp, viewSource, viewToken } from "./flare-view.ts";

/** A listing that is still new. `token` is the token's key. */
export interface NewListing {
  readonly token: string;
  readonly pool: string;
  readonly listedMs: number;
  listing: Listing;
}

/** Maintains the recently listed tokens of BSC. */
export class NewestListings {
  readonly #settings: DetectorSettings;
  /** Newest first, ties by address. */
  #items: NewListing[];
  #served: Newest = { bsc: [] };
  #isDirty = true;

  constructor(settings: DetectorSettings, items: NewListing[] = []) {
    this.#settings = settings;
    this.#items = items;
  }

  get isDirty(): boolean {
    return this.#isDirty;
  }

  get items(): readonly NewListing[] {
    return this.#items;
  }

  /** When the oldest listing is no longer new; Infinity if there is none. */
  get deadlineMs(): number {
    return (this.#items.at(-1)?.listedMs ?? Number.POSITIVE_INFINITY) + this.#settings.newestMs;
  }

  /** Adds a listing, unless its token has one already. Drops the oldest beyond the maximum. */
  add(token: TokenState, pool: string, listedMs: number): void {
    if (this.#items.some((item) => item.token === token.key)) return;
    const id = listingId(token.group, pool.toLowerCase(), listedMs);
    const item = { token: token.key, pool, listedMs, listing: viewListing(token, id, pool, listedMs) };
    const index = this.#items.findIndex(
      (other) => other.listedMs < listedMs || (other.listedMs === listedMs && other.token > token.key),
    );
    this.#items.splice(index < 0 ? this.#items.length : index, 0, item);
    this.#items.splice(this.#settings.maxListings);
    this.#isDirty = true;
  }

  step(atMs: number): void {
    while (atMs >= this.deadlineMs) {
      this.#items.pop();
      this.#isDirty = true;
    }
  }

  /** Updates all listings. Removes tokens that were forgotten or turned out to be quote tokens. */
  refresh(find: (key: string) => TokenState | undefined): void {
    const items = this.#items.filter((item) => {
      const token = find(item.token);
      if (!token || token.profile.quote) return false;
      const listing = viewListing(token, item.listing.id, item.pool, item.listedMs);
      const reused = reuseIfEqual(item.listing, listing);
      this.#isDirty ||= reused !== item.listing;
      item.listing = reused;
      return true;
    });
    this.#isDirty ||= items.length < this.#items.length;
    this.#items = items;
  }

  /** Returns the list; the same object as before if it is unchanged. */
  serve(): Newest {
    if (!this.#isDirty) return this.#served;
    this.#isDirty = false;
    const bsc = reuseListIfSame(
      this.#served.bsc,
      this.#items.map((item) => item.listing),
    );
    if (bsc !== this.#served.bsc) this.#served = { bsc };
    return this.#served;
  }
}

function viewListing(token: TokenState, id: string, pool: string, listedMs: number): Listing {
  return {
    id,
    listed_at: toTimestamp(listedMs),
    pool,
    liquidity: findPool(token, pool)?.usdText ?? "0",
    token: viewToken(token),
    market_data: token.profile.marketData,
    social_data: token.profile.socialData,
    contract_source: viewSource(token),
  };
}
