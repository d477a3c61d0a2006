import { decay } from "../../base/lib/statistics.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { DetectorSettings } from "../settings.ts";

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

export function createLiquidityLevel() {
  return {
    /** Dollars the pools would hold without recent deposits and removals: the sum of references. */
    referenceUsd: 0,
    /**
     * Average of the pools' dollars. Rises slowly and falls faster, so that no single block can
     * raise it.
     */
    usualUsd: 0,
    /** Start of the averages: when the pools first held {@link MIN_USUAL_USD}. Unused before. */
    bornMs: -1,
    /** Rises while the level is low, falls while it is not; from 0 to the grace period. */
    lowMs: 0,
    isLow: false,
    /** Since when a flaring token's pool has been empty: see {@link noteGone}; -1 otherwise. */
    goneMs: -1,
    /** Event time of these values. */
    atMs: 0,
  };
}

/** The liquidity of a token's pools, compared with its recent level. Plain data for checkpoints. */
export type LiquidityLevel = ReturnType<typeof createLiquidityLevel>;

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

/** A token's liquidity must have been known for this long. */
const STOOD_MS = 2 * MINUTE_MS;

/**
 * Notes since when all of a pool's liquidity has been gone. Then nothing justifies the long grace:
 * a moved position returns within seconds, or to another pool. Call after {@link noteLevel}.
 *
 * @param emptied The pool's dollars and reference after a removal; `undefined` after other changes.
 * @param gainedUsd What the token's pools gained within the last 20 to 40 seconds.
 */
export function noteGone(
  level: LiquidityLevel,
  emptied: { readonly usd: number; readonly referenceUsd: number } | undefined,
  { missingUsd, gainedUsd }: { readonly missingUsd: number; readonly gainedUsd: number },
  atMs: number,
): void {
  if (!level.isLow || gainedUsd > EMPTY_SHARE * missingUsd) level.goneMs = -1;
  else if (level.goneMs < 0 && emptied && emptied.usd <= EMPTY_SHARE * emptied.referenceUsd)
    if (atMs - level.bornMs >= STOOD_MS) level.goneMs = atMs;
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
 * Returns what the level shows: `removed` if it has been low for the whole grace period, or gone
 * for the short one; `plunged` if it is low; else `usual`.
 */
export function lossOf(
  level: LiquidityLevel,
  usd: number,
  atMs: number,
  settings: DetectorSettings,
): "usual" | "plunged" | "removed" {
  if (!level.isLow || !isTooLow(level, usd, atMs, settings)) return "usual";
  if (level.goneMs >= 0 && atMs - level.goneMs >= settings.goneGraceMs) return "removed";
  return lowMsAt(level, usd, atMs, settings) >= settings.removalGraceMs ? "removed" : "plunged";
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
