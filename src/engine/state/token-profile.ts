import { safeLink } from "../../base/lib/text/safe-text.ts";
import type { MarketGroup, Profile } from "../../base/market/index.ts";
import type { ForumPost, MarketData, SocialData } from "../../base/model/index.ts";

/** Facts about a token; `null`: unknown or none. Every change replaces the whole object. */
export interface TokenProfile {
  readonly symbol: string | null;
  readonly name: string | null;
  readonly createdAtMs: number | null;
  /**
   * BSC only: time of the first trade or listing of a token that was once forgotten, else `null`.
   */
  readonly knownSinceMs: number | null;
  /** A quote token, stablecoin or wrapped native token. */
  readonly quote: boolean;
  readonly marketData: MarketData | null;
  readonly socialData: SocialData | null;
  readonly contractSource: "verified" | "unverified" | null;
  readonly forumPost: ForumPost | null;
  /** The market on an exchange, such as `BTC/USDT` on `binance`; absent if the feed names none. */
  readonly market?: Profile["market"];
}

export const NO_PROFILE: TokenProfile = {
  symbol: null,
  name: null,
  createdAtMs: null,
  knownSinceMs: null,
  quote: false,
  marketData: null,
  socialData: null,
  contractSource: null,
  forumPost: null,
};

/**
 * Stores the profiles of all tokens, including those that have not traded yet. Drops the least
 * recently used.
 */
export class ProfileStore {
  readonly #profiles: Map<string, TokenProfile>;
  readonly #max: number;

  /** @param profiles From a checkpoint. */
  constructor(max: number, profiles = new Map<string, TokenProfile>()) {
    this.#profiles = profiles;
    this.#max = max;
  }

  /** All profiles, least recently used first. */
  get entries(): ReadonlyMap<string, TokenProfile> {
    return this.#profiles;
  }

  /** Returns the token's profile, now the most recently used, or {@link NO_PROFILE}. */
  find(group: MarketGroup, key: string): TokenProfile {
    const name = `${group}/${key}`;
    const found = this.#profiles.get(name);
    if (!found) return NO_PROFILE;
    this.#put(name, found);
    return found;
  }

  /** Applies an event and returns the token's new profile. Absent fields change nothing. */
  learn(event: Profile, key: string): TokenProfile {
    const name = `${event.group}/${key}`;
    const profile = merge(this.#profiles.get(name) ?? NO_PROFILE, event);
    this.#put(name, profile);
    return profile;
  }

  /** Stores since when a token has been known, so that later pools do not make it new. */
  rememberKnown(group: MarketGroup, key: string, sinceMs: number): void {
    const name = `${group}/${key}`;
    this.#put(name, { ...(this.#profiles.get(name) ?? NO_PROFILE), knownSinceMs: sinceMs });
  }

  #put(name: string, profile: TokenProfile): void {
    this.#profiles.delete(name);
    this.#profiles.set(name, profile);
    if (this.#profiles.size <= this.#max) return;
    const [oldest = ""] = this.#profiles.keys();
    this.#profiles.delete(oldest);
  }
}

function merge(before: TokenProfile, event: Profile): TokenProfile {
  return {
    symbol: event.symbol ?? before.symbol,
    name: event.name ?? before.name,
    createdAtMs: event.createdAt ?? before.createdAtMs,
    knownSinceMs: before.knownSinceMs,
    quote: event.quote ?? before.quote,
    marketData: event.marketData === undefined ? before.marketData : copyMarketData(event.marketData),
    socialData: event.socialData === undefined ? before.socialData : copySocialData(event.socialData),
    contractSource: event.contractSource ?? before.contractSource,
    forumPost: event.forumPost === undefined ? before.forumPost : copyPost(event.forumPost),
    ...(event.market || before.market ? { market: copyMarket(event.market) ?? before.market } : {}),
  };
}

// Copied field by field: other fields of an event must not be served, and its sender may change it
// later.

function copyMarketData(data: NonNullable<Profile["marketData"]> | null): MarketData | null {
  return data && { market_id: data.market_id, image_url: copyLink(data.image_url), name: data.name };
}

function copySocialData(data: NonNullable<Profile["socialData"]> | null): SocialData | null {
  if (!data) return null;
  const { chat_url, microblog_url, website_url } = data;
  return {
    chat_url: copyLink(chat_url),
    microblog_url: copyLink(microblog_url),
    website_url: copyLink(website_url),
  };
}

function copyMarket(market: Profile["market"]): Profile["market"] {
  return market && { exchange: market.exchange, pair: market.pair };
}

function copyPost(post: NonNullable<Profile["forumPost"]> | null): ForumPost | null {
  if (!post || safeLink(post.url) === undefined) return null;
  const { position, address, url, title, upvotes } = post;
  return { position, address, url, title, upvotes, posted: new Date(post.posted).toISOString() };
}

/** Links are untrusted, and pages render them: `null` unless http or https. */
function copyLink(link: string | null): string | null {
  return safeLink(link) === undefined ? null : link;
}
