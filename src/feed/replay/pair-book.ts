import { createHash } from "node:crypto";
import type { MarketGroup, Profile } from "../../market/index.ts";
import type { TokenProfile, TokenProfiles } from "./read/profiles-file.ts";

/** The most pairs that one recording may have: what is remembered per pair must not grow without end. */
export const MAX_PAIRS = 100_000;

/**
 * A token that was silent for this long of event time is introduced again: whoever follows the feed may have forgotten it
 * after its windows, of which the longest over candles is six hours.
 */
export const REINTRODUCE_AFTER_MS = 6 * 3_600_000;

/**
 * The token id of a recorded pair in a group. On the exchange it is the pair's name. On a chain a token needs an address, and a
 * recorded pair has none: it is derived, `0x` and the first 20 bytes of the SHA-256 of `flarewire:<group>:<pair>` (UTF-8) in
 * lower-case hexadecimal. The same pair always gets the same address, another in each group. No contract lies there.
 */
export function addressOf(group: MarketGroup, pair: string): string {
  if (group === "exchange") return pair;
  return `0x${createHash("sha256").update(`flarewire:${group}:${pair}`).digest("hex").slice(0, 40)}`;
}

/** A recorded pair as a token of one group. */
interface PairToken {
  readonly group: MarketGroup;
  readonly token: string;
  /** What is known of it, but for the time. */
  readonly profile: Omit<Profile, "at">;
}

/** What is remembered of a pair. */
interface Pair {
  readonly tokens: readonly PairToken[];
  /** Open time of its latest candle; -1 before the first. */
  lastOpenAt: number;
}

/** The pairs of a recording and the tokens that they become. */
export class PairBook {
  readonly #pairs = new Map<string, Pair>();
  readonly #group: MarketGroup;
  readonly #profiles: TokenProfiles;

  /** `group` is for the pairs whose profile names none. */
  constructor(group: MarketGroup, profiles: TokenProfiles) {
    this.#group = group;
    this.#profiles = profiles;
  }

  /** The pair of that name; `undefined` when there are `MAX_PAIRS` others already. */
  get(name: string): Pair | undefined {
    const known = this.#pairs.get(name);
    if (known || this.#pairs.size >= MAX_PAIRS) return known;
    const profile = this.#profiles.get(name);
    const groups = profile?.groups ?? [this.#group];
    const pair: Pair = { tokens: groups.map((group) => pairToken(group, name, profile)), lastOpenAt: -1 };
    this.#pairs.set(name, pair);
    return pair;
  }

  has(name: string): boolean {
    return this.#pairs.has(name);
  }

  /** Takes every candle so far as one that came `ms` later. */
  advance(ms: number): void {
    for (const pair of this.#pairs.values()) if (pair.lastOpenAt >= 0) pair.lastOpenAt += ms;
  }
}

function pairToken(group: MarketGroup, pair: string, profile: TokenProfile | undefined): PairToken {
  const token = addressOf(group, pair);
  return {
    group,
    token,
    profile: { symbol: pair, name: pair, ...profileFields(group, token, profile) },
  };
}

/** The event fields that a profile of the file gives a token. */
export function profileFields(
  group: MarketGroup,
  token: string,
  profile: TokenProfile | undefined,
): Omit<Profile, "at"> {
  const { forumPost, ...facts } = profile?.facts ?? {};
  const address = forumPost?.address ?? (group === "exchange" ? undefined : token);
  return {
    kind: "profile",
    group,
    token,
    ...facts,
    ...(forumPost === null ? { forumPost } : {}),
    ...(forumPost && address !== undefined ? { forumPost: { ...forumPost, address } } : {}),
  };
}
