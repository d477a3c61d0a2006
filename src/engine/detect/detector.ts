import { medianInPlace } from "../../base/lib/statistics.ts";
import { MINUTE_MS, SECOND_MS } from "../../base/lib/time/time.ts";
import type { FeedFacts, MarketGroup } from "../../base/market/index.ts";
import type { Explanation } from "../../base/model/index.ts";
import type { DetectorSettings } from "../settings.ts";
import { advanceRing, closeAt, knownSteps, recordPast } from "../state/bucket-ring.ts";
import {
  activeMinutesOf,
  CHART_MINUTES,
  countRecentTrades,
  isLive,
  isTrading,
  notePeak,
  type PendingCandle,
  type TokenState,
} from "../state/token-state.ts";
import type { BuyerRatePriors } from "./buyer-rate-priors.ts";
import { hasGraveWarning, hasPlunged, judgeCanary } from "./canary.ts";
import { type Circumstances, isBurst, judge, judgeSeconds, type Verdict } from "./hysteresis.ts";
import type { Launches } from "./launches.ts";
import { extendPath, isCutOff, type Markets } from "./market.ts";
import { stepCandle } from "./measures/candle-detector.ts";
import { countSeconds, type SecondsState, usualBought } from "./measures/seconds-detector.ts";
import { decayTrades, logVolume, sampleTrades } from "./measures/trade-detector.ts";
import { flat, noteClose, resetPeak, takeCandle } from "./minute-close.ts";
import { isDeepEnough, liquidityOf, priceDepthOf } from "./pools.ts";
import { createReading, type Reading, readCandle, readSeconds, readTrades, readWindow } from "./score.ts";

/**
 * Maximum gap between past candles that is filled minute by minute. A late candle may change a
 * silent minute of at most this age. An older value has almost no weight left in any average.
 */
const MAX_FLAT_MINUTES = 1_440;

/** For tokens that only an aggregator reports on, a group counts as silent after this time. */
const MAX_WINDOW_GAP_MS = 150_000;

/** A token's numbers at one moment. */
export interface Measured {
  /** Valid until the next measurement. */
  readonly reading: Reading;
  readonly form: NonNullable<Explanation["form"]>;
  /** The score that a start requires in this form. */
  readonly startScore: number;
}

/** A verdict with the numbers behind it. */
interface Judgment extends Measured {
  readonly verdict: Verdict;
}

/** Closes each minute, measures the groups, and scores and judges the tokens. */
export class Detector {
  readonly #settings: DetectorSettings;
  readonly #facts: FeedFacts;
  readonly #markets: Markets;
  readonly #priors: BuyerRatePriors;
  readonly #launches: Launches;
  readonly #reading: Reading = createReading();
  readonly #seconds: Reading = createReading();

  constructor(
    settings: DetectorSettings,
    facts: FeedFacts,
    markets: Markets,
    priors: BuyerRatePriors,
    launches: Launches,
  ) {
    this.#settings = settings;
    this.#facts = facts;
    this.#markets = markets;
    this.#priors = priors;
    this.#launches = launches;
  }

  /** Returns the score that a token must exceed for a flare to start. */
  startScore(token: TokenState): number {
    if (token.trades) return this.#settings.tradeStartScore;
    if (token.window) return this.#settings.windowStartScore;
    return token.seconds ? this.#settings.slowStartScore : this.#settings.candleStartScore;
  }

  /** Returns the relative speed at which the token's baselines learn. */
  learningRate(token: TokenState): number {
    return token.trend.isHigh ? this.#settings.frozenRate : 1;
  }

