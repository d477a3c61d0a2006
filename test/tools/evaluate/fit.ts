import { countedZ } from "../../../src/base/lib/counted-z.ts";
import { DEFAULT_SETTINGS, type TrendEngine } from "../../../src/engine/index.ts";
import { type CandlePlan, minutesOf } from "./candle-evaluation.ts";
import { addressOf, runEngine } from "./detectors.ts";
import { CLASSES, type Episode, inject } from "./injection.ts";
import { fitLogistic, type Row } from "./logistic.ts";
import { createRandom } from "./random.ts";
import { type Market, MINUTE_MS } from "./series.ts";

/*
 * Fits the weights of the candles' score. A logistic model tells injected pumps from decoys and
 * from the bursts of the unchanged recording. Each is represented by the minute with its highest
 * score, because one minute starts a flare (multiple-instance learning). Of a pump, only minutes in
 * which enough of its rise is still ahead count.
 */

const TERMS = ["price", "volume", "flow"] as const;
const AHEAD = 0.4;
/** Minutes of one pair that are closer than this belong to one burst. */
const BURST_MINUTES = DEFAULT_SETTINGS.coolDownMs / MINUTE_MS;
const ROUNDS = 15;

/** A pump, a decoy or a natural burst: the terms' z in each minute that may start a flare. */
interface Burst {
  readonly isPump: boolean;
  readonly minutes: (readonly number[])[];
}

/** Weights that sum to 1, and the score at which a pump is as likely as not. */
export interface Fit {
  readonly weights: Readonly<Record<(typeof TERMS)[number], number>>;
  readonly even: number;
  readonly pumps: number;
  readonly others: number;
}

/** Fits the weights on a plan's half and seeds, which should not be those of the report. */
export function fitWeights({ market, half, seeds }: CandlePlan): Fit {
  const [from, to] = minutesOf(market, half);
  const bursts = naturalBursts(market, from, to);
  for (const seed of seeds) {
    for (const kind of CLASSES) {
      const injected = inject(market, kind, from, to, createRandom(seed * 7_919));
      bursts.push(...injectedBursts(injected.market, injected.episodes, from, to));
    }
  }
  const known = bursts.filter(({ minutes }) => minutes.length > 0);
  let slopes: readonly number[] = TERMS.map((term) => DEFAULT_SETTINGS.candleWeights[term]);
  let intercept = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const rows = known.map(({ isPump, minutes }): Row => {
      return { values: strongest(minutes, slopes), isPositive: isPump };
    });
    ({ slopes, intercept } = fitLogistic(rows));
  }
  const total = slopes.reduce((sum, slope) => sum + slope, 0);
  const [price = 0, volume = 0, flow = 0] = slopes.map((slope) => slope / total);
  const pumps = known.filter(({ isPump }) => isPump).length;
  return {
    weights: { price, volume, flow },
    even: -intercept / total,
    pumps,
    others: known.length - pumps,
  };
}

/** Returns the fit as text. */
export function fitText({ weights, even, pumps, others }: Fit): string {
  const parts = TERMS.map((term) => `${term} ${weights[term].toFixed(3)}`);
  return `weights: ${parts.join(", ")}; even chance at a score of ${even.toFixed(2)}; ${pumps} pumps, ${others} others\n`;
}

function naturalBursts(market: Market, from: number, to: number): Burst[] {
  const bursts: Burst[] = [];
  const last = new Map<string, { readonly at: number; readonly burst: Burst }>();
  runEngine(market, { from, to, settings: {} }, (engine, at) => {
    if (at < from) return;
    for (const { pair } of market.series) {
      const values = startValues(engine, pair);
      if (!values) continue;
      const known = last.get(pair);
      const isSame = known !== undefined && at - known.at < BURST_MINUTES;
      const burst: Burst = isSame ? known.burst : { isPump: false, minutes: [] };
      if (!isSame) bursts.push(burst);
      burst.minutes.push(values);
      last.set(pair, { at, burst });
    }
  });
  return bursts;
}

function injectedBursts(market: Market, episodes: readonly Episode[], from: number, to: number): Burst[] {
  const bursts = episodes.map((episode) => {
    const burst: Burst = { isPump: episode.class.startsWith("pump"), minutes: [] };
    return { episode, burst, untilAt: burst.isPump ? lastEarly(market, episode) : episode.endAt - 1 };
  });
  runEngine(market, { from, to, settings: {} }, (engine, at) => {
    for (const { episode, burst, untilAt } of bursts) {
      if (at < episode.startAt || at > untilAt) continue;
      const values = startValues(engine, episode.pair);
      if (values) burst.minutes.push(values);
    }
  });
  return bursts.map(({ burst }) => burst);
}

/** Returns the last minute before the peak at whose close enough of the rise is still ahead. */
function lastEarly({ series }: Market, { pair, startAt, endAt }: Episode): number {
  const close = series.find((one) => one.pair === pair)?.close ?? new Float64Array();
  const before = close[startAt - 1] ?? Number.NaN;
  const closes = close.subarray(startAt, endAt);
  const peak = closes.reduce((a, b) => Math.max(a, b), 0);
  const rising = closes.subarray(0, closes.indexOf(peak));
  return startAt + rising.findLastIndex((price) => (peak - price) / (peak - before) >= AHEAD);
}

/** Returns the terms' z as the score counts them; `undefined` if a flare cannot start. */
function startValues(engine: TrendEngine, pair: string): readonly number[] | undefined {
  const terms = engine.readingOf("bsc", addressOf(pair))?.terms ?? [];
  const rawOf = (term: string) => terms.find(({ name }) => name === term)?.raw ?? 0;
  const { candleStartRise, volumeShare } = DEFAULT_SETTINGS;
  if (!(rawOf("price") > candleStartRise && rawOf("volume") > volumeShare)) return undefined;
  return TERMS.map((term) => {
    const z = terms.find(({ name }) => name === term)?.z ?? 0;
    return countedZ(z);
  });
}

function strongest(minutes: Burst["minutes"], slopes: readonly number[]): readonly number[] {
  const scoreOf = (values: readonly number[]) =>
    values.reduce((sum, value, index) => sum + value * (slopes[index] ?? 0), 0);
  return minutes.reduce((best, values) => (scoreOf(values) > scoreOf(best) ? values : best));
}
