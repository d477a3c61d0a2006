import type { DetectorSettings } from "./settings.ts";
import { decay } from "./statistics.ts";

/*
 * Detects liquidity that is gone and stays gone. The level is judged against what the pools held
 * recently, not by adding up removals: a position that is moved, or that stands in a pool for one
 * block only, leaves the level where it was.
 */

/**
 * Below this share the pools are empty, whatever emptied them. Trading can do that to a position in a
 * range, which may then be taken away unseen; to a pool without ranges it takes a fall by 99.7 %.
 */
const EMPTY_SHARE = 0.05;

/** The liquidity of one token's pools against its recent level. Plain data for checkpoints. */
export interface LiquidityLevel {
  /** Dollars the pools would hold if their makers had done nothing recently, as of `atMs`; 0 before any. */
  referenceUsd: number;
  /** What they held on average over the last hour, whoever changed it. */
  averageUsd: number;
  /** Event time of both. */
  atMs: number;
  /** When the level fell too low beside either; -1 while it is high enough. */
  lowSinceMs: number;
}

/** The level of a token without pools. */
export function createLiquidityLevel(): LiquidityLevel {
  return { referenceUsd: 0, averageUsd: 0, atMs: 0, lowSinceMs: -1 };
}

/**
 * Why the total changed. `traded`: swaps moved it, and the reference moves along. `made`: makers added
 * or removed it, and the reference follows slowly. `found`: a pool that existed before is counted from
 * now on, or no longer.
 */
export type LevelChange = "traded" | "made" | "found";

/**
 * Notes that the token's pools went from `beforeUsd` to `afterUsd` in total. What makers change, the
 * reference follows with the time constants `removalMs` (down) and `baselineMs` (up).
 */
export function noteLiquidity(
  level: LiquidityLevel,
  atMs: number,
  beforeUsd: number,
  afterUsd: number,
  change: LevelChange,
  settings: DetectorSettings,
): void {
  if (!isLow(level, beforeUsd, atMs, settings)) level.lowSinceMs = -1;
  level.averageUsd = averageAt(level, beforeUsd, atMs, settings);
  level.referenceUsd = referenceAt(level, beforeUsd, atMs, settings);
  level.atMs = Math.max(level.atMs, atMs);
  if (level.referenceUsd <= 0) {
    level.referenceUsd = afterUsd;
    level.averageUsd = afterUsd;
  } else if (change === "found") {
    level.referenceUsd = Math.max(0, level.referenceUsd + afterUsd - beforeUsd);
    level.averageUsd = Math.max(0, level.averageUsd + afterUsd - beforeUsd);
  } else if (change === "traded" && beforeUsd > EMPTY_SHARE * level.referenceUsd)
    level.referenceUsd *= afterUsd / beforeUsd;
  if (!isLow(level, afterUsd, atMs, settings)) level.lowSinceMs = -1;
  else if (level.lowSinceMs < 0) level.lowSinceMs = atMs;
}

/** Whether the liquidity was removed: the level has stayed low for the whole grace period. */
export function isRemoved(
  level: LiquidityLevel,
  usd: number,
  atMs: number,
  settings: DetectorSettings,
): boolean {
  return (
    level.lowSinceMs >= 0 &&
    atMs - level.lowSinceMs >= settings.removalGraceMs &&
    isLow(level, usd, atMs, settings)
  );
}

/** Whether the level is low but still within the grace period: it must be judged again soon. */
export function isInGrace(level: LiquidityLevel, atMs: number, settings: DetectorSettings): boolean {
  return level.lowSinceMs >= 0 && atMs - level.lowSinceMs < settings.removalGraceMs;
}

function isLow(level: LiquidityLevel, usd: number, atMs: number, settings: DetectorSettings): boolean {
  const reference = referenceAt(level, usd, atMs, settings);
  const isMissing = reference > 0 && 1 - usd / reference >= settings.removedShare;
  return isMissing || usd < EMPTY_SHARE * averageAt(level, usd, atMs, settings);
}

function averageAt(level: LiquidityLevel, usd: number, atMs: number, settings: DetectorSettings): number {
  return usd + (level.averageUsd - usd) * decay(atMs - level.atMs, settings.removalMs);
}

function referenceAt(level: LiquidityLevel, usd: number, atMs: number, settings: DetectorSettings): number {
  const tau = usd < level.referenceUsd ? settings.removalMs : settings.baselineMs;
  return usd + (level.referenceUsd - usd) * decay(atMs - level.atMs, tau);
}
