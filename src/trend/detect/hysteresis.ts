import type { FinishCause } from "../../model/index.ts";
import type { DetectorSettings } from "../settings.ts";
import type { Reading } from "./score.ts";

/*
 * When a token starts to flare and when it stops: two thresholds far apart, a time below the lower one, a least duration and a
 * cool-down. The theory: Page's CUSUM (1954) for the start, Kleinberg's two-state burst automaton (2002) for paying to change state.
 */

/** Where a token stands. Times are event time; -1: not so. */
export interface Trend {
  /** Start of the running flare. */
  startedMs: number;
  /** Since when the score has stayed below the finish threshold, or the burst has been over. */
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
  /** Least market-neutral log return at the start. */
  readonly startRise: number;
  /** False for tokens that may not start: quote tokens, too young ones. A running flare of one that may not flare at all fades. */
  readonly mayStart: boolean;
  /** A warning so grave that the flare ends at once, and none starts. */
  readonly isDangerous: boolean;
  /** Hardly anybody trades any more, whatever the terms remember: none starts, and a running flare ends. */
  readonly isSilent: boolean;
  /** Nothing is heard of the token's whole group: what it does meanwhile is not known. */
  readonly isUnheard: boolean;
}

/** What a judgement came to. */
export type Verdict = "start" | "none" | FinishCause;

/**
 * Judges a token and moves its trend. A flare is low while its score is below the finish threshold, and
 * also while its activity does not satisfy the start's condition, or its volume is below the usual: the price
 * remembers a burst long after it is over, and heads are cheap where they spend nothing. It ends when it has
 * been low for `fadeMs`, or as soon as it is silent. Time in which nothing was heard does not count.
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
  const isOver = (isLow || isCalm) && !now.isUnheard;
  return judgeFinish(trend, isOver, now, settings);
}

function judgeStart(trend: Trend, reading: Reading, now: Circumstances, settings: DetectorSettings): Verdict {
  const isReady =
    now.mayStart &&
    !now.isDangerous &&
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
  if (now.isDangerous) return finish(trend, now, settings, "canary");
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
  // An outage ends no burst: the flare may go on as another.
  const isCut = cause === "silent" && now.isUnheard;
  trend.coolUntilMs = isCut ? now.atMs : now.atMs + settings.coolDownMs;
  return cause;
}
