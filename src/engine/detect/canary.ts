import { sinceWhen } from "../../base/lib/statistics.ts";
import { HOUR_MS } from "../../base/lib/time/time.ts";
import type { DetectorSettings } from "../settings.ts";
import type { TokenState } from "../state/token-state.ts";
import { lossOf } from "./liquidity-level.ts";
import { isUnlocked } from "./locked.ts";
import { equalBuyers, firstSellers } from "./measures/suspects.ts";
import type { TradeState } from "./measures/trade-detector.ts";
import { isPriceOfDeepest, liquidityOf, listedSince } from "./pools.ts";

/*
 * Judges whether a token looks dangerous. The canary turns on with one grave warning, with
 * `quick-sellers`, or with two others. `liquidity-plunged` and `price-fallen` do not count.
 * Warnings that need facts which the feed lacks stay off.
 */

/**
 * The canary's warnings. Explanations list them by these names, in this order. The canary turns on
 * at a total weight of 1. `bit`: its bit in {@link CanaryState.mask}, which checkpoints contain.
 */
const RULES = {
  /** At least half of the recent liquidity is missing and stays missing, or almost none is left. */
  "liquidity-removed": { bit: 1, weight: 1, isGrave: true },
  /** The same, but not for long enough yet. It may be back in a moment, so this has no weight. */
  "liquidity-plunged": { bit: 256, weight: 0, isGrave: false },
  /** For some minutes many bought and almost nobody sold, perhaps because nobody can. */
  "no-seller": { bit: 2, weight: 1, isGrave: true },
  /** The price lost nine tenths within an hour. */
  "price-collapsed": { bit: 4, weight: 1, isGrave: true },
  /**
   * The running flare's price is a third below its first, or at half of its highest. No weight:
   * falls are everyday life, but such a flare is not for `free`.
   */
  "price-fallen": { bit: 512, weight: 0, isGrave: false },
  /** More than three purchases per buyer. */
  "repeat-buyers": { bit: 8, weight: 0.6, isGrave: false },
  /** A large part of the trading is from wallets that buy and soon sell, again and again. */
  "round-trips": { bit: 16, weight: 0.6, isGrave: false },
  /**
   * Most buyers sold within minutes: the crowd left, or was one person with many wallets. With many
   * wallets, one person avoids the other warnings, so this one suffices. It does not end a flare.
   */
  "quick-sellers": { bit: 128, weight: 1, isGrave: false },
  /** One wallet bought more than half of the dollars. */
  "one-buyer": { bit: 32, weight: 0.6, isGrave: false },
  /**
   * A few wallets, though not one alone, bought most of the dollars, again and again. Light,
   * because `repeat-buyers` often says the same.
   */
  "few-buyers": { bit: 16_384, weight: 0.3, isGrave: false },
  /** New wallets buy the same size at equal intervals, as a program does. */
  "equal-buyers": { bit: 32_768, weight: 0.5, isGrave: false },
  /** Half of the wallets that bought in the launch's first block have sold within minutes. */
  "first-sellers": { bit: 65_536, weight: 0.6, isGrave: false },
  /**
   * Most of a new token's liquidity can be withdrawn within the hour, and there is little of it. No
   * weight: many new tokens are like this. But one in seven was rugged within an hour of its
   * flare's start, so such a flare is not for `free`.
   */
  "unlocked-liquidity": { bit: 8192, weight: 0, isGrave: false },
  /** The contract's source is known to be unverified. Weak: true of most new tokens. */
  "unverified-source": { bit: 64, weight: 0.4, isGrave: false },
};
export type Warning = keyof typeof RULES;
export const WARNINGS: readonly Warning[] = Object.keys(RULES).filter(isWarning);
const NO_WARNINGS: readonly Warning[] = [];

function isWarning(name: string): name is Warning {
  return name in RULES;
}

/** A value has recovered at this multiple of the limit. Otherwise it could flap. */
const RECOVERY = 1.2;

export function createCanary() {
  return {
    /**
     * The active warnings, in the order of {@link WARNINGS}. `mask` is the same set, one bit per
     * warning.
     */
    warnings: NO_WARNINGS,
    mask: 0,
    isOn: false,
    /**
     * When `isOn` last changed. If it never has: when the token was first judged; -1 before that.
     */
    changedMs: -1,
    /**
     * Since when the total weight has been below 1, if the canary was ever on; stays after it turns
     * off. -1 while the weight is at least 1, or if the canary was never on.
     */
    calmSinceMs: -1,
    /** Since when many have bought and almost nobody has sold; -1 otherwise. */
    trapSinceMs: -1,
    /** Since when the price has been at a tenth of its peak or less; -1 otherwise. */
    collapsedSinceMs: -1,
  };
}
export type CanaryState = ReturnType<typeof createCanary>;

