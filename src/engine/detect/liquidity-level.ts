import type { DetectorSettings } from "../settings.ts";
import { decay } from "./statistics.ts";

/*
 * Detects liquidity that is removed and stays removed. The current level is compared with the lower
 * of two references for the pools' recent liquidity: `referenceUsd` and `usualUsd`. Adding up
 * removals would not work: moving a position, or adding one for a single block, would count as a
 * removal.
 */

/**
 * Below this share of the usual liquidity, the pools count as empty, even if nobody removed any.
 * The same holds for one pool and its reference. The reason: trading can drain a position of
 * concentrated liquidity, and without this rule its later removal would go unnoticed. A pool
 * without concentrated liquidity falls below this share only if the price falls by 99.75 %.
 */
const EMPTY_SHARE = 0.05;
/** Below this, the usual level counts as unknown. The averages start once it is reached. */
const MIN_USUAL_USD = 500;

/** The liquidity of a token's pools, compared with its recent level. Plain data for checkpoints. */
export interface LiquidityLevel {
  /** Dollars the pools would hold without recent deposits and removals: the sum of references. */
  referenceUsd: number;
  /**
   * Average of the pools' dollars. Rises slowly and falls faster, so that no single block can raise
   * it.
   */
  usualUsd: number;
  /** Start of the averages: when the pools first held {@link MIN_USUAL_USD}. Unused before. */
  bornMs: number;
  /** Rises while the level is low, falls while it is not; from 0 to the grace period. */
  lowMs: number;
  isLow: boolean;
  /** Event time of these values. */
  atMs: number;
}

export function createLiquidityLevel(): LiquidityLevel {
  return { referenceUsd: 0, usualUsd: 0, bornMs: -1, lowMs: 0, isLow: false, atMs: 0 };
}

/**
 * Advances to `atMs`. Until then the pools held `usd`, and `steadyUsd` of that had lasted long
 * enough to count.
 */
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

/**
 * Stores the sum of the references. Decides whether `usd`, the pools' dollars from now on, is too
 * low.
 */
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

/** Returns a pool's reference after trades: scaled like its dollars, unless the pool was empty. */
export function referenceAfterTrade(referenceUsd: number, beforeUsd: number, afterUsd: number): number {
  return beforeUsd > EMPTY_SHARE * referenceUsd ? (referenceUsd * afterUsd) / beforeUsd : referenceUsd;
}

/**
 * Returns the weight that the old value keeps at `atMs` in an average with time constant `tauMs`.
 * At first the average is the plain mean since `bornMs`: otherwise a small first deposit would keep
 * it too low for hours.
 */
export function shareLeft(level: LiquidityLevel, atMs: number, tauMs: number): number {
  const elapsed = atMs - level.atMs;
  if (elapsed <= 0) return 1;
  if (level.usualUsd < MIN_USUAL_USD) return 0;
  return Math.min(decay(elapsed, tauMs), 1 - elapsed / (atMs - level.bornMs));
}

/**
 * Returns what the level shows: `removed` if it has been low for the whole grace period, `plunged`
 * if it is low, else `usual`.
 */
export function lossOf(
  level: LiquidityLevel,
  usd: number,
  atMs: number,
  settings: DetectorSettings,
): "usual" | "plunged" | "removed" {
  if (!level.isLow || !isTooLow(level, usd, atMs, settings)) return "usual";
  return lowMsAt(level, usd, atMs, settings) >= settings.removalGraceMs ? "removed" : "plunged";
}

/** Whether the level is low but in the grace period: judge it again soon. */
export function isInGrace(
  level: LiquidityLevel,
  usd: number,
  atMs: number,
  settings: DetectorSettings,
): boolean {
  return level.isLow && lowMsAt(level, usd, atMs, settings) < settings.removalGraceMs;
}

/** A recovery counts the low time down, so a momentary recovery does not restart the period. */
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
