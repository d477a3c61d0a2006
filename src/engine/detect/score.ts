import { countedZ } from "../../base/lib/counted-z.ts";
import { clip, poissonSurprise, wilsonLowerBound } from "../../base/lib/statistics.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { TermName } from "../../base/model/index.ts";
import type { DetectorSettings } from "../settings.ts";
import type { Market } from "./market.ts";
import { type CandleState, logMultiple, multipleOf, netBoughtMinutes } from "./measures/candle-detector.ts";
import { type SecondsState, type SecondsSums, sumSeconds } from "./measures/seconds-detector.ts";
import { logVolume, type TradeState, usualUsd } from "./measures/trade-detector.ts";
import type { WindowState } from "./measures/window-detector.ts";

/** z of an imbalance in which all are buys. */
const MAX_Z = 6;

/** One measured term: `raw` in its own unit, `z` in standard deviations, not bounded. */
interface Measure {
  raw: number;
  /** The usual value in the unit of `raw`. Set for buyers and volume only; 0 if unknown. */
  usual: number;
  z: number;
  /** Weight in the score, as a share of all weights; 0 if the feed cannot measure the term. */
  weight: number;
}

/** The detector's measurements of a token at one moment. One object is reused for all tokens. */
export interface Reading {
  readonly terms: Record<TermName, Measure>;
  /** The same terms. */
  readonly all: readonly Measure[];
  /** Weighted sum of what counts of each term: {@link countedZ}. */
  score: number;
  /** The same sum without the upper bound: it orders what the score cannot. */
  strength: number;
  /**
   * Log return beyond the market's: from the average or from the last low, whichever is greater.
   */
  rise: number;
  /**
   * z of the buyers, with single trades that of the net buying if it is higher; for candles, of the
   * volume. Not reduced by the market's.
   */
  activity: number;
  /** Enough money or volume is behind the rise. */
  supported: boolean;
}

export function createReading(): Reading {
  const none = (): Measure => ({ raw: 0, usual: 0, z: 0, weight: 0 });
  const [buyers, imbalance, price, volume, flow, rush] = [none(), none(), none(), none(), none(), none()];
  const terms = { buyers, imbalance, price, volume, flow, rush };
  return {
    terms,
    all: Object.values(terms),
    score: 0,
    strength: 0,
    rise: 0,
    activity: 0,
    supported: false,
  };
}

/** Computes the score Σ wᵢ·countedZ(zᵢ), with the weights scaled to sum to 1. */
export function weigh(reading: Reading): void {
  let total = 0;
  for (const term of reading.all) total += term.weight;
  reading.score = 0;
  reading.strength = 0;
  for (const term of reading.all) {
    term.weight = total > 0 ? term.weight / total : 0;
    reading.score += term.weight * countedZ(term.z);
    reading.strength += term.weight * Math.max(0, term.z);
  }
}

/** The form of the data measures none of the terms until it gives them a weight. */
function clearWeights(reading: Reading): void {
  for (const term of reading.all) term.weight = 0;
}

/**
 * Computes the price term: the rise above the long average or the burst since the last low,
 * whichever is rarer, each minus the market's (for the burst, `1 + betaSpread` times it).
 *
 * For a random walk of variance σ² per minute, ln(P/EWMA_τ) has variance σ²τ/2. (`betaSpread` × the
 * market's move)² is added to it, because no token follows the market exactly. The burst B, with
 * drift κσ, exceeds x with probability e^(−2κx/σ) (the stationary maximum of Brownian motion with
 * drift). That is a normal deviation of about 2√(κx/σ).
 */
function measurePrice(
  reading: Reading,
  rises: { readonly longRise: number; readonly burst: number },
  market: Market,
  variance: number,
  settings: DetectorSettings,
): void {
  const long = rises.longRise - market.longRise;
  const burst = rises.burst - (1 + settings.betaSpread) * market.burst;
  const walk = (variance * settings.priceMs) / MINUTE_MS / 2;
  const unexplained = (settings.betaSpread * market.longRise) ** 2;
  const longZ = long / Math.max(Math.sqrt(walk + unexplained), settings.priceFloor);
  const deviation = Math.max(Math.sqrt(variance), settings.burstFloor);
  const burstZ = 2 * Math.sqrt((settings.burstDrift * Math.max(0, burst)) / deviation);
  const { price } = reading.terms;
  // A burst is never below 0, so a fall is measured from the average.
  const isLong = burst <= 0 || longZ >= burstZ;
  price.raw = isLong ? long : burst;
  price.z = isLong ? longZ : burstZ;
  reading.rise = Math.max(long, burst);
}

/**
 * Computes the reading of a token that is known only from candles.
 *
 * The price term is multiplied by the backed share of the rise ({@link CandleState.backed}), the
 * part that came in minutes of high volume. Most jumps of a volatile pair come with little volume.
 * Counted in full, these jumps would require a threshold that small pumps on real volume cannot
 * reach. A rise is unsupported if its volume is not above `volumeShare` times the usual or its
 * backed share is too small, however far the price jumped.
 *
 * Volume and net buying are scored on a natural log scale: the average log of a minute's volume in
 * multiples of the usual, minus the market's, and the log of 1 plus the net buying. Net buying of
 * five minutes is compared with the mean of the usual and the recent volume, so that a token whose
 * volume has been high for some time needs more of it.
 */