/**
 * Judges the token. Returns true if the canary turned on or off, or its warnings changed. Trade
 * sums must be decayed to `atMs`.
 */
export function judgeCanary(token: TokenState, atMs: number, settings: DetectorSettings): boolean {
  const { canary } = token;
  canary.trapSinceMs = sinceWhen(canary.trapSinceMs, looksLikeHoneypot(token, settings), atMs);
  canary.collapsedSinceMs = sinceWhen(canary.collapsedSinceMs, looksCollapsed(token, settings), atMs);
  const mask = maskOf(token, atMs, settings);
  const isSame = mask === canary.mask;
  if (!isSame) {
    canary.mask = mask;
    canary.warnings = WARNINGS.filter((warning) => mask & RULES[warning].bit);
  }
  const weight = mask === 0 ? 0 : canary.warnings.reduce((sum, warning) => sum + RULES[warning].weight, 0);
  const wasOn = canary.isOn;
  if (weight >= 1) {
    canary.isOn = true;
    canary.calmSinceMs = -1;
  } else if (canary.isOn) {
    if (canary.calmSinceMs < 0) canary.calmSinceMs = atMs;
    if (atMs - canary.calmSinceMs >= settings.canaryHoldMs) canary.isOn = false;
  }
  if (canary.isOn !== wasOn || canary.changedMs < 0) canary.changedMs = atMs;
  return !isSame || canary.isOn !== wasOn;
}

/** Returns whether a grave warning is active, which ends a flare at once. */
export function hasGraveWarning(canary: CanaryState): boolean {
  return canary.warnings.length > 0 && canary.warnings.some((warning) => RULES[warning].isGrave);
}

/** Returns whether most liquidity is missing, but perhaps only for a moment. */
export function hasPlunged({ mask }: Readonly<CanaryState>): boolean {
  return (mask & RULES["liquidity-plunged"].bit) !== 0;
}

function maskOf(token: TokenState, atMs: number, settings: DetectorSettings): number {
  const { trades, canary, level } = token;
  const { buys = 0, buyers = 0 } = token.window ?? {};
  let mask = 0;
  const loss = level.isLow ? lossOf(level, liquidityOf(token) ?? 0, atMs, settings) : "usual";
  if (loss !== "usual") mask |= RULES[`liquidity-${loss}`].bit;
  if (canary.trapSinceMs >= 0 && atMs - canary.trapSinceMs >= settings.trapMs) mask |= RULES["no-seller"].bit;
  if (canary.collapsedSinceMs >= 0) {
    const isLasting = atMs - canary.collapsedSinceMs >= settings.collapseMs;
    if (isLasting || isPriceOfDeepest(token)) mask |= RULES["price-collapsed"].bit;
  }
  if (hasFallen(token, settings)) mask |= RULES["price-fallen"].bit;
  if (trades && trades.longBuys >= settings.judgedBuys) mask |= buyersMask(trades, settings);
  if (trades) mask |= suspectsMask(token, trades, atMs, settings);
  if (buys >= settings.judgedBuys && buys > settings.buysPerBuyer * buyers)
    mask |= RULES["repeat-buyers"].bit;
  if (isUnsafe(token, atMs, settings)) mask |= RULES["unlocked-liquidity"].bit;
  if (token.profile.contractSource === "unverified") mask |= RULES["unverified-source"].bit;
  return mask;
}

function buyersMask(trades: TradeState, settings: DetectorSettings): number {
  let mask = 0;
  if (trades.longBuys > settings.buysPerBuyer * trades.longBuyers) mask |= RULES["repeat-buyers"].bit;
  if (trades.roundTripUsd > settings.roundTripShare * trades.longUsd) mask |= RULES["round-trips"].bit;
  if (sellsQuickly(trades, settings)) mask |= RULES["quick-sellers"].bit;
  if (trades.topBuyerUsd > settings.oneBuyerShare * trades.longBuyUsd) mask |= RULES["one-buyer"].bit;
  else if (isOfFew(trades, settings)) mask |= RULES["few-buyers"].bit;
  return mask;
}

