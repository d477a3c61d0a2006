import { MINUTE_MS } from "../../lib/time/time.ts";
import type { TermName } from "../../model/index.ts";
import type { DetectorSettings } from "../settings.ts";
import type { CandleState } from "./candle-detector.ts";
import type { Market } from "./market.ts";
import { clip, poissonSurprise, wilsonLowerBound } from "./statistics.ts";
import { logVolume, type TradeState, usualUsd } from "./trade-detector.ts";

const Z_MOST = 6;

/** One term as measured: `raw` in its own unit, `z` in deviations, not clipped. */
export interface Measure {
  raw: number;
  z: number;
  /** Share of the score; 0 when the feed cannot measure it. */
  weight: number;
}

/** What the detector reads off a token at one moment. One is reused for all tokens: copy what must be kept. */
export interface Reading {
  readonly terms: Record<TermName, Measure>;
  /** Weighted sum of the clipped terms, in [0, 6]. */
  score: number;
  /** Market-neutral log return above the average, or since the last low, the greater. */
  rise: number;
  /** z of the term that says people are busy: buyers, or volume where those are unknown. */
  activity: number;
  /** Enough money, or volume, stands behind the rise. */
  supported: boolean;
}

/** A reading with every term at nothing. */
export function createReading(): Reading {
  const none = (): Measure => ({ raw: 0, z: 0, weight: 0 });
  return {
    terms: { buyers: none(), imbalance: none(), price: none(), volume: none() },
    score: 0,
    rise: 0,
    activity: 0,
    supported: false,
  };
}

/** Fills in the score from the terms: Σ wᵢ·clip(zᵢ, 0, 6), the weights made to sum to 1. */
function weigh(reading: Reading): void {
  const { buyers, imbalance, price, volume } = reading.terms;
  const total = buyers.weight + imbalance.weight + price.weight + volume.weight;
  let sum = 0;
  for (const term of [buyers, imbalance, price, volume]) {
    term.weight = total > 0 ? term.weight / total : 0;
    sum += term.weight * clip(term.z, 0, Z_MOST);
  }
  reading.score = sum;
}

/**
 * The price term: the climb above the long average, or the burst since the last low, whichever is the rarer, each less the market's.
 *
 * For a random walk of variance σ² a minute, ln(P/EWMA_τ) has variance σ²τ/2; to it is added what the market's own move leaves
 * unexplained. The burst B, with drift κσ, exceeds x with probability e^(−2κx/σ) (the stationary maximum of Brownian motion with
 * drift), which is a normal deviation of about 2√(κx/σ).
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
  const isLong = longZ >= burstZ;
  price.raw = isLong ? long : burst;
  price.z = isLong ? longZ : burstZ;
  reading.rise = Math.max(long, burst);
}

/**
 * Reads a candle token. Its imbalance is that of {@link CandleState.flow}, where the feed says who bought. The price term counts only in
 * the share in which its rise came in minutes of high volume, B/R of {@link CandleState.backed} and the rise: most jumps of a restless
 * pair are thin, and weighed in full they would ask for a threshold that a small pump on real volume cannot reach. A rise is unsupported
 * on no more than the usual volume, and when that share is too small: a thin tick, however far it jumped.
 */
export function readCandle(
  reading: Reading,
  state: CandleState,
  market: Market,
  settings: DetectorSettings,
): void {
  const { imbalance, volume, buyers, price } = reading.terms;
  const weights = settings.candleWeights;
  buyers.weight = 0;
  buyers.raw = 0;
  buyers.z = 0;
  imbalance.weight = state.knowsBuyers ? weights.imbalance : 0;
  imbalance.raw = state.volume > 0 ? state.flow / state.volume / 2 : 0;
  imbalance.z = imbalance.raw * 2 * Z_MOST;
  price.weight = weights.price;
  measurePrice(reading, state, market, state.variance, settings);
  if (reading.rise > 0) price.z *= clip(state.backed / reading.rise, 0, 1);
  volume.weight = weights.volume;
  volume.raw = state.usualVolume > 0 ? state.volume / state.usualVolume : 0;
  const surplus = state.logVolume - Math.max(0, market.logVolume);
  volume.z = surplus / Math.max(Math.sqrt(state.logVariance), settings.volumeFloor);
  reading.activity = state.logVolume / Math.max(Math.sqrt(state.logVariance), settings.volumeFloor);
  reading.supported =
    volume.raw > settings.volumeShare && state.backed >= settings.backedShare * reading.rise;
  weigh(reading);
}

/**
 * Reads a trade token, whose state must have been brought up to the moment. `liquidityUsd`: dollars in the pool that sets its price, or `null`
 * where the feed does not know; then the depth gate asks for volume, as it does for candles.
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
  buyers.weight = weights.buyers;
  buyers.raw = state.buyers;
  buyers.z = poissonSurprise(state.buyers, expectedBuyers(state, settings), dispersion(state, settings));
  imbalance.weight = weights.imbalance;
  imbalance.raw = wilsonLowerBound(state.buys, state.buys + state.sells) - 0.5;
  imbalance.z = imbalance.raw * 2 * Z_MOST;
  price.weight = weights.price;
  state.longRise = Math.log(state.price / state.longPrice);
  measurePrice(reading, state, market, state.variance, settings);
  volume.weight = weights.volume;
  const usual = usualUsd(state);
  volume.raw = usual > 0 ? (state.usd * MINUTE_MS) / settings.fastMs / usual : 0;
  const surplus = state.samples > 0 ? logVolume(state, settings) - state.logMean : 0;
  volume.z =
    (surplus - Math.max(0, market.logVolume)) / Math.max(Math.sqrt(state.logVariance), settings.volumeFloor);
  reading.activity = buyers.z;
  reading.supported =
    liquidityUsd === null
      ? volume.raw > settings.volumeShare
      : state.inflow >= settings.depthShare * moveCost(liquidityUsd, reading.rise);
  weigh(reading);
}

/** Dollars that must flow in to move an x·y=k pool, half of which is quote, by the log return `rise`: reserve·(e^(rise/2) − 1). */
function moveCost(liquidityUsd: number, rise: number): number {
  return (liquidityUsd / 2) * Math.expm1(rise / 2);
}

/**
 * Distinct buyers to expect in the fast count: the token's own rate, shrunk to its bucket's by a Gamma prior. The posterior mean of a
 * Poisson rate under Gamma(a, b) is (a + events)/(b + time).
 */
function expectedBuyers(state: TradeState, settings: DetectorSettings): number {
  const priorMs = settings.priorMinutes * MINUTE_MS;
  const rate = (state.priorRate * priorMs + state.slowBuyers) / (priorMs + state.slowMs);
  return rate * settings.fastMs;
}

/**
 * Fano factor of the buyers' count, shrunk to Poisson's 1 while samples are few. An exponentially decayed count of a Poisson stream
 * has half its mean as variance (Campbell's theorem), hence the 2.
 */
function dispersion(state: TradeState, settings: DetectorSettings): number {
  const own = state.meanBuyers > 0 ? (2 * state.varianceBuyers) / state.meanBuyers : 1;
  return (settings.priorMinutes + state.samples * own) / (settings.priorMinutes + state.samples);
}