export function readCandle(
  reading: Reading,
  state: CandleState,
  market: Market,
  settings: DetectorSettings,
): void {
  const { volume, price, flow } = reading.terms;
  const weights = settings.candleWeights;
  clearWeights(reading);
  price.weight = weights.price;
  measurePrice(reading, state, market, state.variance, settings);
  if (reading.rise > 0) price.z *= clip(state.backed / reading.rise, 0, 1);
  volume.weight = weights.volume;
  volume.usual = state.usualVolume > 0 ? 1 : 0;
  const multiple = state.usualVolume > 0 ? state.volume / state.usualVolume : 0;
  volume.raw = state.usualVolume > 0 ? multipleOf(state.logVolume) : 0;
  volume.z = state.logVolume - Math.max(0, market.logVolume);
  flow.weight = weights.flow;
  flow.raw = netBoughtMinutes(state, settings);
  flow.z = Math.log1p(flow.raw);
  reading.activity = logMultiple(multiple);
  reading.supported = multiple > settings.volumeShare && state.backed >= settings.backedShare * reading.rise;
  weigh(reading);
}

/**
 * Computes the reading of a token with trades, whose state must be decayed to the present.
 * `liquidityUsd` is the depth of the pool that sets the price. If it is `null`, the depth gate
 * ({@link isPaidFor}) requires high volume instead, as for candles.
 */
export function readTrades(
  reading: Reading,
  state: TradeState,
  market: Market,
  liquidityUsd: number | null,
  settings: DetectorSettings,
): void {
  const { buyers, imbalance, price, volume } = reading.terms;
  const { weights } = settings;
  clearWeights(reading);
  buyers.weight = weights.buyers;
  buyers.raw = state.buyers;
  const expected = expectedBuyers(state.priorRate, state.slowBuyers, state.slowMs, settings);
  buyers.usual = expected;
  buyers.z = poissonSurprise(state.buyers, expected, dispersion(state, settings));
  imbalance.weight = weights.imbalance;
  imbalance.raw = state.usd > 0 ? state.netUsd / state.usd / 2 : 0;
  imbalance.z = netSurprise(state, liquidityUsd, settings);
  price.weight = weights.price;
  state.longRise = Math.log(state.price / state.longPrice);
  measurePrice(reading, state, market, state.variance, settings);
  volume.weight = weights.volume;
  const usual = usualUsd(state);
  volume.usual = usual > 0 ? 1 : 0;
  volume.raw = usual > 0 ? (state.usd * MINUTE_MS) / settings.fastMs / usual : 0;
  const surplus = state.samples > 0 ? logVolume(state, settings) - state.logMean : 0;
  volume.z =
    (surplus - Math.max(0, market.logVolume)) / Math.max(Math.sqrt(state.logVariance), settings.volumeFloor);
  reading.activity = Math.max(buyers.z, Math.min(imbalance.z, buyers.z + settings.netActivity));
  reading.supported = isPaidFor(reading, state.inflow, liquidityUsd, settings);
  weigh(reading);
}

/**
 * Computes the reading of a token that only an aggregator reports on. The expected buyers come from
 * the day before the last five minutes, shrunk toward a prior: see {@link expectedBuyers}. Their
 * dispersion is unknown, so a fixed one is assumed. A rise is supported if the hour's volume passes
 * the depth gate ({@link isPaidFor}), and if buys clearly outweigh sells, because counts do not
 * show which trades are dust.
 */
export function readWindow(
  reading: Reading,
  state: WindowState,
  market: Market,
  usual: { readonly priorRate: number; readonly liquidityUsd: number | null },
  settings: DetectorSettings,
): void {
  const { buyers, imbalance, price, volume } = reading.terms;
  const { weights } = settings;
  clearWeights(reading);
  const expected = expectedBuyers(usual.priorRate, state.usualBuyers, state.usualMs, settings);
  buyers.weight = weights.buyers;
  buyers.raw = state.buyers * state.real;
  buyers.usual = expected;
  buyers.z = poissonSurprise(buyers.raw, expected, settings.windowDispersion);
  imbalance.weight = weights.imbalance;
  imbalance.raw = wilsonLowerBound(state.buys * state.real, (state.buys + state.sells) * state.real) - 0.5;
  imbalance.z = imbalance.raw * 2 * MAX_Z;
  price.weight = weights.price;
  measurePrice(reading, state, market, state.variance, settings);
  volume.weight = weights.volume;
  volume.usual = state.usualUsd > 0 ? 1 : 0;
  volume.raw = state.usualUsd > 0 ? state.usd / state.usualUsd : 0;
  volume.z = (state.logVolume - Math.max(0, market.logVolume)) / settings.volumeFloor;
  reading.activity = buyers.z;
  reading.supported = isPaidFor(reading, state.hourUsd, usual.liquidityUsd, settings) && imbalance.raw > 0;
  weigh(reading);
}

