import { clip } from "../../../base/lib/statistics.ts";
import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { DetectorSettings } from "../../settings.ts";

/*
 * The detector's measurements for a token with candles only: one step per minute, O(1), no history.
 */

/**
 * Share of the usual volume that is added before a logarithm, so that the log of no volume is
 * finite.
 */
export const LN_EPSILON_SHARE = 0.05;

/** One minute of a token. A silent minute is flat: the last close, no volume. */
export interface Minute {
  readonly close: number;
  /** Volume in the feed's quote currency. */
  readonly volume: number;
}

/** Returns the state of a token before its first candle, which opens at `price`. */
export function createCandleState(price: number, settings: DetectorSettings) {
  return {
    /** Minutes seen, including silent ones. */
    minutes: 0,
    close: price,
    /** Exponential average of the close. */
    longPrice: price,
    /** Variance of one-minute log returns. */
    variance: settings.priorVolatility ** 2,
    /** Averages per minute: fast volume, recent volume, usual volume. */
    volume: 0,
    recentVolume: 0,
    usualVolume: 0,
    /**
     * Average net bought volume of a minute (see {@link netBuying}), where 1 is the usual volume.
     */
    netBought: 0,
    /** Log return against the average, as of the last minute. */
    longRise: 0,
    /** {@link stepPageSum} of the last minute. */
    burst: 0,
    /**
     * Average of the logarithm of a minute's volume, where 0 is the usual volume. A single large
     * order raises it less than the same volume over several minutes.
     */
    logVolume: 0,
    /** The part of the burst that came with enough volume: see {@link stepCandle}. */
    backed: 0,
  };
}

/** One token's running state. Plain numbers, copied before a minute that may be amended. */
export type CandleState = ReturnType<typeof createCandleState>;

/**
 * Updates `state` with one minute. `rate` slows the baselines: 1 normally, less while the score is
 * high.
 *
 * A rise counts as backed in proportion to the minute's volume, up to `backedBy` times the usual.
 * For candles, this replaces the depth gate (`isPaidFor` in score.ts). A pool's reserve shows how
 * much money a price move takes. For a candle, only the token's usual volume shows it.
 */
export function stepCandle(
  state: CandleState,
  minute: Minute,
  rate: number,
  settings: DetectorSettings,
): void {
  const { close, volume } = minute;
  state.minutes += 1;
  const deviation = Math.sqrt(state.variance);
  const change = Math.log(close / state.close);
  state.longRise = Math.log(close / state.longPrice);
  const drift = settings.burstDrift * deviation;
  const backing = state.usualVolume > 0 ? Math.min(1, volume / (settings.backedBy * state.usualVolume)) : 0;
  state.burst = stepPageSum(state.burst, change, drift);
  state.backed = stepPageSum(state.backed, change > 0 ? change * backing : change, drift);
  state.longPrice += (close - state.longPrice) * share(settings.priceMs);
  state.close = close;

  const quick = 1 / state.minutes;
  if (state.usualVolume > 0) {
    const multiple = volume / state.usualVolume;
    const net = Math.min(multiple, settings.flowCap) * netBuying(change, deviation, settings);
    state.netBought += (net - state.netBought) * share(settings.fastMs);
    state.logVolume +=
      (logMultiple(multiple) - state.logVolume) * Math.max(share(settings.candleFastMs), quick);
  }

  const slow = share(settings.baselineMs);
  const evidence = 1 / (state.minutes + settings.priorMinutes);
  const clipped = clip(change, -settings.returnClip * deviation, settings.returnClip * deviation);
  state.variance += (clipped * clipped - state.variance) * Math.max(slow, evidence) * rate;
  state.volume += (volume - state.volume) * Math.max(share(settings.candleFastMs), quick);
  state.recentVolume += (volume - state.recentVolume) * Math.max(share(settings.recentMs), quick);
  state.usualVolume += (volume - state.usualVolume) * Math.max(slow, quick) * rate;
}

/**
 * Estimates bought minus sold volume as a share of a minute's volume, in [-1, 1], from the price
 * change: a change of two standard deviations counts as all bought or all sold. The idea is bulk
 * volume classification (Easley et al. 2012). The volume that takers bought, which Binance reports,
 * was tried instead: pumps were found later, and fewer of them (`test/tools/evaluate/README.md`).
 */
function netBuying(change: number, deviation: number, settings: DetectorSettings): number {
  return clip(change / (2 * Math.max(deviation, settings.burstFloor)), -1, 1);
}

/**
 * Returns the next value of Page's cumulative sum (1954). Of log returns, it is the climb since the
 * last low. `drift` is subtracted, so that random ups and downs add up to nothing. Never below 0.
 * Unlike an average, it forgets a fall at once.
 */
export function stepPageSum(burst: number, change: number, drift: number): number {
  return Math.max(0, burst + change - drift);
}

/**
 * Returns the net buying of the last `fastMs`, in minutes of the mean of usual and recent volume.
 */
export function netBoughtMinutes(state: CandleState, settings: DetectorSettings): number {
  const unit = (state.usualVolume + state.recentVolume) / 2;
  const bought = (state.netBought * state.usualVolume * settings.fastMs) / MINUTE_MS;
  return unit > 0 ? Math.max(0, bought) / unit : 0;
}

/** Returns the logarithm of a volume in multiples of the usual. Defined for no volume. */
export function logMultiple(multiple: number): number {
  return Math.log(multiple + LN_EPSILON_SHARE);
}

/** Reverses {@link logMultiple}. */
export function multipleOf(log: number): number {
  return Math.max(0, Math.exp(log) - LN_EPSILON_SHARE);
}

function share(tauMs: number): number {
  return 1 - Math.exp(-MINUTE_MS / tauMs);
}
