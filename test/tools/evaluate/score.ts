/**
 * A period of one pair, [startAt, endAt), in the unit of a {@link Grid}: an episode, or a flare
 * that a detector reported.
 */
export interface Span {
  readonly pair: string;
  readonly startAt: number;
  readonly endAt: number;
}

/** The unit of times. */
interface Grid {
  /** Units per minute. */
  readonly minute: number;
  /** Added to each delay, because a candle is known only at the end of its minute. */
  readonly step: number;
}

/** Minutes of candles. */
export const MINUTES: Grid = { minute: 1, step: 1 };
/** Milliseconds of event time. Delays are in milliseconds too. */
export const MILLISECONDS: Grid = { minute: 60_000, step: 0 };

/** One detector's score on the episodes of one class. */
export interface Score {
  /** Number of episodes, without those that began inside a running flare. */
  readonly n: number;
  /** Number of episodes excluded because the pair was already flaring. */
  readonly leftOut: number;
  /** Share of the episodes in which a flare started: recall for pumps, false alarms for decoys. */
  readonly fired: number;
  /**
   * Median and 90th percentile of the time from an episode's start to its flare's start, in the
   * grid's unit.
   */
  readonly delayP50: number;
  readonly delayP90: number;
  /**
   * Median and 90th percentile of the time from an episode's end to the finish of its flare; below
   * 0 if the flare ended first.
   */
  readonly endP50: number;
  readonly endP90: number;
  /** Further flares started within the episode and the hour after it, per episode that fired. */
  readonly flaps: number;
}

/** A flare counts for an episode if it starts within the episode or this many minutes after it. */
export const GRACE_MINUTES = 5;
const FLAP_MINUTES = 60;

/** Compares detected flares with injected episodes. */
export function scoreEpisodes(
  episodes: readonly Span[],
  detections: readonly Span[],
  grid: Grid = MINUTES,
): Score {
  const byPair = Map.groupBy(detections, ({ pair }) => pair);
  const delays: number[] = [];
  const ends: number[] = [];
  let leftOut = 0;
  let flaps = 0;
  for (const episode of episodes) {
    const own = byPair.get(episode.pair) ?? [];
    if (own.some(({ startAt, endAt }) => startAt < episode.startAt && endAt > episode.startAt)) {
      leftOut += 1;
      continue;
    }
    const flare = flareOf(episode, own, grid);
    if (!flare) continue;
    const first = flare.startAt;
    const starts = own.map(({ startAt }) => startAt).filter((at) => at >= episode.startAt);
    ends.push(flare.endAt - episode.endAt);
    delays.push(first - episode.startAt + grid.step);
    flaps += starts.filter((at) => at > first && at < episode.endAt + FLAP_MINUTES * grid.minute).length;
  }
  const n = episodes.length - leftOut;
  return {
    n,
    leftOut,
    fired: delays.length / Math.max(1, n),
    delayP50: quantile(delays, 0.5),
    delayP90: quantile(delays, 0.9),
    endP50: quantile(ends, 0.5),
    endP90: quantile(ends, 0.9),
    flaps: flaps / Math.max(1, delays.length),
  };
}

/**
 * Returns the first flare that started within the episode or the grace period after it. `flares`
 * are those of its pair, in the order of their starts.
 */
export function flareOf<Flare extends Pick<Span, "startAt">>(
  episode: Pick<Span, "startAt" | "endAt">,
  own: readonly Flare[],
  grid: Grid,
): Flare | undefined {
  const untilAt = episode.endAt + GRACE_MINUTES * grid.minute;
  return own.find(({ startAt }) => startAt >= episode.startAt && startAt < untilAt);
}

/** Returns the value below which `share` of the values lie; NaN if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Pools the scores of several seeds, weighted by their number of episodes. Delays are the median of
 * medians.
 */
export function poolScores(scores: readonly Score[]): Score {
  const n = scores.reduce((sum, score) => sum + score.n, 0);
  const mean = (pick: (score: Score) => number) =>
    scores.reduce((sum, score) => sum + pick(score) * score.n, 0) / Math.max(1, n);
  const median = (pick: (score: Score) => number) => {
    const sorted = scores.map(pick).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  };
  return {
    n,
    leftOut: scores.reduce((sum, score) => sum + score.leftOut, 0),
    fired: mean((score) => score.fired),
    delayP50: median((score) => score.delayP50),
    delayP90: median((score) => score.delayP90),
    endP50: median((score) => score.endP50),
    endP90: median((score) => score.endP90),
    flaps: mean((score) => score.flaps),
  };
}