/**
 * Judges by the effective number of buyers, the inverse of the Herfindahl index. Without repeated
 * purchases, a few large ones among a small crowd would count too.
 */
function isOfFew(trades: TradeState, settings: DetectorSettings): boolean {
  const { longBuyUsd, squareBuyUsd, longBuys, longBuyers } = trades;
  return longBuyUsd ** 2 < settings.fewBuyers * squareBuyUsd && longBuys > 2 * longBuyers;
}

/** Most tokens trade too little to be suspect. Their suspects are not fetched from memory. */
function suspectsMask(token: TokenState, trades: TradeState, atMs: number, settings: DetectorSettings) {
  const { suspects, sinceMs, longBuys, longBuyUsd, longSellers } = trades;
  const leastUsd = settings.suspectShare * longBuyUsd;
  const equal = longBuys < settings.equalBuyers ? 0 : equalBuyers(suspects, atMs, leastUsd);
  const mask = equal >= settings.equalBuyers ? RULES["equal-buyers"].bit : 0;
  if (longSellers < settings.firstSellers) return mask;
  const least = Math.max(settings.firstSellers, settings.firstSoldShare * suspects.first.length);
  if (firstSellers(suspects, atMs, leastUsd) < least) return mask;
  const listedMs = listedSince(token) ?? Number.NEGATIVE_INFINITY;
  return sinceMs - listedMs < HOUR_MS ? mask | RULES["first-sellers"].bit : mask;
}

/**
 * Judges the buyers beyond the usual, of half an hour and of the last five minutes by themselves,
 * so that earlier purchases by others cannot mask a crowd that sells quickly. Of the usual buyers,
 * many may be regulars or a bot, so the quick sellers must exceed them clearly.
 */
function sellsQuickly(trades: TradeState, settings: DetectorSettings): boolean {
  const { quickSellers, longBuyers, quickBuyers, buyers } = trades;
  const { usualQuickSellers, usualLongBuyers, usualQuickBuyers, usualBuyers } = trades;
  const recent = Math.max(2 * usualBuyers, buyers - usualBuyers, settings.judgedBuys / 2);
  const long = Math.max(2 * usualLongBuyers, longBuyers - usualLongBuyers, settings.judgedBuys);
  return (
    quickBuyers - usualQuickBuyers > settings.quickSellerShare * recent ||
    quickSellers - usualQuickSellers > settings.quickSellerShare * long
  );
}

/** Returns whether the running flare has lost a third of its first price or half of its highest. */
function hasFallen(token: TokenState, { fallenShare, outcomeCollapseShare }: DetectorSettings): boolean {
  const { flare, followed, price, priceScale, canary } = token;
  const running = flare === null ? undefined : followed?.findLast(({ end }) => end === null);
  if (!running || !(price > 0)) return false;
  const slack = (canary.mask & RULES["price-fallen"].bit) === 0 ? 1 : RECOVERY;
  const limit = Math.max(fallenShare * running.start.price, outcomeCollapseShare * running.peak.price);
  return price / priceScale <= slack * limit;
}

/** Returns whether a new token's liquidity may go, and is so little that somebody may take it. */
function isUnsafe(token: TokenState, atMs: number, { unlockedUsd }: DetectorSettings): boolean {
  const slack = (token.canary.mask & RULES["unlocked-liquidity"].bit) === 0 ? 1 : RECOVERY;
  return isUnlocked(token, atMs) && (liquidityOf(token) ?? 0) < slack * unlockedUsd;
}

/** Returns whether the warnings keep the running flare out of `free`. */
export function isUnfit({ isOn, mask }: Readonly<CanaryState>): boolean {
  return isOn || (mask & (RULES["price-fallen"].bit | RULES["unlocked-liquidity"].bit)) !== 0;
}

/** A price from a pool that no longer sets the price does not count. */
function looksCollapsed(token: TokenState, settings: DetectorSettings): boolean {
  if (token.mainPool !== "" && token.pricePool !== token.mainPool) return false;
  return token.price > 0 && token.price <= token.peak * settings.collapseShare;
}

function looksLikeHoneypot({ trades, window }: TokenState, settings: DetectorSettings): boolean {
  const buyers = trades?.longBuyers ?? window?.hourBuyers ?? 0;
  const sellers = trades?.longSellers ?? window?.hourSellers ?? 0;
  return buyers >= settings.trapBuyers && sellers < Math.max(1.5, settings.trapSellerShare * buyers);
}
