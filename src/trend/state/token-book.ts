import type { MarketGroup } from "../../market/index.ts";
import { GROUPS } from "../../model/index.ts";
import type { DetectorSettings } from "../settings.ts";
import { isAddress, isName } from "./rejection.ts";
import type { TokenProfile } from "./token-profile.ts";
import { createToken, type TokenState } from "./token-state.ts";

const MAX_ALIASES = 4;
const STRANGER_EVENTS = 5;
/** How far the bound may be overrun before the silent are sought out: seeking costs a pass over all. */
const OVERRUN = 1.1;

interface GroupBook {
  readonly tokens: Map<string, TokenState>;
  readonly aliases: Map<string, TokenState>;
}

/** All tokens that are held, found by any spelling of their address, and the forgetting of those that fell silent. */
export class TokenBook {
  readonly #groups: Readonly<Record<MarketGroup, GroupBook>>;
  readonly #settings: DetectorSettings;
  readonly #onForget: (token: TokenState) => void;
  #count = 0;

  /** `onForget` is called with each token that is forgotten, but for those that were never listed and traded only a few times. */
  constructor(settings: DetectorSettings, onForget: (token: TokenState) => void) {
    this.#settings = settings;
    this.#onForget = onForget;
    const create = (): GroupBook => ({ tokens: new Map(), aliases: new Map() });
    this.#groups = { bsc: create(), exchange: create(), matic: create(), avalanche: create() };
  }

  /** How many tokens are held. */
  get count(): number {
    return this.#count;
  }

  /** The tokens of a group, in order of their first sighting. */
  of(group: MarketGroup): Iterable<TokenState> {
    return this.#groups[group].tokens.values();
  }

  /** What the token of that name is kept under, as {@link keyOfToken}; the spellings of tokens that are held need no looking into. */
  keyOf(group: MarketGroup, name: string): string | undefined {
    const book = this.#groups[group];
    const known = book.tokens.get(name) ?? book.aliases.get(name);
    return known ? known.key : keyOfToken(group, name);
  }

  /** The token of that name, in any spelling, if it is held. */
  find(group: MarketGroup, name: string): TokenState | undefined {
    const book = this.#groups[group];
    const known = book.tokens.get(name) ?? book.aliases.get(name);
    if (known || group === "exchange") return known;
    const token = book.tokens.get(name.toLowerCase());
    if (token && token.aliases.length < MAX_ALIASES) {
      token.aliases.push(name);
      book.aliases.set(name, token);
    }
    return token;
  }

  /** Takes in a token at first sight. `name` must be one that {@link keyOfToken} accepts. */
  create(group: MarketGroup, name: string, atMs: number, profile: TokenProfile): TokenState {
    const token = createToken(group, keyOfToken(group, name) ?? name, name, atMs, profile);
    this.add(token);
    if (this.#count > this.#settings.tokensMost * OVERRUN) this.#evict(token);
    return token;
  }

  /** Takes in a token of a checkpoint. */
  add(token: TokenState): void {
    const book = this.#groups[token.group];
    book.tokens.set(token.key, token);
    for (const alias of token.aliases) book.aliases.set(alias, token);
    this.#count += 1;
  }

  /** Forgets the token when it has been silent beyond its windows. True when it did. */
  forgetIfSilent(token: TokenState, atMs: number): boolean {
    const { forgetMs, forgetStrangerMs } = this.#settings;
    const most = token.events < STRANGER_EVENTS ? forgetStrangerMs : forgetMs;
    if (atMs - token.lastSeenMs <= most || isNeeded(token)) return false;
    this.#forget(token);
    return true;
  }

  #forget(token: TokenState): void {
    const book = this.#groups[token.group];
    if (!book.tokens.delete(token.key)) return;
    token.isTouched = false;
    for (const alias of token.aliases) book.aliases.delete(alias);
    this.#count -= 1;
    const isListed = token.pools.some(({ listedMs }) => listedMs >= 0);
    if (isListed || token.events >= STRANGER_EVENTS) this.#onForget(token);
  }

  #evict(newcomer: TokenState): void {
    const all = GROUPS.flatMap((group) => [...this.of(group)]).filter(
      (token) => token !== newcomer && !isNeeded(token),
    );
    all.sort((a, b) => a.lastSeenMs - b.lastSeenMs || (a.key < b.key ? -1 : 1));
    for (const token of all.slice(0, Math.max(0, this.#count - this.#settings.tokensMost)))
      this.#forget(token);
  }
}

/** A token whose state something that is served still stands on. */
function isNeeded(token: TokenState): boolean {
  return token.trend.startedMs >= 0 || token.chart.rankCount > 0 || token.chart.rank > 0;
}

/** What a token is kept under: its address in lower case, on the exchange its name; `undefined` for what cannot be a token of the group. */
function keyOfToken(group: MarketGroup, name: unknown): string | undefined {
  if (group === "exchange") return isName(name) ? name : undefined;
  return isAddress(name) ? name.toLowerCase() : undefined;
}
