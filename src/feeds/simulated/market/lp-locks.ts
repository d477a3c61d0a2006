import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../base/lib/time/time.ts";
import type { LocksEvent } from "../../../base/market/index.ts";
import type { Random } from "./random.ts";

/** What the makers of a new pool do with their LP tokens. */
const HABITS = [
  ["locked", 0.4],
  ["burned", 0.25],
  ["kept", 0.35],
] as const;
/** A third of the rugs locks first, for less time than it takes to attract a crowd. */
const LOCKED_RUGS = 0.35;

/** A new pool, and what its makers plan. */
interface NewPool extends Pick<LocksEvent, "group" | "pool" | "token"> {
  readonly listedAtMs: number;
  /** When the makers take the liquidity; `null` if they never do. */
  readonly takenAtMs: number | null;
  /** Whether they move liquidity without harm, for which they keep their LP tokens. */
  readonly isMoved: boolean;
}

/** Returns who holds the pool's LP tokens over time, oldest first. */
export function planLocks(
  { listedAtMs, takenAtMs, isMoved, ...pool }: NewPool,
  random: Random,
): readonly LocksEvent[] {
  const says = (at: number, burned: number, held: LocksEvent["held"] = []): LocksEvent => ({
    kind: "locks",
    at,
    ...pool,
    burned,
    held,
  });
  const kept = says(listedAtMs + 1, 0);
  const share = Math.round(1_000 * random.between(0.9, 1)) / 1_000;
  const habit = random.weighted(HABITS);
  const at = listedAtMs + Math.round(random.logBetween(0.2, 8) * MINUTE_MS);
  const until = at + Math.round(random.logBetween(30, 365)) * DAY_MS;
  const isTrick = random.chance(LOCKED_RUGS);
  if (takenAtMs !== null) {
    const releasedAtMs = takenAtMs - 10 * SECOND_MS;
    const untilMs = releasedAtMs - 5 * SECOND_MS;
    if (!isTrick || at >= untilMs) return [kept];
    return [kept, says(at, 0, [{ share, until: untilMs }]), says(releasedAtMs, 0)];
  }
  if (isMoved || habit === "kept") return [kept];
  return [kept, habit === "burned" ? says(at, share) : says(at, 0, [{ share, until }])];
}
