import { createHash } from "node:crypto";
import type { MarketGroup, Profile } from "../../base/market/index.ts";
import type { TokenProfile, TokenProfiles } from "./read/profiles-file.ts";

/** Maximum number of pairs in one recording, which bounds the memory. */
export const MAX_PAIRS = 100_000;

/** A token is introduced again after this silence, because the engine then forgets it. */
export const REINTRODUCE_AFTER_MS = 6 * 3_600_000;

/**
 * Returns the token id of a recorded pair: in the group `exchange` its name, on a chain `0x` and
 * the first 20 bytes of the SHA-256 of `flarewire:<group>:<pair>`. No contract has this address.
 */
export function addressOf(group: MarketGroup, pair: string): string {
  if (group === "exchange") return pair;
  return `0x${createHash("sha256").update(`flarewire:${group}:${pair}`).digest("hex").slice(0, 40)}`;
}

/** A recorded pair as a token of one group. */
interface PairToken {
  readonly group: MarketGroup;
  readonly token: string;
  /** Its profile without the time. */
  readonly profile: Omit<Profile, "at">;
}

interface Pair {
  readonly tokens: readonly PairToken[];
  /** Open time of its latest candle; -1 before the first. */
  lastOpenAt: number;
}

export class PairRegistry {
  readonly #pairs = new Map<string, Pair>();
  readonly #group: MarketGroup;
  readonly #profiles: TokenProfiles;

  /** @param group For pairs whose profile names none. */
  constructor(group: MarketGroup, profiles: TokenProfiles) {
    this.#group = group;
    this.#profiles = profiles;
  }

  /**
   * Returns the pair of that name and adds it if new; `undefined` if that would exceed `MAX_PAIRS`.
   */
  get(name: string): Pair | undefined {
    const existing = this.#pairs.get(name);
    if (existing || this.#pairs.size >= MAX_PAIRS) return existing;
    const profile = this.#profiles.get(name);
    const groups = profile?.groups ?? [this.#group];
    const pair: Pair = { tokens: groups.map((group) => pairToken(group, name, profile)), lastOpenAt: -1 };
    this.#pairs.set(name, pair);
    return pair;
  }

  has(name: string): boolean {
    return this.#pairs.has(name);
  }

  /** Adds `ms` to the time of each pair's latest candle. */
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

/**
 * Converts an entry of the profiles file to event fields. A forum post without an address gets the
 * token's; on the exchange, where tokens have none, the post is omitted.
 */
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
