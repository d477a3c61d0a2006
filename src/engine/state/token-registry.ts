import type { MarketGroup } from "../../base/market/index.ts";
import { byGroup, GROUPS, isNameIn, normalizeAddress } from "../../base/model/index.ts";
import { offeredSince } from "../detect/pools.ts";
import type { DetectorSettings } from "../settings.ts";
import { isName } from "./rejection.ts";
import type { ProfileStore, TokenProfile } from "./token-profile.ts";
import { createToken, type TokenState } from "./token-state.ts";

const MAX_ALIASES = 4;
const RARE_EVENTS = 5;
/** Maximum number of sampled tokens. Their median is off by about 3 % of a token's deviation. */
const MAX_SAMPLE = 2_000;
/** Tokens may exceed their maximum by this factor, because each eviction looks at all of them. */
const OVERRUN = 1.1;

interface GroupTokens {
  readonly tokens: Map<string, TokenState>;
  readonly aliases: Map<string, TokenState>;
}

/** Stores all tokens, finds them by any spelling of their address, and forgets silent ones. */
export class TokenRegistry {
  readonly #groups: Readonly<Record<MarketGroup, GroupTokens>>;
  readonly #settings: DetectorSettings;
  readonly #profiles: ProfileStore;
  #count = 0;
  /** The last token found by {@link #foundName}. Each event looks up its token several times. */
  #found: TokenState | undefined;
  #foundName = "";

  /** @param profiles Remembers each forgotten token that was listed or had five events. */
  constructor(settings: DetectorSettings, profiles: ProfileStore) {
    this.#settings = settings;
    this.#profiles = profiles;
    this.#groups = byGroup(() => ({ tokens: new Map(), aliases: new Map() }));
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the tokens of a group, in the order in which they were first seen. */
  of(group: MarketGroup): Iterable<TokenState> {
    return this.#groups[group].tokens.values();
  }

  /** Returns the tokens of all groups. */
  all(): TokenState[] {
    return GROUPS.flatMap((group) => [...this.of(group)]);
  }

  /** Returns a group's tokens or, if there are more than {@link MAX_SAMPLE}, every n-th. */
  sampleOf(group: MarketGroup): TokenState[] {
    const tokens = [...this.of(group)];
    const every = Math.ceil(tokens.length / MAX_SAMPLE);
    return tokens.filter((_, index) => index % every === 0);
  }

  /**
   * Returns the token's key, or `undefined`, like {@link keyOfToken}, but without parsing a known
   * name.
   */
  keyOf(group: MarketGroup, name: string): string | undefined {
    return this.#findExact(group, name)?.key ?? keyOfToken(group, name);
  }

  /** Returns the token of that name, in any spelling. Remembers up to four spellings. */
  find(group: MarketGroup, name: string): TokenState | undefined {
    const exact = this.#findExact(group, name);
    if (exact) return exact;
    const key = normalizeAddress(group, name);
    if (key === name) return undefined;
    const { tokens, aliases } = this.#groups[group];
    const token = tokens.get(key);
    if (token && token.aliases.length < MAX_ALIASES) {
      token.aliases.push(name);
      aliases.set(name, token);
    }
    return token;
  }

  /**
   * Adds a new token. {@link keyOfToken} must accept its `name`. Forgets the least recent tokens if
   * there are too many.
   */
  create(group: MarketGroup, name: string, atMs: number, profile: TokenProfile): TokenState {
    const token = createToken(group, keyOfToken(group, name) ?? name, name, atMs, profile);
    this.add(token);
    if (this.#count > this.#settings.maxTokens * OVERRUN) this.#evict(token);
    return token;
  }

  add(token: TokenState): void {
    const { tokens, aliases } = this.#groups[token.group];
    tokens.set(token.key, token);
    for (const alias of token.aliases) aliases.set(alias, token);
    this.#count += 1;
  }

  /**
   * Forgets the token if it has been silent for too long and nothing needs it. Returns whether it
   * did.
   */
  forgetIfSilent(token: TokenState, atMs: number): boolean {
    const { forgetMs, forgetRareMs } = this.#settings;
    const maxSilenceMs = token.events < RARE_EVENTS ? forgetRareMs : forgetMs;
    if (atMs - token.lastSeenMs <= maxSilenceMs || isNeeded(token)) return false;
    this.#forget(token);
    return true;
  }

  /** Returns the token of that name in a spelling seen before. */
  #findExact(group: MarketGroup, name: string): TokenState | undefined {
    if (this.#found?.group === group && this.#foundName === name) return this.#found;
    const { tokens, aliases } = this.#groups[group];
    const token = tokens.get(name) ?? aliases.get(name);
    if (token) {
      this.#found = token;
      this.#foundName = name;
    }
    return token;
  }

  #forget(token: TokenState): void {
    const { tokens, aliases } = this.#groups[token.group];
    if (!tokens.delete(token.key)) return;
    if (this.#found === token) this.#found = undefined;
    token.isTouched = false;
    for (const alias of token.aliases) aliases.delete(alias);
    this.#count -= 1;
    const isListed = token.pools.some(({ listedMs }) => listedMs >= 0);
    if (isListed || token.events >= RARE_EVENTS) rememberToken(this.#profiles, token);
  }

  #evict(newcomer: TokenState): void {
    const all = this.all().filter((token) => token !== newcomer && !isNeeded(token));
    all.sort((a, b) => a.lastSeenMs - b.lastSeenMs || (a.key < b.key ? -1 : 1));
    for (const token of all.slice(0, Math.max(0, this.#count - this.#settings.maxTokens)))
      this.#forget(token);
  }
}

/**
 * Returns whether a running or followed flare, served candles, a chart or a leaderboard need the
 * token.
 */
function isNeeded(token: TokenState): boolean {
  const isFollowed = token.trend.startedMs >= 0 || token.followed !== null || token.shownCandles !== null;
  return isFollowed || token.chart.rankCount > 0 || token.chart.rank > 0;
}

/** Returns a token's key, which is its normalized name; `undefined` if the name is invalid. */
function keyOfToken(group: MarketGroup, name: unknown): string | undefined {
  return isName(name) && isNameIn(group, name) ? normalizeAddress(group, name) : undefined;
}

/** Remembers since when a forgotten token was known, so that a listing cannot make it new. */
function rememberToken(profiles: ProfileStore, token: TokenState): void {
  const sinceMs = token.profile.knownSinceMs ?? offeredSince(token);
  if (token.group === "bsc" && sinceMs !== null) profiles.rememberKnown(token.group, token.key, sinceMs);
}