const SUMS: SecondsSums = { trades: 0, bought: 0, sold: 0, atOnce: 0, low: 0 };

/**
 * Computes the reading of the ten seconds that end at `atMs`, for a token of an exchange. Bought
 * money counts as half its binary logarithm in multiples of the usual, buys within one millisecond
 * as one and a half times theirs. The price term is the rise above the lowest price of the last
 * minute, minus the market's.
 */
export function readSeconds(
  reading: Reading,
  state: SecondsState,
  { price: now, usual }: { readonly price: number; readonly usual: number },
  market: Market,
  atMs: number,
  settings: DetectorSettings,
): void {
  const { imbalance, volume, price, rush } = reading.terms;
  const weights = settings.secondsWeights;
  clearWeights(reading);
  sumSeconds(state, SUMS, atMs, settings);
  const { trades, bought, sold, atOnce, low } = SUMS;
  volume.weight = weights.volume;
  volume.usual = usual > 0 ? 1 : 0;
  volume.raw = usual > 0 ? bought / usual : 0;
  volume.z = volume.raw > 0 ? Math.log2(volume.raw) / 2 : 0;
  rush.weight = weights.rush;
  rush.raw = atOnce;
  rush.z = atOnce > 0 ? 1.5 * Math.log2(atOnce) : 0;
  imbalance.weight = weights.imbalance;
  imbalance.raw = bought + sold > 0 ? bought / (bought + sold) - 0.5 : 0;
  imbalance.z = imbalance.raw * 2 * MAX_Z;
  price.weight = weights.price;
  const rise = low > 0 ? Math.log(now / low) - Math.max(0, market.burst) : 0;
  price.raw = rise;
  price.z = 2 * Math.sqrt(Math.max(0, rise) / settings.secondsStartRise);
  reading.rise = rise;
  reading.activity = volume.z;
  reading.supported =
    trades >= settings.secondsTrades &&
    bought >= settings.secondsBuyRatio * sold &&
    volume.raw > settings.secondsUsualRatio;
  weigh(reading);
}

/**
 * Returns how many deviations the net buying of five minutes, in dollars, is above the token's
 * usual. The variance is the token's own, as far as it is known, and at least that of the same
 * trades with random sides, with something added: one large order, or a few, is no crowd. Makers
 * who buy and sell the same dollars cancel out. The deviation has a floor in the pool's depth,
 * because a few dollars in an idle pool say nothing.
 */
function netSurprise(state: TradeState, liquidityUsd: number | null, settings: DetectorSettings): number {
  const { samples, varianceNetUsd, squareUsd, netUsd, meanNetUsd } = state;
  const known = samples / (settings.priorMinutes + samples);
  const own = squareUsd + (varianceNetUsd - squareUsd) * known;
  const floor = settings.netFloorShare * (liquidityUsd ?? 0);
  const variance = Math.max(own, settings.netSpread * squareUsd) + floor * floor;
  return variance > 0 ? (netUsd - meanNetUsd * known) / Math.sqrt(variance) : 0;
}

/**
 * The depth gate: returns whether `usd` is at least `depthShare` of the cost to move the price as
 * far as it rose. If no depth is known, the volume must be high.
 */
function isPaidFor(
  reading: Reading,
  usd: number,
  liquidityUsd: number | null,
  settings: DetectorSettings,
): boolean {
  if (liquidityUsd === null) return reading.terms.volume.raw > settings.volumeShare;
  return usd >= settings.depthShare * moveCost(liquidityUsd, reading.rise);
}

/** Returns the dollars to move an x·y=k pool by log return `rise`: reserve·(e^(rise/2) − 1). */
function moveCost(liquidityUsd: number, rise: number): number {
  return (liquidityUsd / 2) * Math.expm1(rise / 2);
}

/**
 * Returns the expected distinct buyers in the fast count: the token's own rate, shrunk toward
 * `priorRate` by a Gamma prior. The posterior mean of a Poisson rate under Gamma(a, b) is (a +
 * events)/(b + time).
 */
function expectedBuyers(
  priorRate: number,
  events: number,
  timeMs: number,
  settings: DetectorSettings,
): number {
  const priorMs = settings.priorMinutes * MINUTE_MS;
  return ((priorRate * priorMs + events) / (priorMs + timeMs)) * settings.fastMs;
}

/**
 * Returns the Fano factor of the buyers' count. With few samples, it is shrunk toward 1, its value
 * for a Poisson count. The variance of an exponentially decayed count of a Poisson stream is half
 * its mean (Campbell's theorem), hence the 2.
 */
function dispersion(state: TradeState, settings: DetectorSettings): number {
  const own = state.meanBuyers > 0 ? (2 * state.varianceBuyers) / state.meanBuyers : 1;
  return (settings.priorMinutes + state.samples * own) / (settings.priorMinutes + state.samples);
}
