import { roundTo } from "../../base/lib/statistics.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import {
  type Explanation,
  type FinishCause,
  OUTCOME_MINUTES,
  type OutcomeStart,
} from "../../base/model/index.ts";
import type { FlareStart } from "../odds-book.ts";

/*
 * The numbers behind a flare's outcome, each updated in constant time. Prices are in the unit of
 * `Detector.knownPrice`; an unknown price is 0.
 */

/** A price that was measured, with the feed's decimal string. */
export interface PricePoint {
  readonly price: number;
  readonly text: string;
  readonly atMs: number;
}

/** A flare from its start until its outcome is final. */
export interface FollowedFlare {
  readonly id: string;
  readonly startedMs: number;
  readonly start: PricePoint;
  /** What was known at the start; empty if an older version recorded the start. */
  readonly known: Partial<OutcomeStart>;
  peak: PricePoint;
  /**
   * Changes since the start in percent, at each of OUTCOME_MINUTES that has passed; `null` if
   * unknown.
   */
  readonly changes: (number | null)[];
  /** The same changes minus the group's median change; `null` if either is unknown. */
  readonly relativeChanges: (number | null)[];
  /** Since when the price has been far below the peak; -1 while it is not. */
  lowSinceMs: number;
  /**
   * How long the canary had been on at that moment; 0 if it was off. Unused while there is none.
   */
  lowCanaryMs: number;
  /** The `lowSinceMs` of the first fall that lasted until the end of a minute; -1 before. */
  collapsedMs: number;
  /** The `lowCanaryMs` of that fall; -1 before. */
  collapsedCanaryMs: number;
  /** Absent if an older version recorded the start. */
  readonly holding?: Holding;
  end: FlareEnd | null;
}

/** A purchase at the start, valued at the last price, however old. */
interface Holding {
  readonly asked: FlareStart;
  /** The odds at the start; `undefined` without a book of odds. */
  readonly odds: Explanation["odds"];
  /** When the liquidity was found to be removed; -1 before. From then on it is worth nothing. */
  ruggedMs: number;
  /** Lowest price of the first 15 minutes. */
  lowest: number;
  /** Changes in percent at each of OUTCOME_MINUTES that has passed, then at the end. */
  readonly changes: (number | null)[];
  endChange: number | null;
}

/** A moment after which a token's price changes are measured like those after a flare's start. */
interface ControlMoment {
  readonly startedMs: number;
  /** The price at that moment, always above 0. */
  readonly start: { readonly price: number };
  /** See {@link FollowedFlare.changes}. */
  readonly changes: (number | null)[];
}

/** A token's control moments of the last day, oldest first. */
export interface ControlMoments {
  /** Time of the next control moment; -1 before the first step. */
  nextMs: number;
  /** When to measure next, for a new moment or a change after one. */
  dueMs: number;
  moments: ControlMoment[];
}

export function createControl(): ControlMoments {
  return { nextMs: -1, dueMs: -1, moments: [] };
}

export interface FlareEnd {
  readonly point: PricePoint;
  readonly cause: FinishCause;
  /** Share of the rise that was lost at the end; `null` if unknown. */
  readonly lost: number | null;
}

/** If the ratio of two prices or its inverse is larger, their units differ: see `rescalePrices`. */
const MAX_RATIO = 1e6;
const DECIMALS = 2;

export function followFlare(
  id: string,
  start: PricePoint,
  known: OutcomeStart,
  given: Pick<Holding, "asked" | "odds">,
): FollowedFlare {
  return {
    id,
    startedMs: start.atMs,
    start,
    known,
    peak: start,
    changes: [],
    relativeChanges: [],
    lowSinceMs: -1,
    lowCanaryMs: -1,
    collapsedMs: -1,
    collapsedCanaryMs: -1,
    holding: { ...given, ruggedMs: -1, lowest: start.price, changes: [], endChange: null },
    end: null,
  };
}

/**
 * Returns the ratio of the price to the starting one; 0 if either is unknown or their units differ.
 */
export function ratioFrom(start: { readonly price: number }, price: number): number {
  const ratio = start.price > 0 ? price / start.price : 0;
  return ratio > 1 / MAX_RATIO && ratio < MAX_RATIO ? ratio : 0;
}

/** Returns the change since the start in percent; `null` if it is unknown. */
export function changeFrom(start: { readonly price: number }, price: number): number | null {
  const ratio = ratioFrom(start, price);
  return ratio > 0 ? toPercent(ratio - 1) : null;
}

/** Returns what the purchase at the start has gained in percent; `null` if it is unknown. */
export function heldChange({ start, holding }: FollowedFlare, price: number): number | null {
  return holding && holding.ruggedMs >= 0 ? -100 : changeFrom(start, price);
}

/** Records the lowest price of the first 15 minutes, and whether the liquidity was removed. */
export function noteDanger(
  { start, startedMs, holding }: FollowedFlare,
  price: number,
  isRemoved: boolean,
  atMs: number,
): void {
  if (!holding) return;
  const minutes = (atMs - startedMs) / MINUTE_MS;
  if (minutes <= OUTCOME_MINUTES[1] && ratioFrom(start, price) > 0)
    holding.lowest = Math.min(holding.lowest, price);
  if (isRemoved && holding.ruggedMs < 0) holding.ruggedMs = atMs;
}

export function toPercent(share: number): number {
  return roundTo(share * 100, DECIMALS);
}

type Measured = Pick<FollowedFlare, "changes" | "startedMs">;

/** Returns which of OUTCOME_MINUTES is to be measured now; `undefined` if none. */
export function dueMinutes(measured: Measured, atMs: number): (typeof OUTCOME_MINUTES)[number] | undefined {
  return dueMs(measured) <= atMs ? OUTCOME_MINUTES[measured.changes.length] : undefined;
}

/** Returns when the next of OUTCOME_MINUTES is to be measured; Infinity after the last. */
export function dueMs({ changes, startedMs }: Measured): number {
  return startedMs + (OUTCOME_MINUTES[changes.length] ?? Number.POSITIVE_INFINITY) * MINUTE_MS;
}

export function raisePeak(followed: FollowedFlare, point: PricePoint): void {
  const isComparable = followed.start.price === 0 || ratioFrom(followed.start, point.price) > 0;
  if (isComparable && point.price > followed.peak.price) followed.peak = point;
}

/** Records since when the price has been at most `share` of the peak. Call it at each judgment. */
export function noteFall(
  followed: FollowedFlare,
  price: number,
  atMs: number,
  canaryMs: number,
  share: number,
): void {
  const isLow = price > 0 && price <= followed.peak.price * share;
  if (!isLow) followed.lowSinceMs = -1;
  else if (followed.lowSinceMs < 0) {
    followed.lowSinceMs = atMs;
    followed.lowCanaryMs = canaryMs;
  }
}

/**
 * Records a collapse if the price is still low at the end of a minute. A fall within a minute may
 * be a single trade.
 */
export function confirmCollapse(followed: FollowedFlare): void {
  if (followed.collapsedMs >= 0 || followed.lowSinceMs < 0) return;
  followed.collapsedMs = followed.lowSinceMs;
  followed.collapsedCanaryMs = followed.lowCanaryMs;
}
