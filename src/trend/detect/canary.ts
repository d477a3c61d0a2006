import type { DetectorSettings } from "../settings.ts";
import type { TokenState } from "../state/token-state.ts";
import type { TradeState } from "./forms/trade-detector.ts";
import type { WindowState } from "./forms/window-detector.ts";
import { isRemoved } from "./liquidity-level.ts";
import { isPriceOfDeepest, liquidityOf } from "./pools.ts";

/*
 * Judges whether a token looks dangerous. A grave warning is enough by itself, and so are quick
 * sellers; of the others, two are needed. Only what the feed supports counts.
 */

/** The canary's warnings, as named in explanations. */
export const WARNINGS = [
  /** At least half of the liquidity of the last hours is missing and stays missing. Grave. */
  "liquidity-removed",
  /** For some minutes many bought and almost nobody sold: perhaps nobody can. Grave. */
  "no-seller",
  /** The price lost nine tenths within an hour. Grave. */
  "price-collapsed",
  /** More than three purchases per buyer. */
  "repeat-buyers",
  /** A large part of the trading goes back and forth between the same wallets. */
  "round-trips",
  /**
   * Most buyers sold within minutes: the crowd left, or was one person with many wallets. The same
   * money can pass through any number of wallets, so this warning is enough by itself. It does not
   * end a flare.
   */
  "quick-sellers",
  /** One wallet bought more than half of the dollars. */
  "one-buyer",
  /** The contract's source is known to be unverified. Weak: true of most new tokens. */
  "unverified-source",
] as const;
export type Warning = (typeof WARNINGS)[number];

/** Each warning's bit in {@link CanaryState.mask}. */
const BITS: Readonly<Record<Warning, number>> = {
  "liquidity-removed": 1,
  "no-seller": 2,
  "price-collapsed": 4,
  "repeat-buyers": 8,
  "round-trips": 16,
  "one-buyer": 32,
  "unverified-source": 64,
  "quick-sellers": 128,
};
const GRAVE: readonly Warning[] = ["liquidity-removed", "no-seller", "price-collapsed"];
const WEIGHTS: Readonly<Record<Warning, number>> = {
  "liquidity-removed": 1,
  "no-seller": 1,
  "price-collapsed": 1,
  "repeat-buyers": 0.6,
  "round-trips": 0.6,
  "quick-sellers": 1,
  "one-buyer": 0.6,
  "unverified-source": 0.4,
};

export interface CanaryState {
  /** The active warnings, in the order of {@link WARNINGS}, and in `mask` as {@link BITS}. */
  warnings: readonly Warning[];
  mask: number;
  isOn: boolean;
  /** When `isOn` last changed, or was first judged; -1 before. */
  changedMs: number;
  /** Since when the warnings have been too few, while the canary is still on; -1 otherwise. */
  calmSinceMs: number;
  /** Since when many have bought and almost nobody has sold; -1 otherwise. */
  trapSinceMs: number;
  /** Since when the price has been at a tenth of its peak or less; -1 while it is higher. */
  collapsedSinceMs: number;
}

export function createCanary(): CanaryState {
  return {
    warnings: [],
    mask: 0,
    isOn: false,
    changedMs: -1,
    calmSinceMs: -1,
    trapSinceMs: -1,
    collapsedSinceMs: -1,
  };
}

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
    canary.warnings = WARNINGS.filter((warning) => mask & BITS[warning]);
  }
  const weight = mask === 0 ? 0 : canary.warnings.reduce((sum, warning) => sum + WEIGHTS[warning], 0);
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
export function isDangerous(canary: CanaryState): boolean {
  return canary.warnings.length > 0 && canary.warnings.some((warning) => GRAVE.includes(warning));
}

function maskOf(token: TokenState, atMs: number, settings: DetectorSettings): number {
  const { trades, window, canary, level } = token;
  let mask = 0;
  if (level.isLow && isRemoved(level, liquidityOf(token) ?? 0, atMs, settings)) {
    mask |= BITS["liquidity-removed"];
  }
  if (canary.trapSinceMs >= 0 && atMs - canary.trapSinceMs >= settings.trapMs) mask |= BITS["no-seller"];
  if (canary.collapsedSinceMs >= 0) {
    const isLasting = atMs - canary.collapsedSinceMs >= settings.collapseMs;
    if (isLasting || isPriceOfDeepest(token)) mask |= BITS["price-collapsed"];
  }
  if (trades && trades.longBuys >= settings.judgedBuys) mask |= buyersMask(trades, settings);
  if (window && repeatsItself(window, settings)) mask |= BITS["repeat-buyers"];
  if (token.profile.contractSource === "unverified") mask |= BITS["unverified-source"];
  return mask;
}

function buyersMask(trades: TradeState, settings: DetectorSettings): number {
  let mask = 0;
  if (trades.longBuys > settings.buysPerBuyer * trades.longBuyers) mask |= BITS["repeat-buyers"];
  if (trades.roundTripUsd > settings.roundTripShare * trades.longUsd) mask |= BITS["round-trips"];
  if (sellsQuickly(trades, settings)) mask |= BITS["quick-sellers"];
  if (trades.topBuyerUsd > settings.oneBuyerShare * trades.longBuyUsd) mask |= BITS["one-buyer"];
  return mask;
}

/**
 * Judges the last five minutes alone too, so that earlier purchases by others cannot mask a crowd
 * that sells quickly.
 */
function sellsQuickly(trades: TradeState, { quickSellerShare, judgedBuys }: DetectorSettings): boolean {
  const { quickSellers, longBuyers, quickBuyers, buyers } = trades;
  const isRecent = quickBuyers > quickSellerShare * Math.max(buyers, judgedBuys / 2);
  return isRecent || quickSellers > quickSellerShare * longBuyers;
}

function sinceWhen(beforeMs: number, isTrue: boolean, atMs: number): number {
  if (!isTrue) return -1;
  return beforeMs < 0 ? atMs : beforeMs;
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

/** Returns whether the buyers in an aggregator's last five minutes bought repeatedly. */
function repeatsItself({ buys, buyers }: WindowState, settings: DetectorSettings): boolean {
  return buys >= settings.judgedBuys && buys > settings.buysPerBuyer * buyers;
}
