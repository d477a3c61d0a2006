import type { FinishCause } from "../model/index.ts";
import type { Reading } from "./score.ts";
import type { DetectorSettings } from "./settings.ts";

/*
 * When a token starts to flare and when it stops: two thresholds far apart, a time below the lower one, a least duration and a
 * cool-down. The theory: Page's CUSUM (1954) for the start, Kleinberg's two-state burst automaton (2002) for paying to change state.
 */

/** Where a token stands. Times are event time; -1: not so. */
export interface Trend {
  /** Start of the running flare. */
  startedMs: number;
  /** Since when the score has stayed below the finish threshold. */
  lowSinceMs: number;
  /** No start before. */
  coolUntilMs: number;
  /** Judgements in a row that satisfied the start's conditions. */
  ticks: number;
  /** The score is above the finish threshold: the baselines learn slowly. */
  isHigh: boolean;
}

/** A token that does not flare and never did. */
export function createTrend(): Trend {
  return { startedMs: -1, lowSinceMs: -1, coolUntilMs: -1, ticks: 0, isHigh: false };
}

/** What a judgement needs to know beside the reading. */
export interface Circumstances {
  readonly atMs: number;
  readonly startScore: number;
  readonly startTicks: number;
  /** False for tokens that may not start: quote tokens, too young ones. A running flare of one that may not flare at all fades. */
  readonly mayStart: boolean;
  /** A warning so grave that the flare ends at once, and none starts. */
  readonly isDangerous: boolean;
  /** When the token's market last did anything. */
  readonly lastMarketMs: number;
}

/** What a judgement came to. */
export type Verdict = "start" | "none" | FinishCause;

/** Judges a token and moves its trend. */
export function judge(
  trend: Trend,
  reading: Reading,
  now: Circumstances,
  settings: DetectorSettings,
): Verdict {
  const isLow = reading.score < settings.finishShare * now.startScore;
  trend.isHigh = !isLow;
  return trend.startedMs < 0
    ? judgeStart(trend, reading, now, settings)
    : judgeFinish(trend, isLow, now, settings);
}

function judgeStart(trend: Trend, reading: Reading, now: Circumstances, settings: DetectorSettings): Verdict {
  const isReady =
    now.mayStart &&
    !now.isDangerous &&
    now.atMs >= trend.coolUntilMs &&
    reading.supported &&
    reading.score > now.startScore &&
    reading.rise > settings.startRise &&
    reading.activity > settings.startActivity;
  trend.ticks = isReady ? trend.ticks + 1 : 0;
  if (trend.ticks < now.startTicks || !isReady) return "none";
  trend.startedMs = now.atMs;
  trend.lowSinceMs = -1;
  trend.ticks = 0;
  return "start";
}

function judgeFinish(trend: Trend, isLow: boolean, now: Circumstances, settings: DetectorSettings): Verdict {
  if (now.isDangerous) return finish(trend, now, settings, "canary");
  if (!isLow) {
    trend.lowSinceMs = -1;
    return "none";
  }
  if (trend.lowSinceMs < 0) trend.lowSinceMs = now.atMs;
  const hasFaded = now.atMs - trend.lowSinceMs >= settings.fadeMs;
  if (!hasFaded || now.atMs - trend.startedMs < settings.minimumFlareMs) return "none";
  const isSilent = now.atMs - now.lastMarketMs >= settings.silentMs;
  return finish(trend, now, settings, isSilent ? "silent" : "faded");
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
  trend.coolUntilMs = now.atMs + settings.coolDownMs;
  return cause;
}
