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
/** Below this nothing is usual yet: a token whose pool first held ten dollars is as old as its real liquidity. */
const MIN_USUAL_USD = 500;

/** The liquidity of one token's pools against its recent level. Plain data for checkpoints. */
export interface LiquidityLevel {
  /** Dollars the pools would hold if their makers had done nothing recently: the sum of the pools' own references. */
  referenceUsd: number;
  /** What they usually hold, whoever changes it: no block can raise it. */
  usualUsd: number;
  /** Since when they have held anything worth the name. */
  bornMs: number;
  /** How long the level has been too low, less how long it has been high enough since; at most the grace period. */
  lowMs: number;
  isLow: boolean;
  /** Event time of all of these. */
  atMs: number;
}

/** The level of a token without pools. */
export function createLiquidityLevel(): LiquidityLevel {
  return { referenceUsd: 0, usualUsd: 0, bornMs: -1, lowMs: 0, isLow: false, atMs: 0 };
}

/** Lets time pass up to `atMs`, during which the pools held `usd`, and `steadyUsd` of it for long enough to count. */
export function passTime(
  level: LiquidityLevel,
  usd: number,
  steadyUsd: number,
  atMs: number,
  settings: DetectorSettings,
): void {
  if (level.isLow || level.lowMs > 0) level.lowMs = lowMsAt(level, usd, atMs, settings);
  const wasUsual = level.usualUsd >= MIN_USUAL_USD;
  level.usualUsd = usualAt(level, steadyUsd, atMs, settings);
  if (!wasUsual) level.bornMs = level.atMs;
  level.atMs = atMs;
}

/** Judges what the pools hold from now on, against the sum of their references. */
export function noteLevel(
  level: LiquidityLevel,
  usd: number,
  referenceUsd: number,
  atMs: number,
  settings: DetectorSettings,
): void {
  level.referenceUsd = referenceUsd;
  level.isLow = isTooLow(level, usd, atMs, settings);
}

/** A pool's reference after trades took what it holds from `beforeUsd` to `afterUsd`: it moves along, unless the pool was empty. */
export function referenceAfterTrade(referenceUsd: number, beforeUsd: number, afterUsd: number): number {
  return beforeUsd > EMPTY_SHARE * referenceUsd ? (referenceUsd * afterUsd) / beforeUsd : referenceUsd;
}

/**
 * The share that the past has at `atMs` in an average of time constant `tauMs`. In a token's first hours
 * that is the plain mean since it was born: one that begins small would hide for hours what came next.
 */
export function shareLeft(level: LiquidityLevel, atMs: number, tauMs: number): number {
  const elapsed = atMs - level.atMs;
  if (elapsed <= 0) return 1;
  if (level.usualUsd < MIN_USUAL_USD) return 0;
  return Math.min(decay(elapsed, tauMs), 1 - elapsed / (atMs - level.bornMs));
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
  const usual = usualAt(level, usd, atMs, settings);
  const reference = usd + (level.referenceUsd - usd) * shareLeft(level, atMs, settings.removalMs);
  const recent = Math.min(reference, usual);
  const isMissing = recent > 0 && 1 - usd / recent >= settings.removedShare;
  return isMissing || usd < EMPTY_SHARE * usual;
}

function usualAt(level: LiquidityLevel, usd: number, atMs: number, settings: DetectorSettings): number {
  const tauMs = usd < level.usualUsd ? settings.removalMs : settings.baselineMs;
  return usd + (level.usualUsd - usd) * shareLeft(level, atMs, tauMs);
}
