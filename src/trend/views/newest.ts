import type { Listing, Newest } from "../../model/index.ts";
import { findPool } from "../detect/pools.ts";
import type { DetectorSettings } from "../settings.ts";
import { listingId } from "../state/ids.ts";
import type { TokenState } from "../state/token-state.ts";
import { toTimestamp, viewSource, viewToken } from "./flare-view.ts";
import { reuseIfEqual, reuseListIfEqual } from "./reuse.ts";

/** A listing that is still new. `token` is its key. */
export interface NewListing {
  readonly token: string;
  readonly pool: string;
  readonly listedMs: number;
  listing: Listing;
}

/** The tokens of BSC that were listed lately. */
export class NewestBook {
  readonly #settings: DetectorSettings;
  /** Newest first, ties by address. */
  readonly #items: NewListing[];
  #served: Newest = { bsc: [] };
  #isDirty = true;

  /** `items`: those of a checkpoint. */
  constructor(settings: DetectorSettings, items: NewListing[] = []) {
    this.#settings = settings;
    this.#items = items;
  }

  /** Something changed since {@link serve}. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** The listings that are still new, newest first. */
  get items(): readonly NewListing[] {
    return this.#items;
  }

  /** When the next listing is no longer new; Infinity without one. */
  get deadlineMs(): number {
    return (this.#items.at(-1)?.listedMs ?? Number.POSITIVE_INFINITY) + this.#settings.newestMs;
  }

  /** Takes in a listing, unless its token is there already. */
  add(token: TokenState, pool: string, listedMs: number): void {
    if (this.#items.some((item) => item.token === token.key)) return;
    const id = listingId(token.group, pool.toLowerCase(), listedMs);
    const item = { token: token.key, pool, listedMs, listing: viewListing(token, id, pool, listedMs) };
    const place = this.#items.findIndex(
      (other) => other.listedMs < listedMs || (other.listedMs === listedMs && other.token > token.key),
    );
    this.#items.splice(place < 0 ? this.#items.length : place, 0, item);
    this.#items.splice(this.#settings.newestMost);
    this.#isDirty = true;
  }

  /** Lets go of what is no longer new, and of what `find` no longer knows or says may not be listed. */
  step(atMs: number): void {
    while (atMs >= this.deadlineMs) {
      this.#items.pop();
      this.#isDirty = true;
    }
  }

  /** Brings prices, liquidity and facts up to date. `find` yields a token by its key; one that is gone, or turned out to be a quote token, leaves. */
  refresh(find: (key: string) => TokenState | undefined): void {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index];
      const token = item && find(item.token);
      if (!item) continue;
      if (!token || token.profile.quote) {
        this.#items.splice(index, 1);
        this.#isDirty = true;
        continue;
      }
      const listing = reuseIfEqual(
        item.listing,
        viewListing(token, item.listing.id, item.pool, item.listedMs),
      );
      this.#isDirty ||= listing !== item.listing;
      item.listing = listing;
    }
  }

  /** The list; what did not change is the same object as before. */
  serve(): Newest {
    if (!this.#isDirty) return this.#served;
    this.#isDirty = false;
    const bsc = reuseListIfEqual(
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
