import { assertNever } from "../../lib/assert-never.ts";
import type { DetectorSettings } from "../settings.ts";
import type { TokenState } from "../state/token-state.ts";
import { isRemoved } from "./liquidity-level.ts";
import { isPriceOfDeepest, liquidityOf } from "./pools.ts";
import type { TradeState } from "./trade-detector.ts";

/*
 * Judges whether a token looks dangerous. A grave warning is enough by itself; of the others it
 * takes two. Only what the feed supports counts.
 */

/** The canary's warnings, as named in explanations. */
const WARNINGS = [
  /** At least half of the liquidity of the last hours is missing and stays missing. Grave. */
  "liquidity-removed",
  /**
   * For some minutes many have bought and almost nobody has sold: selling may be impossible. Grave.
   */
  "no-seller",
  /** The price lost nine tenths within an hour. Grave. */
  "price-collapsed",
  /** More than three purchases per buyer. */
  "repeat-buyers",
  /** A large part of the trading goes back and forth between the same wallets. */
  "round-trips",
  /** One wallet bought more than half. */
  "one-buyer",
  /** The contract's source is known to be unverified. Weak: true of most new tokens. */
  "unverified-source",
] as const;
export type Warning = (typeof WARNINGS)[number];

const GRAVE: readonly Warning[] = ["liquidity-removed", "no-seller", "price-collapsed"];
const WEIGHTS: Readonly<Record<Warning, number>> = {
  "liquidity-removed": 1,
  "no-seller": 1,
  "price-collapsed": 1,
  "repeat-buyers": 0.6,
  "round-trips": 0.6,
  "one-buyer": 0.6,
  "unverified-source": 0.4,
};

export interface CanaryState {
  /** The active warnings; in `mask` as bits, in the order of {@link WARNINGS}. */
  warnings: readonly Warning[];
  mask: number;
  isOn: boolean;
  /** When that last changed, or was first judged; -1 before. */
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
  canary.trapSinceMs = sinceWhen(canary.trapSinceMs, looksLikeTrap(token.trades, settings), atMs);
  canary.collapsedSinceMs = sinceWhen(canary.collapsedSinceMs, looksCollapsed(token, settings), atMs);
  const mask = maskOf(token, atMs, settings);
  const isSame = mask === canary.mask;
  if (!isSame) {
    canary.mask = mask;
    canary.warnings = WARNINGS.filter((_, index) => mask & (1 << index));
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
  let mask = 0;
  for (let index = 0; index < WARNINGS.length; index++) {
    const warning = WARNINGS[index];
    if (warning && holds(token, warning, atMs, settings)) mask |= 1 << index;
  }
  return mask;
}

function holds(token: TokenState, warning: Warning, atMs: number, settings: DetectorSettings): boolean {
  const { trades, canary } = token;
  switch (warning) {
    case "no-seller":
      return canary.trapSinceMs >= 0 && atMs - canary.trapSinceMs >= settings.trapMs;
    case "liquidity-removed":
      return token.level.isLow && isRemoved(token.level, liquidityOf(token) ?? 0, atMs, settings);
    case "price-collapsed":
      return (
        canary.collapsedSinceMs >= 0 &&
        (isPriceOfDeepest(token) || atMs - canary.collapsedSinceMs >= settings.collapseMs)
      );
    case "unverified-source":
      return token.profile.contractSource === "unverified";
    case "repeat-buyers":
    case "round-trips":
    case "one-buyer":
      return trades !== null && holdsOfTrades(trades, warning, settings);
    default:
      return assertNever(warning);
  }
}

function sinceWhen(beforeMs: number, isSo: boolean, atMs: number): number {
  if (!isSo) return -1;
  return beforeMs < 0 ? atMs : beforeMs;
}

/** The old price of a pool that no longer sets the price is no collapse. */
function looksCollapsed(token: TokenState, settings: DetectorSettings): boolean {
  if (token.mainPool !== "" && token.pricePool !== token.mainPool) return false;
  return token.price > 0 && token.price <= token.peak * settings.collapseShare;
}

function looksLikeTrap(trades: TradeState | null, settings: DetectorSettings): boolean {
  if (!trades || trades.longBuyers < settings.trapBuyers) return false;
  return trades.longSellers < Math.max(1.5, settings.trapSellerShare * trades.longBuyers);
}

function holdsOfTrades(
  trades: TradeState,
  warning: "repeat-buyers" | "round-trips" | "one-buyer",
  settings: DetectorSettings,
): boolean {
  switch (warning) {
    case "repeat-buyers":
      return (
        trades.longBuys >= settings.judgedBuys && trades.longBuys > settings.buysPerBuyer * trades.longBuyers
      );
    case "round-trips":
      return (
        trades.longBuys >= settings.judgedBuys &&
        trades.roundTripUsd > settings.roundTripShare * trades.longUsd
      );
    case "one-buyer":
      return (
        trades.longBuys >= settings.judgedBuys &&
        trades.topBuyerUsd > settings.oneBuyerShare * trades.longBuyUsd
      );
  }
}