  /**
   * Closes the minute that ends at `atMs`. Uses its candle (a flat one if none arrived), its trades
   * or an aggregator's reports. Skips a token without candles that has been silent for an hour.
   */
  closeMinute(token: TokenState, atMs: number): void {
    const minute = atMs / MINUTE_MS - 1;
    if (token.seconds) takeCandle(token, token.seconds, atMs, this.#settings);
    if (token.candle) {
      const { candle, pending } = token;
      const isSilentAgain = !pending && token.silentMinutes > 0 && token.silentMinutes < MAX_FLAT_MINUTES;
      if (!isSilentAgain) token.candleBefore = { ...candle };
      token.silentMinutes = pending ? 0 : isSilentAgain ? token.silentMinutes + 1 : 1;
      if (pending) {
        noteClose(token, pending, minute);
        token.pending = null;
      }
      stepCandle(candle, pending ?? flat(candle.close), this.learningRate(token), this.#settings);
    } else if (token.trades && isLive(token, atMs)) {
      const rate = this.learningRate(token);
      notePeak(token, closeAt(token.minutes, minute), minute);
      decayTrades(token.trades, atMs, rate, this.#settings);
      const liquidity = liquidityOf(token);
      this.#priors.note(token.group, liquidity, token.trades.minuteBuyers, atMs);
      token.trades.priorRate = this.#priors.rateOf(token.group, liquidity);
      sampleTrades(token.trades, rate, this.#settings);
      if (isDeepEnough(token, this.#facts, this.#settings)) this.#launches.note(token, token.trades, atMs);
    } else if (token.window && isLive(token, atMs)) {
      advanceRing(token.minutes, minute);
      notePeak(token, closeAt(token.minutes, minute), minute);
    } else return;
    if (token.peakMinute <= minute - CHART_MINUTES) resetPeak(token, minute);
    token.isStale = true;
  }

  /** Processes a past minute, and the flat ones since `before`, the last known one (-1: none). */
  fillMinute(token: TokenState, candle: PendingCandle, minute: number, before: number): void {
    const { candle: state } = token;
    if (!state) return;
    const rate = this.learningRate(token);
    const from = Math.max(before + 1, minute - MAX_FLAT_MINUTES);
    for (let step = from; before >= 0 && step < minute; step++)
      stepCandle(state, flat(state.close), rate, this.#settings);
    noteClose(token, candle, minute);
    stepCandle(state, candle, rate, this.#settings);
    if (token.peakMinute <= minute - CHART_MINUTES) resetPeak(token, minute);
    token.isStale = true;
  }

  /**
   * Recomputes a past minute with a candle that arrived late. The minute must lie in the unbroken
   * run of silent minutes ({@link TokenState.silentMinutes}) that ends with `lastMinute`. If
   * `lastMinute` was not silent, it must be that one. Call {@link catchUp} afterwards to repeat the
   * silent minutes after it.
   *
   * @param lastMinute The last closed minute.
   */
  amendMinute(token: TokenState, candle: PendingCandle, minute: number, lastMinute: number): void {
    const { candle: present, minutes, silentMinutes } = token;
    if (!present) return;
    const state = { ...(token.candleBefore ?? present) };
    token.silentMinutes = lastMinute - minute;
    for (let silent = silentMinutes - 1; silent > token.silentMinutes; silent--)
      stepCandle(state, flat(state.close), this.learningRate(token), this.#settings);
    const before = { ...state };
    noteClose(token, candle, minute);
    // With trades, the prices of later minutes are known.
    if (!token.seconds) recordPast(minutes, minute, Number.POSITIVE_INFINITY, candle.close, 0, 0);
    stepCandle(state, candle, this.learningRate(token), this.#settings);
    token.candle = state;
    token.candleBefore = token.silentMinutes > 0 ? { ...state } : before;
    token.isStale = true;
  }

  /** Processes the silent minutes after an amended one. */
  catchUp(token: TokenState): void {
    const { candle, candleBefore, silentMinutes } = token;
    if (!candle || !candleBefore) return;
    while (candle.minutes - candleBefore.minutes < silentMinutes)
      stepCandle(candle, flat(candle.close), this.learningRate(token), this.#settings);
  }

  /**
   * Measures a group at the end of a minute, `atMs`. First call {@link closeMinute} for each of its
   * tokens.
   */
  measureMinute(group: MarketGroup, tokens: readonly TokenState[], atMs: number): void {
    const minute = atMs / MINUTE_MS - 1;
    const trading = this.measureMarket(group, tokens, atMs);
    const active = trading.filter((token) => activeMinutesOf(token, atMs, 1) > 0);
    const isKnown = active.length >= this.#settings.marketMinimum;
    const move = isKnown ? medianInPlace(active.map((token) => minuteReturn(token, minute))) : 0;
    extendPath(this.#markets[group], minute, move);
  }

  /**
   * Measures a group's medians at `atMs`. Returns the tokens that they include: those that trade,
   * are not quote tokens, and have enough liquidity for the charts, because shallower tokens cost
   * nothing to create.
   */
  measureMarket(group: MarketGroup, tokens: readonly TokenState[], atMs: number): readonly TokenState[] {
    const trading: TokenState[] = [];
    const rises: number[] = [];
    const bursts: number[] = [];
    const surpluses: number[] = [];
    // One pass for all three, because fetching the tokens from memory takes most of the time.
    for (const token of tokens) {
      if (!this.#countsInMedians(token, atMs)) continue;
      trading.push(token);
      rises.push(riseOf(token));
      bursts.push((token.candle ?? token.trades ?? token.window)?.burst ?? 0);
      surpluses.push(surplusOf(token, this.#settings));
    }
    const market = this.#markets[group];
    const isKnown = trading.length >= this.#settings.marketMinimum;
    market.longRise = isKnown ? medianInPlace(rises) : 0;
    market.burst = isKnown ? medianInPlace(bursts) : 0;
    market.logVolume = isKnown ? medianInPlace(surpluses) : 0;
    market.measuredMs = atMs;
    return trading;
  }

  /**
   * Returns the median, over a group's trading tokens, of the price at the last whole minute
   * divided by the price `minutes` before; `null` if too few are known.
   */
  medianRatio(tokens: Iterable<TokenState>, minutes: number, atMs: number): number | null {
    const minute = Math.floor(atMs / MINUTE_MS) - 1;
    const ratios: number[] = [];
    for (const token of tokens) {
      if (!this.#countsInMedians(token, atMs)) continue;
      if (knownSteps(token.minutes, minute - minutes, 1) === 0) continue;
      const before = closeAt(token.minutes, minute - minutes);
      if (before > 0) ratios.push(closeAt(token.minutes, minute) / before);
    }
    return ratios.length < this.#settings.marketMinimum ? null : medianInPlace(ratios);
  }

  /** Whether the group's medians include the token. */
  #countsInMedians(token: TokenState, atMs: number): boolean {
    const { quote } = token.profile;
    return isTrading(token, atMs) && !quote && isDeepEnough(token, this.#facts, this.#settings);
  }

  /**
   * Returns the token's price at `atMs`, scaled so that a change of pool does not move it; 0 if no
   * recent one is known, or while the group is silent.
   */
  knownPrice(token: TokenState, atMs: number): number {
    const isRecent = token.priceAtMs >= 0 && atMs - token.priceAtMs <= this.#settings.outcomePriceMs;
    return isRecent && !this.#isGroupSilent(token, atMs) ? token.price / token.priceScale : 0;
  }

  /** Returns the token's measurements as of `atMs`, valid until the next call. */
  read(token: TokenState, atMs: number): Reading {
    const reading = this.#reading;
    const market = this.#markets[token.group];
    const { trades } = token;
    if (trades) {
      decayTrades(trades, atMs, this.learningRate(token), this.#settings);
      const depth = this.#facts.liquidity ? priceDepthOf(token) : null;
      readTrades(reading, trades, market, depth, this.#settings);
      this.#launches.compare(reading, token, trades, atMs);
    } else if (token.candle) {
      readCandle(reading, token.candle, market, this.#settings);
    } else if (token.window) {
      const liquidityUsd = this.#facts.liquidity ? priceDepthOf(token) : null;
      const priorRate = this.#priors.rateOf(token.group, liquidityOf(token));
      readWindow(reading, token.window, market, { priorRate, liquidityUsd }, this.#settings);
    } else Object.assign(reading, createReading());
    if (token.profile.quote) reading.score = 0;
    return reading;
  }

  /**
   * Returns the token's numbers as of `atMs`. Those of an exchange's seconds explain a rise until
   * its minute is closed.
   */
  measure(token: TokenState, atMs: number): Measured {
    const { seconds } = token;
    if (seconds && isOfSeconds(token, atMs)) {
      const startScore = this.#settings.secondsStartScore;
      return { reading: this.#readSeconds(token, seconds, atMs), form: "seconds", startScore };
    }
    return { reading: this.read(token, atMs), form: formOf(token), startScore: this.startScore(token) };
  }

  judge(token: TokenState, atMs: number): Judgment {
    const reading = this.read(token, atMs);
    const startScore = this.startScore(token);
    if (judgeCanary(token, atMs, this.#settings)) token.isStale = true;
    // Used only to decide whether a running flare ends.
    const isGroupSilent =
      (token.trend.startedMs >= 0 || isBurst(token.trend)) && this.#isGroupSilent(token, atMs);
    const now = {
      atMs,
      price: token.price / token.priceScale,
      topMs: token.seconds ? SECOND_MS : this.#settings.topMs,
      startScore,
      strongerRatio: token.candle ? this.#settings.candleStrongerRatio : this.#settings.strongerRatio,
      startRise: token.candle ? this.#settings.candleStartRise : this.#settings.tradeStartRise,
      startTicks: token.trades ? this.#settings.tradeStartTicks : this.#settings.candleStartTicks,
      mayStart: !token.profile.quote && this.#isKnown(token, atMs),
      hasGraveWarning: hasGraveWarning(token.canary),
      hasPlunged: hasPlunged(token.canary),
      isGroupSilent,
      isSilent: this.#isSilent(token, reading, isGroupSilent, atMs),
    };
    const quick = this.#judgeSeconds(token, now);
    const verdict = quick === "none" ? judge(token.trend, reading, now, this.#settings) : quick;
    const own = { reading, form: formOf(token), startScore };
    return { verdict, ...(isOfSeconds(token, atMs) ? this.measure(token, atMs) : own) };
  }

  #judgeSeconds(token: TokenState, now: Circumstances): Verdict {
    const { seconds, trend, profile } = token;
    if (!seconds || countSeconds(seconds) < this.#settings.secondsTrades) return "none";
    const reading = this.#readSeconds(token, seconds, now.atMs);
    return judgeSeconds(trend, reading, { ...now, mayStart: !profile.quote }, this.#settings);
  }

  #readSeconds(token: TokenState, seconds: SecondsState, atMs: number): Reading {
    const { candle } = token;
    const isUsualKnown = candle !== null && candle.minutes >= this.#settings.candleWarmUp;
    const usual = usualBought(seconds, isUsualKnown ? candle.usualVolume : 0, this.#settings);
    const market = this.#markets[token.group];
    readSeconds(this.#seconds, seconds, { price: token.price, usual }, market, atMs, this.#settings);
    return this.#seconds;
  }

  /** Returns whether the token's normal values are known well enough for a flare to start. */
  #isKnown({ group, candle, trades, pools }: TokenState, atMs: number): boolean {
    if (candle) return candle.minutes >= this.#settings.candleWarmUp;
    const { sinceMs } = this.#markets[group];
    if (!trades || sinceMs < 0 || atMs - sinceMs >= this.#settings.observedMs) return true;
    return pools.some(({ listedMs }) => listedMs >= sinceMs);
  }

  /**
   * Returns whether the token's whole group is silent. An aggregator reports once a minute, so
   * {@link MAX_WINDOW_GAP_MS} without a report is enough. With `OUTAGE_GAPS` (market.ts) alone, it
   * could take 20 minutes to notice.
   */
  #isGroupSilent(token: TokenState, atMs: number): boolean {
    const market = this.#markets[token.group];
    const isAggregatorSilent = token.window !== null && atMs - market.heardMs > MAX_WINDOW_GAP_MS;
    return isAggregatorSilent || isCutOff(market, atMs);
  }

  /**
   * Returns whether trading has almost stopped. Counting is expensive, so a token whose score is
   * too low to start counts as silent.
   */
  #isSilent(token: TokenState, reading: Reading, isGroupSilent: boolean, atMs: number): boolean {
    const { silentMs, silentTrades, outageMs } = this.#settings;
    const isRunning = token.trend.startedMs >= 0 || isBurst(token.trend);
    if (!isRunning && reading.score <= this.startScore(token)) return true;
    const silence = atMs - token.lastMarketMs;
    const wasUnheard = isGroupSilent || atMs - this.#markets[token.group].resumedMs < silentMs;
    if (isRunning && wasUnheard) return silence >= outageMs;
    if (silence >= silentMs) return true;
    if (!token.trades && !token.window) return false;
    const { buys, sells } = countRecentTrades(token, atMs);
    return buys + sells < silentTrades;
  }
}

function formOf({ trades, window }: TokenState): Measured["form"] {
  if (trades) return "trades";
  return window ? "reports" : "candles";
}

function minuteReturn({ minutes }: TokenState, minute: number): number {
  const before = closeAt(minutes, minute - 1);
  return before > 0 ? Math.log(closeAt(minutes, minute) / before) : 0;
}

function riseOf({ candle, trades, window }: TokenState): number {
  if (candle ?? window) return (candle ?? window)?.longRise ?? 0;
  return trades ? Math.log(trades.price / trades.longPrice) : 0;
}

function surplusOf({ candle, trades, window }: TokenState, settings: DetectorSettings): number {
  if (candle ?? window) return (candle ?? window)?.logVolume ?? 0;
  return trades && trades.samples > 0 ? logVolume(trades, settings) - trades.logMean : 0;
}

/** Returns whether seconds of the minute before `atMs` met the start conditions. */
function isOfSeconds({ trend }: TokenState, atMs: number): boolean {
  const minuteOf = (ms: number) => Math.floor((ms - 1) / MINUTE_MS);
  return trend.quickMs >= 0 && minuteOf(trend.quickMs) === minuteOf(atMs);
}
