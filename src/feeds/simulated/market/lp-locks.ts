import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/lib/time/time.ts";
import type { LocksEvent } from "../../../base/market/index.ts";
import type { Random } from "./random.ts";

/** Who holds a pool's LP tokens from a time on. */
export type LpShares = Pick<LocksEvent, "at" | "burned" | "held">;

/** What the makers of an honest new pool do with their LP tokens. */
const HABITS = [
  ["locked", 0.45],
  ["burned", 0.3],
  ["kept", 0.25],
] as const;
/** The same of an old pool. Some locks have no known term, and some end soon. */
const OLD_HABITS = [
  ["locked", 0.25],
  ["burned", 0.3],
  ["open", 0.1],
  ["ending", 0.05],
  ["kept", 0.3],
] as const;
/** A third of the rugs is locked while it attracts a crowd. The others never are. */
const LOCKED_RUGS = 0.35;

/**
 * Returns who holds a new pool's LP tokens over time, oldest first. Makers who plan to move keep
 * them.
 */
export function planNewLocks(listedAtMs: number, makersStay: boolean, random: Random): readonly LpShares[] {
  const kept = keptFrom(listedAtMs + 1);
  const share = shareBetween(0.9, random);
  const habit = random.weighted(HABITS);
  const at = listedAtMs + Math.round(random.logBetween(0.2, 8) * MINUTE_MS);
  const until = at + Math.round(random.logBetween(30, 365)) * DAY_MS;
  if (!makersStay || habit === "kept") return [kept];
  return [
    kept,
    habit === "burned" ? { at, burned: share, held: [] } : { at, burned: 0, held: [{ share, until }] },
  ];
}

/** The same for an old pool, from `nowMs` on. */
export function planOldLocks(nowMs: number, makersStay: boolean, random: Random): readonly LpShares[] {
  const at = nowMs + 1;
  const share = shareBetween(0.6, random);
  const habit = random.weighted(OLD_HABITS);
  const until = at + Math.round(random.logBetween(7, 900)) * DAY_MS;
  const endsAtMs = at + Math.round(random.logBetween(0.5, 24) * HOUR_MS);
  if (!makersStay || habit === "kept") return [keptFrom(at)];
  switch (habit) {
    case "burned":
      return [{ at, burned: share, held: [] }];
    case "locked":
      return [{ at, burned: 0, held: [{ share, until }] }];
    case "open":
      return [{ at, burned: 0, held: [{ share, until: null }] }];
    case "ending":
      return [{ at, burned: 0, held: [{ share, until: endsAtMs }] }, keptFrom(endsAtMs + MINUTE_MS)];
  }
}

/**
 * Returns what makers who attract a crowd from `nowMs` on do before they remove the liquidity: a
 * lock, if any, ends seconds before the removal.
 */
export function planRugLocks(nowMs: number, removedAtMs: number, random: Random): readonly LpShares[] {
  const isLocked = random.chance(LOCKED_RUGS);
  const share = shareBetween(0.9, random);
  const at = nowMs + Math.round(random.between(1, 60) * SECOND_MS);
  const until = removedAtMs - Math.round(random.between(5, 60) * SECOND_MS);
  if (!isLocked || at >= until) return [];
  return [{ at, burned: 0, held: [{ share, until }] }, keptFrom(until + SECOND_MS)];
}

function keptFrom(at: number): LpShares {
  return { at, burned: 0, held: [] };
}

function shareBetween(low: number, random: Random): number {
  return Math.round(1_000 * random.between(low, 1)) / 1_000;
}
