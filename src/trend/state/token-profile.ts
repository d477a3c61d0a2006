import { safeLink } from "../../lib/text/safe-text.ts";
import type { MarketGroup, Profile } from "../../market/index.ts";
import type { ForumPost, MarketData, SocialData } from "../../model/index.ts";

/** What enrichers said of a token. `null`: nothing was said, or it is known that there is none. Replaced whole when something is learned. */
export interface TokenProfile {
  readonly symbol: string | null;
  readonly name: string | null;
  readonly createdAtMs: number | null;
  /** First trade or listing of a token that was forgotten since; `null` for others. */
  readonly knownSinceMs: number | null;
  /** A quote token, stablecoin or wrapped native. */
  readonly quote: boolean;
  readonly marketData: MarketData | null;
  readonly socialData: SocialData | null;
  readonly contractSource: "verified" | "unverified" | null;
  readonly forumPost: ForumPost | null;
}

/** A token of which nothing was said. */
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

/** The profiles of all tokens that anything was said of, the least recently used forgotten first: a token may trade long after its profile came. */
export class ProfileBook {
  readonly #profiles: Map<string, TokenProfile>;
  readonly #most: number;

  /** `most`: how many profiles are kept. `profiles`: those of a checkpoint. */
  constructor(most: number, profiles = new Map<string, TokenProfile>()) {
    this.#profiles = profiles;
    this.#most = most;
  }

  /** All profiles, the least recently used first. */
  get entries(): ReadonlyMap<string, TokenProfile> {
    return this.#profiles;
  }

  /** The token's profile; that of a stranger where nothing was said. */
  find(group: MarketGroup, key: string): TokenProfile {
    const name = `${group}/${key}`;
    const found = this.#profiles.get(name);
    if (!found) return NO_PROFILE;
    this.#put(name, found);
    return found;
  }

  /** Takes in what an event says. Absent fields change nothing. Yields the token's profile after it. */
  learn(event: Profile, key: string): TokenProfile {
    const name = `${event.group}/${key}`;
    const profile = merge(this.#profiles.get(name) ?? NO_PROFILE, event);
    this.#put(name, profile);
    return profile;
  }

  /** Remembers since when a token was known that is forgotten otherwise, so that another pool of it is not new. */
  rememberKnown(group: MarketGroup, key: string, sinceMs: number): void {
    const name = `${group}/${key}`;
    this.#put(name, { ...(this.#profiles.get(name) ?? NO_PROFILE), knownSinceMs: sinceMs });
  }

  #put(name: string, profile: TokenProfile): void {
    this.#profiles.delete(name);
    this.#profiles.set(name, profile);
    if (this.#profiles.size <= this.#most) return;
    for (const oldest of this.#profiles.keys()) {
      this.#profiles.delete(oldest);
      return;
    }
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
  };
}

// Copied field by field: what else an event carries must not be served, and whoever made it may change it later.

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

function copyPost(post: NonNullable<Profile["forumPost"]> | null): ForumPost | null {
  if (!post || safeLink(post.url) === undefined) return null;
  const { position, address, url, title, upvotes } = post;
  return { position, address, url, title, upvotes, posted: new Date(post.posted).toISOString() };
}

/** Links are strangers' words, and pages make anchors of them: `null` for one that is not http or https. */
function copyLink(link: string | null): string | null {
  return safeLink(link) === undefined ? null : link;
}
