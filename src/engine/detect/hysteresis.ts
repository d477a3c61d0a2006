import { sinceWhen } from "../../base/lib/statistics.ts";
import type { FinishCause } from "../../base/model/index.ts";
import type { DetectorSettings } from "../settings.ts";
import type { Reading } from "./score.ts";

/*
 * Decides when a token's flare starts, surges and ends. The two thresholds are far apart, so that a
 * flare does not flap. A flare ends after some time below the lower one. It lasts for a minimum
 * duration, unless a grave warning ends it or its rise is given back. A cool-down follows, which
 * yields to stronger evidence. Theory: Page's CUSUM (1954) for the start, Kleinberg's two-state
 * burst automaton (2002) for the cost of changing state.
 */

export function createTrend() {
  return {
    startedMs: -1,
    /** Since when the score, the activity or the volume has been low: see {@link judge}. */
    lowSinceMs: -1,
    /**
     * No flare starts before this time, unless it is far stronger than the last. Infinity after a
     * reversal, until the burst ends as its flare would have.
     */
    coolUntilMs: -1,
    /** Consecutive judgments that met the start conditions. */
    ticks: 0,
    /** The score is above the finish threshold: the baselines learn slowly. */
    isHigh: false,
    /** Start or latest surge of the running or last flare. */
    surgedMs: -1,
    /** Number of surges of the running flare. */
    surges: 0,
    /** Highest strength of the flare by the time that another surge can be told from its growth. */
    strength: 0,
    /** When an exchange's seconds last met the start conditions. */
    quickMs: -1,
    /** Price before the flare's rise, and the highest that has stood since; 0 if unknown. */
    basePrice: 0,
    topPrice: 0,
    /** Since when the price has been above `topPrice`, and its lowest value since then. */
    higherSinceMs: -1,
    higherPrice: 0,
    /** Since when half of the rise has been lost. */
    lostSinceMs: -1,
  };
}

/** A token's flare state. Times are event time; -1 if unset. */
export type Trend = ReturnType<typeof createTrend>;

/** Inputs of a judgment besides the reading. */
export interface Circumstances {
  readonly atMs: number;
  readonly startScore: number;
  readonly startTicks: number;
  /** Minimum market-neutral log return at the start. */
  readonly startRise: number;
  /** The price, in a unit that changes of the pool do not move; 0 if unknown. */
  readonly price: number;
  /** Strength, as a multiple of the last, of a surge or of a start within the cool-down. */
  readonly strongerRatio: number;
  /** How long a price must have stood to be a top. */
  readonly topMs: number;
  /** False for quote tokens, and while normal values are unknown. Does not end a flare. */
  readonly mayStart: boolean;
  /** A grave warning ends the flare at once and prevents a start. */
  readonly hasGraveWarning: boolean;
  /** Most liquidity is missing, but not for long enough to be grave. */
  readonly hasPlunged: boolean;
  /**
   * Trading has almost stopped, or the score is too low to start. Ends a flare after its minimum
   * duration.
   */
  readonly isSilent: boolean;
  /**
   * The token's whole group is silent, so the token's state is unknown. Set only while a flare
   * runs.
   */
  readonly isGroupSilent: boolean;
}

export type Verdict = "start" | "surge" | "none" | FinishCause;

/**
 * Judges a token and updates its trend. A running flare is low while its score, its activity or its
 * volume is low. The score alone stays high long after a burst. Buyers who spend almost nothing are
 * cheap to fake, so volume must stay up too. The flare ends after `fadeMs` of being low, or when it
 * is silent. Silence of the whole group restarts that period. It also ends when half of its rise is
 * lost and stays lost.
 */
