import { FINISH_CAUSES, type FinishCause } from "../../../src/base/model/index.ts";
import { DEFAULT_SETTINGS, type DetectorSettings } from "../../../src/engine/index.ts";
import { type Detection, type Detector, engineDetector, priceRule, volumeRule } from "./detectors.ts";
import { CLASSES, type InjectedClass, type InjectedMarket, inject } from "./injection.ts";
import { type Followed, measureOutcomes, type OutcomeRow } from "./outcomes.ts";
import { createRandom } from "./random.ts";
import { flareOf, MINUTES, poolScores, quantile, type Score, scoreEpisodes } from "./score.ts";
import type { Market } from "./series.ts";
import { matchRate } from "./thresholds.ts";

/** One detector's results on the candles. */
export interface CandleRow {
  readonly detector: string;
  /**
   * Flares per pair and day on the unchanged recording: in the scored half, and in the half on
   * which thresholds are chosen.
   */
  readonly naturalPerPairDay: number;
  readonly naturalWhereTuned: number;
  readonly scores: Readonly<Record<InjectedClass, Score>>;
  /** Median share of the move that is still ahead when the flare starts; NaN for decoys. */
  readonly ahead: Readonly<Record<InjectedClass, number>>;
  /** Numbers of ends by cause, for the flares of all pumps and for natural ones. */
  readonly ends: { readonly pumps: EndCounts; readonly natural: EndCounts };
  /**
   * Price changes after the flares of each class and after natural ones, each beside random
   * moments.
   */
  readonly outcomes: readonly OutcomeRow[];
}

/** Numbers of flares that ended by each cause. Running flares are not counted. */
export type EndCounts = Readonly<Partial<Record<FinishCause, number>>>;

/** The market, half and seeds to score. */
export interface CandlePlan {
  readonly market: Market;
  readonly half: "first" | "second";
  readonly seeds: readonly number[];
}

const MINUTES_A_DAY = 1_440;
const RULE_RANGE = { low: 1.05, high: 200, steps: 12 };
/** Other weights and minimum rises, each at several start scores. */
const CURVES: readonly {
  readonly name: string;
  readonly settings: Partial<DetectorSettings>;
  readonly scores: readonly number[];
}[] = [
  { name: "now", settings: {}, scores: [1.95, 2.11, 2.3] },
  { name: "a rise of 2.5 %", settings: { candleStartRise: 0.025 }, scores: [1.95, 2.11, 2.3] },
  {
    name: "weights as fitted",
    settings: { candleWeights: { price: 0.17, volume: 0.1, flow: 0.73 } },
    scores: [2, 2.15, 2.3],
  },
  {
    name: "more for the price",
    settings: { candleWeights: { price: 0.5, volume: 0.2, flow: 0.3 } },
    scores: [2, 2.15, 2.3],
  },
];
const SCORE_RANGE = { low: 0.5, high: 6, steps: 7 };

/**
 * Scores Flarewire and, with `rules`, the two plain rules: with their usual thresholds, and with
 * those that give Flarewire's natural rate on the first half.
 */
export function evaluateCandles(plan: CandlePlan, rules = true): readonly CandleRow[] {
  const own = evaluateDetector("Flarewire", engineDetector(), plan);
  if (!rules) return [own];
  const equal = (rule: (threshold: number) => Detector) =>
    matchRate(own.naturalWhereTuned, RULE_RANGE, (threshold) => tunedRate(rule(threshold), plan.market));
  const percent = equal(priceRule);
  const factor = equal(volumeRule);
  return [
    own,
    evaluateDetector("price +8 % in 15 min", priceRule(8), plan),
    evaluateDetector(`price +${percent.toFixed(1)} % in 15 min (equal rate)`, priceRule(percent), plan),
    evaluateDetector("volume × 8 in 5 min", volumeRule(8), plan),
    evaluateDetector(`volume × ${factor.toFixed(1)} in 5 min (equal rate)`, volumeRule(factor), plan),
  ];
}

/**
 * Scores the engine without each of its terms (weight 0). The start score is chosen again on the
 * first half, for an equal natural rate.
 */
export function ablateCandles(plan: CandlePlan): readonly CandleRow[] {
  const target = tunedRate(engineDetector(), plan.market);
  const terms = ["price", "volume", "flow"] as const;
  return terms.map((term) => {
    const settingsAt = (candleStartScore: number): Partial<DetectorSettings> => ({
      candleStartScore,
      candleWeights: { ...DEFAULT_SETTINGS.candleWeights, [term]: 0 },
    });
    const score = matchRate(target, SCORE_RANGE, (start) =>
      tunedRate(engineDetector(settingsAt(start)), plan.market),
    );
    return evaluateDetector(
      `without ${term} (start score ${score.toFixed(2)})`,
      engineDetector(settingsAt(score)),
      plan,
    );
  });
}

