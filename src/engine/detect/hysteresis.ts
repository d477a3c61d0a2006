import type { FinishCause } from "../../base/model/index.ts";
import type { DetectorSettings } from "../settings.ts";
import type { Reading } from "./score.ts";

/*
 * Decides when a token's flare starts and ends. The two thresholds are far apart, so that a flare
 * does not flap. A flare ends after some time below the lower one. It lasts for a minimum duration,
 * unless a grave warning ends it. A cool-down follows. Theory: Page's CUSUM (1954) for the start,
 * Kleinberg's two-state burst automaton (2002) for the cost of changing state.
 */

/** A token's flare state. Times are event time; -1 if unset. */
export interface Trend {
  startedMs: number;
  /** Since when the score, the activity or the volume has been low: see {@link judge}. */
  lowSinceMs: number;
  /** No flare starts before this time. */
  coolUntilMs: number;
  /** Consecutive judgments that met the start conditions. */
  ticks: number;
  /** The score is above the finish threshold: the baselines learn slowly. */
  isHigh: boolean;
}

export function createTrend(): Trend {
  return { startedMs: -1, lowSinceMs: -1, coolUntilMs: -1, ticks: 0, isHigh: false };
}

/** Inputs of a judgment besides the reading. */
export interface Circumstances {
  readonly atMs: number;
  readonly startScore: number;
  readonly startTicks: number;
  /** Minimum market-neutral log return at the start. */
  readonly startRise: number;
  /** False for quote tokens, and while normal values are unknown. Does not end a flare. */
  readonly mayStart: boolean;
  /** A grave warning ends the flare at once and prevents a start. */
  readonly hasGraveWarning: boolean;
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

export type Verdict = "start" | "none" | FinishCause;

/**
 * Judges a token and updates its trend. A running flare is low while its score, its activity or its
 * volume is low. The score alone stays high long after a burst. Buyers who spend almost nothing are
 * cheap to fake, so volume must stay up too. The flare ends after `fadeMs` of being low, or when it
 * is silent. Silence of the whole group restarts that period.
 */
export function judge(
  trend: Trend,
  reading: Reading,
  now: Circumstances,
  settings: DetectorSettings,
): Verdict {
  const isLow = reading.score < settings.finishShare * now.startScore;
  trend.isHigh = !isLow;
  if (trend.startedMs < 0) return judgeStart(trend, reading, now, settings);
  const isCalm = reading.activity <= settings.startActivity || reading.terms.volume.z < 0;
  const isOver = (isLow || isCalm) && !now.isGroupSilent;
  return judgeFinish(trend, isOver, now, settings);
}

function judgeStart(trend: Trend, reading: Reading, now: Circumstances, settings: DetectorSettings): Verdict {
  const isReady =
    now.mayStart &&
    !now.hasGraveWarning &&
    !now.isSilent &&
    now.atMs >= trend.coolUntilMs &&
    reading.supported &&
    reading.score > now.startScore &&
    reading.rise > now.startRise &&
    reading.activity > settings.startActivity;
  trend.ticks = isReady ? trend.ticks + 1 : 0;
  if (trend.ticks < now.startTicks || !isReady) return "none";
  trend.startedMs = now.atMs;
  trend.lowSinceMs = -1;
  trend.ticks = 0;
  return "start";
}

function judgeFinish(trend: Trend, isOver: boolean, now: Circumstances, settings: DetectorSettings): Verdict {
  if (now.hasGraveWarning) return finish(trend, now, settings, "canary");
  if (!isOver) trend.lowSinceMs = -1;
  else if (trend.lowSinceMs < 0) trend.lowSinceMs = now.atMs;
  if (now.atMs - trend.startedMs < settings.minimumFlareMs) return "none";
  if (now.isSilent) return finish(trend, now, settings, "silent");
  const hasFaded = isOver && now.atMs - trend.lowSinceMs >= settings.fadeMs;
  return hasFaded ? finish(trend, now, settings, "faded") : "none";
}

function finish(
  trend: Trend,
  now: Circumstances,
  settings: DetectorSettings,
  cause: FinishCause,
): FinishCause {
  trend.startedMs = -1;
  trend.lowSinceMs = -1;
  trend.ticks = 0;
  // An outage does not end a burst: the token may flare again at once.
  const isCut = cause === "silent" && now.isGroupSilent;
  trend.coolUntilMs = isCut ? now.atMs : now.atMs + settings.coolDownMs;
  return cause;
}
