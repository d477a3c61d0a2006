import type { DetectorSettings } from "../settings.ts";
import { decay } from "./statistics.ts";

/*
 * Detects liquidity that is gone and stays gone. The level is judged against what the pools held
 * recently, the lower of two references, not by adding up removals: a position that is moved, or that stands in a pool for one
 * block only, leaves the level where it was.
 */

/**
 * Below this share the pools are empty, whatever emptied them. Trading can do that to a position in a
 * range, which may then be taken away unseen; to a pool without ranges it takes a fall by 99.7 %.
 */
const EMPTY_SHARE = 0.05;

/** The liquidity of one token's pools against its recent level. Plain data for checkpoints. */
export interface LiquidityLevel {
  /** Dollars the pools would hold if their makers had done nothing recently; 0 before any. */
  referenceUsd: number;
  /** What they held on average over the last hour, whoever changed it: one block cannot raise it. */
  averageUsd: number;
  /** How long the level has been too low, less how long it has been high enough since; at most the grace period. */
  lowMs: number;
  isLow: boolean;
  /** Event time of all of these. */
  atMs: number;
}

/** The level of a token without pools. */
export function createLiquidityLevel(): LiquidityLevel {
  return { referenceUsd: 0, averageUsd: 0, lowMs: 0, isLow: false, atMs: 0 };
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
  level.lowMs = lowMsAt(level, beforeUsd, atMs, settings);
  level.averageUsd = averageAt(level, beforeUsd, atMs, settings);
  level.referenceUsd = referenceAt(level, beforeUsd, atMs, settings);
  level.atMs = Math.max(level.atMs, atMs);
  if (level.referenceUsd <= 0) {
    level.referenceUsd = afterUsd;
    level.averageUsd = afterUsd;
  } else if (change === "found") {
    level.referenceUsd = Math.max(0, level.referenceUsd + afterUsd - beforeUsd);
    level.averageUsd = Math.min(level.averageUsd, level.referenceUsd);
  } else if (change === "traded" && beforeUsd > EMPTY_SHARE * level.referenceUsd)
    level.referenceUsd *= afterUsd / beforeUsd;
  level.isLow = isTooLow(level, afterUsd, atMs, settings);
}

/** Whether the liquidity was removed: the level is low, and has been for the whole grace period. */
export function isRemoved(
  level: LiquidityLevel,
  usd: number,
  atMs: number,
  settings: DetectorSettings,
): boolean {
  return (
    level.isLow &&
    isTooLow(level, usd, atMs, settings) &&
    lowMsAt(level, usd, atMs, settings) >= settings.removalGraceMs
  );
}

/** Whether the level is low but still within the grace period: it must be judged again soon. */
export function isInGrace(
  level: LiquidityLevel,
  usd: number,
  atMs: number,
  settings: DetectorSettings,
): boolean {
  return level.isLow && lowMsAt(level, usd, atMs, settings) < settings.removalGraceMs;
}

/** A level that is up again for a moment does not begin the grace period anew: it only wears off. */
function lowMsAt(level: LiquidityLevel, usd: number, atMs: number, settings: DetectorSettings): number {
  const elapsed = Math.max(0, atMs - level.atMs);
  const isStillLow = level.isLow && isTooLow(level, usd, atMs, settings);
  const lowMs = level.lowMs + (isStillLow ? elapsed : -elapsed);
  return Math.min(settings.removalGraceMs, Math.max(0, lowMs));
}

function isTooLow(level: LiquidityLevel, usd: number, atMs: number, settings: DetectorSettings): boolean {
  const average = averageAt(level, usd, atMs, settings);
  const recent = Math.min(referenceAt(level, usd, atMs, settings), average);
  const isMissing = recent > 0 && 1 - usd / recent >= settings.removedShare;
  return isMissing || usd < EMPTY_SHARE * average;
}

function averageAt(level: LiquidityLevel, usd: number, atMs: number, settings: DetectorSettings): number {
  return usd + (level.averageUsd - usd) * decay(atMs - level.atMs, settings.removalMs);
}

function referenceAt(level: LiquidityLevel, usd: number, atMs: number, settings: DetectorSettings): number {
  const tau = usd < level.referenceUsd ? settings.removalMs : settings.baselineMs;
  return usd + (level.referenceUsd - usd) * decay(atMs - level.atMs, tau);
}
