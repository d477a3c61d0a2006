import { DAY_MS, HOUR_MS } from "../../base/lib/time/time.ts";
import type { TokenState } from "../state/token-state.ts";
import { listedSince } from "./pools.ts";

/** Smaller locks do not decide when the first one ends. */
const MATTERING_SHARE = 0.05;
/** A lock that ends sooner protects nobody who buys now. */
const LASTING_MS = HOUR_MS;

/** Shares of a token's liquidity by dollars, over its pools. */
export interface LockedShares {
  readonly burned: number;
  /** The share in locks that are not over. */
  readonly held: number;
  /** When the first lock that matters ends; `null` if none is known, or one of them has no term. */
  readonly untilMs: number | null;
}

/**
 * Returns how much of the token's liquidity cannot be withdrawn; `null` if that is unknown of more
 * than half of it. What is unknown counts as free.
 */
export function lockedOf(token: TokenState, atMs: number): LockedShares | null {
  if (shareOf(token, ({ locks }) => (locks ? 0 : 1)) > 0.5 || token.pools.length === 0) return null;
  const burned = shareOf(token, ({ locks }) => locks?.burned ?? 0);
  let held = 0;
  let openShare = 0;
  let untilMs: number | null = null;
  const terms = token.pools.flatMap(({ locks }) => locks?.held.map(({ until }) => until) ?? []);
  // In the order of their ends, so that many small locks that end together matter too.
  for (const until of [...new Set(terms)].sort((one, other) => (one ?? 0) - (other ?? 0))) {
    if (until !== null && until <= atMs) continue;
    const share = shareOf(token, ({ locks }) => sum(locks?.held ?? [], (one) => one.until === until));
    held += share;
    if (until === null) openShare = share;
    else if (held - openShare >= MATTERING_SHARE) untilMs ??= until;
  }
  return { burned, held: Math.min(1, held), untilMs: openShare >= MATTERING_SHARE ? null : untilMs };
}

/**
 * Returns whether more than half of a new token's liquidity can be withdrawn within the hour. What
 * is unknown, and locks without a known term, do not count.
 */
export function isUnlocked(token: TokenState, atMs: number): boolean {
  if (!token.pools.some(({ locks }) => locks)) return false;
  const since = listedSince(token);
  if (since === null || atMs - since >= DAY_MS) return false;
  const isLasting = ({ until }: { readonly until: number | null }) =>
    until === null || until > atMs + LASTING_MS;
  const free = shareOf(token, ({ locks }) => (locks ? 1 - locks.burned - sum(locks.held, isLasting) : 0));
  return free > 0.5;
}

/** Returns the pools' mean of a share, weighted by their dollars. */
function shareOf({ pools }: TokenState, share: (pool: TokenState["pools"][number]) => number): number {
  const total = pools.reduce((usd, pool) => usd + pool.usd, 0);
  const weightOf = (usd: number) => (total > 0 ? usd / total : 1 / pools.length);
  return pools.reduce((mean, pool) => mean + weightOf(pool.usd) * share(pool), 0);
}

type Held = NonNullable<TokenState["pools"][number]["locks"]>["held"];

function sum(held: Held, isCounted: (one: Held[number]) => boolean): number {
  return held.reduce((total, one) => total + (isCounted(one) ? one.share : 0), 0);
}