/**
 * Scores the engine at several start scores, also with other weights. This shows how many natural
 * flares more recall and earlier starts cost.
 */
export function traceCandles(plan: CandlePlan): readonly CandleRow[] {
  return CURVES.flatMap(({ name, settings, scores }) =>
    scores.map((candleStartScore) =>
      evaluateDetector(
        `${name}, start score ${candleStartScore}`,
        engineDetector({ ...settings, candleStartScore }),
        plan,
      ),
    ),
  );
}

/** Returns the minutes of a half. The first half omits a day of warm-up. */
export function minutesOf(market: Market, half: "first" | "second"): readonly [number, number] {
  const middle = Math.floor(market.minutes / 2);
  return half === "first" ? [Math.min(MINUTES_A_DAY, middle), middle] : [middle, market.minutes];
}

export function evaluateDetector(name: string, detector: Detector, plan: CandlePlan): CandleRow {
  const [from, to] = minutesOf(plan.market, plan.half);
  const aheads = new Map<InjectedClass, number>();
  const natural = detector(plan.market, from, to);
  const followed = followedOf("natural", natural);
  const ofPumps: Detection[] = [];
  const scoreOf = (kind: InjectedClass) => {
    const shares: number[] = [];
    const scores = plan.seeds.map((seed) => {
      const injected = inject(plan.market, kind, from, to, createRandom(seed * 7_919));
      const detections = detector(injected.market, from, to);
      const flares = flaresOf(injected, detections);
      const own = flares.map(({ flare }) => flare);
      if (kind.startsWith("pump")) {
        shares.push(...sharesAhead(injected.market, flares));
        ofPumps.push(...own);
      }
      followed.push(...followedOf(kind, own));
      return scoreEpisodes(injected.episodes, detections);
    });
    aheads.set(kind, quantile(shares, 0.5));
    return poolScores(scores);
  };
  const aheadOf = (kind: InjectedClass) => aheads.get(kind) ?? Number.NaN;
  const [pump5, pump10, pump25, wash, thin, wide] = CLASSES.map(scoreOf);
  if (!pump5 || !pump10 || !pump25 || !wash || !thin || !wide) throw new Error("a class has no score");
  return {
    detector: name,
    naturalPerPairDay: perPairDay(natural.length, plan.market, plan.half),
    naturalWhereTuned:
      plan.half === "first"
        ? perPairDay(natural.length, plan.market, "first")
        : tunedRate(detector, plan.market),
    scores: { pump5, pump10, pump25, wash, thin, wide },
    ends: { pumps: countEnds(ofPumps), natural: countEnds(natural) },
    outcomes: measureOutcomes([{ market: plan.market, from, flares: followed }]),
    ahead: {
      ...{ pump5: aheadOf("pump5"), pump10: aheadOf("pump10"), pump25: aheadOf("pump25") },
      ...{ wash: Number.NaN, thin: Number.NaN, wide: Number.NaN },
    },
  };
}

/** Returns the episodes in which a flare started, each with its flare. */
function flaresOf({ episodes }: InjectedMarket, detections: readonly Detection[]) {
  const byPair = Map.groupBy(detections, ({ pair }) => pair);
  return episodes.flatMap((episode) => {
    const flare = flareOf(episode, byPair.get(episode.pair) ?? [], MINUTES);
    return flare ? [{ episode, flare }] : [];
  });
}

function countEnds(detections: readonly Detection[]): EndCounts {
  return Object.fromEntries(
    FINISH_CAUSES.map((cause) => [cause, detections.filter(({ endedBy }) => endedBy === cause).length]),
  );
}

function followedOf(kind: string, flares: readonly Detection[]): Followed[] {
  return flares.flatMap(({ pair, outcome }) => (outcome ? [{ kind, pair, outcome }] : []));
}

/**
 * Returns, for each pump that fired, the share of the move that is still ahead at the close of the
 * flare's first minute. The move is from the close before the pump to its highest close.
 */
function sharesAhead({ series }: Market, flares: ReturnType<typeof flaresOf>): readonly number[] {
  const closes = new Map(series.map(({ pair, close }) => [pair, close]));
  return flares.flatMap(({ episode, flare }) => {
    const close = closes.get(episode.pair);
    if (!close) return [];
    const before = close[episode.startAt - 1] ?? Number.NaN;
    const peak = close.subarray(episode.startAt, episode.endAt).reduce((a, b) => Math.max(a, b), 0);
    return [(peak - (close[flare.startAt] ?? Number.NaN)) / (peak - before)];
  });
}

function tunedRate(detector: Detector, market: Market): number {
  const [from, to] = minutesOf(market, "first");
  return perPairDay(detector(market, from, to).length, market, "first");
}

function perPairDay(flares: number, market: Market, half: "first" | "second"): number {
  const [from, to] = minutesOf(market, half);
  return flares / ((market.series.length * (to - from)) / MINUTES_A_DAY);
}