export function judge(
  trend: Trend,
  reading: Reading,
  now: Circumstances,
  settings: DetectorSettings,
): Verdict {
  const isLow = reading.score < settings.finishShare * now.startScore;
  trend.isHigh = !isLow;
  const isCalm = reading.activity <= settings.startActivity || reading.terms.volume.z < 0;
  const isOver = (isLow || isCalm) && !now.isGroupSilent;
  if (trend.startedMs < 0) {
    if (isBurst(trend) && isPast(trend, isOver, now, settings)) cool(trend, now.atMs, settings);
    return judgeStart(trend, reading, now, settings);
  }
  const end = judgeFinish(trend, isOver, now, settings);
  return end === "none" ? judgeSurge(trend, reading, now, settings) : end;
}

/**
 * Judges the seconds of a token of an exchange, besides {@link judge}. They start a flare or, while
 * one runs, are a surge if they meet the start conditions after a quiet time.
 */
export function judgeSeconds(
  trend: Trend,
  reading: Reading,
  now: Pick<Circumstances, "atMs" | "price" | "mayStart" | "hasGraveWarning">,
  settings: DetectorSettings,
): Verdict {
  const isReady =
    now.mayStart &&
    !now.hasGraveWarning &&
    reading.supported &&
    reading.score > settings.secondsStartScore &&
    reading.rise > settings.secondsStartRise;
  if (!isReady) return "none";
  const wasQuiet = trend.quickMs < 0 || now.atMs - trend.quickMs >= settings.secondsQuietMs;
  trend.quickMs = now.atMs;
  if (!wasQuiet) return "none";
  return trend.startedMs < 0 ? start(trend, reading, now) : surge(trend, reading, now);
}

/** Returns whether a burst goes on whose flare has ended, because its rise was given back. */
export function isBurst({ coolUntilMs }: Readonly<Trend>): boolean {
  return coolUntilMs === Number.POSITIVE_INFINITY;
}

function judgeStart(trend: Trend, reading: Reading, now: Circumstances, settings: DetectorSettings): Verdict {
  const hasCooled = now.atMs >= trend.coolUntilMs || reading.strength > now.strongerRatio * trend.strength;
  const isReady =
    now.mayStart &&
    !now.hasGraveWarning &&
    !now.isSilent &&
    hasCooled &&
    reading.supported &&
    reading.score > now.startScore &&
    reading.rise > now.startRise &&
    reading.activity > settings.startActivity &&
    (reading.terms.buyers.weight === 0 || reading.terms.buyers.raw >= settings.startBuyers);
  trend.ticks = isReady ? trend.ticks + 1 : 0;
  return trend.ticks < now.startTicks || !isReady ? "none" : start(trend, reading, now);
}

function start(trend: Trend, reading: Reading, now: Pick<Circumstances, "atMs" | "price">): Verdict {
  trend.startedMs = now.atMs;
  trend.topPrice = 0;
  trend.basePrice = now.price;
  trend.surges = 0;
  rise(trend, reading, now);
  return "start";
}

function surge(trend: Trend, reading: Reading, now: Pick<Circumstances, "atMs" | "price">): Verdict {
  trend.surges += 1;
  rise(trend, reading, now);
  return "surge";
}

/** Notes the price before a start's or surge's rise, and its strength. */
function rise(trend: Trend, reading: Reading, { atMs, price }: Pick<Circumstances, "atMs" | "price">): void {
  trend.surgedMs = atMs;
  trend.strength = reading.strength;
  trend.lowSinceMs = -1;
  const before = price * Math.exp(-Math.max(0, reading.rise));
  trend.topPrice = Math.max(trend.topPrice, price);
  // A small surge of a flare that has risen far does not make its fall a reversal.
  if (price - before >= (trend.topPrice - trend.basePrice) / 2) trend.basePrice = before;
  trend.higherSinceMs = -1;
  trend.lostSinceMs = -1;
}

