/**
 * A stretch of one pair's time: an episode, or a flare as a detector saw it. [startAt, endAt), in
 * the unit of a {@link Grid}.
 */
export interface Span {
  readonly pair: string;
  readonly startAt: number;
  readonly endAt: number;
}

/** The unit that times are counted in. */
interface Grid {
  /** Units a minute. */
  readonly minute: number;
  /** What is added to a delay, since what is seen within a unit is known at its end. */
  readonly step: number;
}

/** Minutes of candles. */
export const MINUTES: Grid = { minute: 1, step: 1 };
/** Milliseconds of event time; delays come out in milliseconds. */
export const MILLISECONDS: Grid = { minute: 60_000, step: 0 };

/** How a detector did on the episodes of one class. */
export interface Score {
  /** Episodes counted; those that began inside a running flare are not among them. */
  readonly n: number;
  /** Episodes left out, because the pair was already flaring. */
  readonly leftOut: number;
  /**
   * Share of the episodes in which a flare started: recall for pumps, decoys fired for the others.
   */
  readonly fired: number;
  /**
   * Median and 90th percentile of the time from an episode's start to its flare's, in the grid's
   * unit.
   */
  readonly delayP50: number;
  readonly delayP90: number;
  /**
   * Median and 90th percentile of the time from an episode's end to the finish of its flare; below
   * 0 where the flare ended first.
   */
  readonly endP50: number;
  readonly endP90: number;
  /** Further flares started within the episode and the hour after it, per episode that fired. */
  readonly flaps: number;
}

/** A flare counts for an episode when it starts within the episode or this many minutes after. */
export const GRACE_MINUTES = 5;
const FLAP_MINUTES = 60;

/** Compares what was detected with what was injected. */
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
 * The first flare that started within the episode or the minutes of grace after it, of those of its
 * pair, ordered by their starts.
 */
export function flareOf<Flare extends Pick<Span, "startAt">>(
  episode: Pick<Span, "startAt" | "endAt">,
  own: readonly Flare[],
  grid: Grid,
): Flare | undefined {
  const untilAt = episode.endAt + GRACE_MINUTES * grid.minute;
  return own.find(({ startAt }) => startAt >= episode.startAt && startAt < untilAt);
}

/** The value below which `share` of the values lie; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Pools the scores of several seeds, weighted by their episodes; delays by the median of medians.
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