function judgeSurge(trend: Trend, reading: Reading, now: Circumstances, settings: DetectorSettings): Verdict {
  if (now.atMs - trend.surgedMs < settings.surgeAfterMs) {
    trend.strength = Math.max(trend.strength, reading.strength);
    return "none";
  }
  const isStronger = reading.strength > now.strongerRatio * trend.strength;
  const isReady = isStronger && reading.supported && reading.score > now.startScore;
  return isReady && reading.rise > now.startRise ? surge(trend, reading, now) : "none";
}

function judgeFinish(
  trend: Trend,
  isOver: boolean,
  now: Circumstances,
  settings: DetectorSettings,
): FinishCause | "none" {
  if (now.hasGraveWarning) return finish(trend, now, settings, "canary");
  if (hasReversed(trend, now, settings))
    return finish(trend, now, settings, now.hasPlunged ? "canary" : "reversed");
  const hasFaded = isPast(trend, isOver, now, settings);
  if (now.atMs - trend.startedMs < settings.minimumFlareMs) return "none";
  if (now.isSilent) return finish(trend, now, settings, "silent");
  return hasFaded ? finish(trend, now, settings, "faded") : "none";
}

/** Notes whether the token is low. Returns whether it has been for long enough, or is silent. */
function isPast(trend: Trend, isOver: boolean, now: Circumstances, { fadeMs }: DetectorSettings): boolean {
  trend.lowSinceMs = sinceWhen(trend.lowSinceMs, isOver, now.atMs);
  return now.isSilent || (isOver && now.atMs - trend.lowSinceMs >= fadeMs);
}

function cool(trend: Trend, atMs: number, { coolDownMs }: DetectorSettings): void {
  trend.lowSinceMs = -1;
  trend.coolUntilMs = atMs + coolDownMs;
}

/** Raises the top to the lowest price of a time above it. A momentary price is no top. */
function noteTop(trend: Trend, { atMs, price, topMs }: Circumstances): void {
  if (price <= trend.topPrice) {
    trend.higherSinceMs = -1;
    return;
  }
  const isNew = trend.higherSinceMs < 0;
  trend.higherPrice = isNew ? price : Math.min(price, trend.higherPrice);
  if (isNew) trend.higherSinceMs = atMs;
  if (atMs - trend.higherSinceMs < topMs) return;
  trend.topPrice = trend.higherPrice;
  trend.higherSinceMs = price > trend.topPrice ? atMs : -1;
  trend.higherPrice = price;
}

/** Notes the price. Returns whether half of the rise has been lost for long enough. */
function hasReversed(trend: Trend, now: Circumstances, settings: DetectorSettings): boolean {
  const { atMs, price } = now;
  if (!(price > 0 && trend.basePrice > 0)) return false;
  noteTop(trend, now);
  const { basePrice, topPrice } = trend;
  const isRise = Math.log(topPrice / basePrice) >= settings.reversedRise;
  const isLost = isRise && topPrice - price >= settings.reversedShare * (topPrice - basePrice);
  trend.lostSinceMs = sinceWhen(trend.lostSinceMs, isLost, atMs);
  return isLost && atMs - trend.lostSinceMs >= settings.reversedMs;
}

/**
 * Returns the share of the rise that is lost at `price`: above 1 below the price before it; `null`
 * if a price is unknown.
 */
export function lostShare({ basePrice, topPrice }: Readonly<Trend>, price: number): number | null {
  if (!(price > 0 && basePrice > 0 && topPrice > basePrice)) return null;
  return Math.max(0, topPrice - price) / (topPrice - basePrice);
}

function finish(
  trend: Trend,
  now: Circumstances,
  settings: DetectorSettings,
  cause: FinishCause,
): FinishCause {
  trend.startedMs = -1;
  trend.ticks = 0;
  cool(trend, now.atMs, settings);
  if (cause === "reversed") trend.coolUntilMs = Number.POSITIVE_INFINITY;
  // An outage does not end a burst: the token may flare again at once.
  else if (cause === "silent" && now.isGroupSilent) trend.coolUntilMs = now.atMs;
  return cause;
}
