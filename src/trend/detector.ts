import { MINUTE_MS } from "../lib/time.ts";
import type { FeedFacts, MarketGroup } from "../market/index.ts";
import { advanceRing, amendClose, closeAt, recordInRing } from "./bucket-ring.ts";
import { isDangerous, judgeCanary } from "./canary.ts";
import { type Minute, stepCandle } from "./candle-detector.ts";
import { judge, type Verdict } from "./hysteresis.ts";
import { liquidityOf } from "./pools.ts";
import type { PriorBook } from "./prior-book.ts";
import { createReading, type Market, type Reading, readCandle, readTrades } from "./score.ts";
import type { DetectorSettings } from "./settings.ts";
import { medianInPlace } from "./statistics.ts";
import { CHART_MINUTES, isLive, notePrice, type PendingCandle, type TokenState } from "./token-state.ts";
import { decayTrades, logVolume, sampleTrades } from "./trade-detector.ts";

/** The groups' markets, as of the last minute. */
export type Markets = Record<MarketGroup, Market>;

/** Groups of which nothing is known yet. */
export function createMarkets(): Markets {
  const flat = (): Market => ({ longRise: 0, burst: 0, logVolume: 0 });
  return { bsc: flat(), exchange: flat(), matic: flat(), avalanche: flat() };
}

/** Runs the detector over tokens: takes in each minute, measures the groups, reads and judges single tokens. */
export class Detector {
  readonly #settings: DetectorSettings;
  readonly #facts: FeedFacts;
  readonly #markets: Markets;
  readonly #priors: PriorBook;
  readonly #reading: Reading = createReading();
  /** Room for one number a token, for the medians. */
  #room = new Float64Array(64);

  constructor(settings: DetectorSettings, facts: FeedFacts, markets: Markets, priors: PriorBook) {
    this.#settings = settings;
    this.#facts = facts;
    this.#markets = markets;
    this.#priors = priors;
  }

  /** The score that a token must pass to start. */
  startScore(token: TokenState): number {
    return token.trades ? this.#settings.tradeStartScore : this.#settings.candleStartScore;
  }

  /** How fast the token's baselines learn. */
  rateOf(token: TokenState): number {
    return token.trend.isHigh ? this.#settings.frozenRate : 1;
  }

  /** Closes the minute that ends at `atMs` for one token: its candle or, where none came, a flat one; of trades, the minute's samples. */
  closeMinute(token: TokenState, atMs: number): void {
    const minute = atMs / MINUTE_MS - 1;
    if (token.candle) {
      token.candleBefore = { ...token.candle };
      const { pending } = token;
      if (pending) {
        recordInRing(token.minutes, minute, pending.close, 0, 0);
        notePrice(token, pending.close, pending.text, minute);
        token.pending = null;
      }
      stepCandle(token.candle, pending ?? flat(token.candle.close), this.rateOf(token), this.#settings);
    } else if (token.trades && isLive(token, atMs)) {
      const rate = this.rateOf(token);
      decayTrades(token.trades, atMs, rate, this.#settings);
      const liquidity = liquidityOf(token);
      this.#priors.note(token.group, liquidity, token.trades.minuteBuyers, MINUTE_MS, atMs);
      token.trades.priorRate = this.#priors.rateOf(token.group, liquidity);
      sampleTrades(token.trades, rate, this.#settings);
    } else return;
    if (token.peakMinute <= minute - CHART_MINUTES) findPeak(token, minute);
    token.isStale = true;
  }

  /** Takes back the minute that ended at `atMs` and closes it anew with a candle that came late. */
  amendMinute(token: TokenState, candle: PendingCandle, atMs: number): void {
    if (!token.candle) return;
    const minute = atMs / MINUTE_MS - 1;
    recordInRing(token.minutes, minute, candle.close, 0, 0);
    amendClose(token.minutes, minute, candle.close);
    notePrice(token, candle.close, candle.text, minute);
    if (token.candleBefore) token.candle = { ...token.candleBefore };
    else token.candleBefore = { ...token.candle };
    stepCandle(token.candle, candle, this.rateOf(token), this.#settings);
    token.isStale = true;
  }

  /** Measures a group at the minute `atMs`, after {@link closeMinute} of each of its tokens. */
  measureMarket(group: MarketGroup, tokens: readonly TokenState[], atMs: number): void {
    const live = tokens.filter((token) => !token.profile.quote && isLive(token, atMs));
    const market = this.#markets[group];
    const isKnown = live.length >= this.#settings.marketMinimum;
    market.longRise = isKnown ? this.#median(live, (token) => riseOf(token)) : 0;
    market.burst = isKnown ? this.#median(live, ({ candle, trades }) => (candle ?? trades)?.burst ?? 0) : 0;
    market.logVolume = isKnown ? this.#median(live, (token) => surplusOf(token, this.#settings)) : 0;
  }

  /** Reads the token as of `atMs`. The reading is valid until the next one. */
  read(token: TokenState, atMs: number): Reading {
    const reading = this.#reading;
    const market = this.#markets[token.group];
    if (token.trades) {
      decayTrades(token.trades, atMs, this.rateOf(token), this.#settings);
      const liquidity = this.#facts.liquidity ? liquidityOf(token) : null;
      readTrades(reading, token.trades, market, liquidity, this.#settings);
    } else if (token.candle) {
      readCandle(reading, token.candle, market, this.#settings);
    } else reading.score = 0;
    if (token.profile.quote) reading.score = 0;
    return reading;
  }

  /** Judges the token's canary and its trend at `atMs`. */
  judge(token: TokenState, atMs: number): { readonly verdict: Verdict; readonly reading: Reading } {
    const reading = this.read(token, atMs);
    if (judgeCanary(token, atMs, this.#settings)) token.isStale = true;
    const isCandle = token.candle !== null;
    const now = {
      atMs,
      startScore: this.startScore(token),
      startTicks: isCandle ? this.#settings.candleStartTicks : this.#settings.tradeStartTicks,
      mayStart:
        !token.profile.quote && (!token.candle || token.candle.minutes >= this.#settings.candleWarmUp),
      isDangerous: isDangerous(token.canary),
      lastMarketMs: token.lastMarketMs,
    };
    return { verdict: judge(token.trend, reading, now, this.#settings), reading };
  }

  #median(tokens: readonly TokenState[], of: (token: TokenState) => number): number {
    if (this.#room.length < tokens.length) this.#room = new Float64Array(tokens.length * 2);
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index];
      if (token) this.#room[index] = of(token);
    }
    return medianInPlace(this.#room, tokens.length);
  }
}

function flat(close: number): Minute {
  return { close, volume: 0, buyShare: undefined };
}

function riseOf({ candle, trades }: TokenState): number {
  if (candle) return candle.longRise;
  return trades ? Math.log(trades.price / trades.longPrice) : 0;
}

function surplusOf({ candle, trades }: TokenState, settings: DetectorSettings): number {
  if (candle) return candle.logVolume;
  return trades && trades.samples > 0 ? logVolume(trades, settings) - trades.logMean : 0;
}

function findPeak(token: TokenState, minute: number): void {
  advanceRing(token.minutes, minute);
  token.peak = token.price;
  token.peakMinute = minute;
  for (let step = Math.max(minute - CHART_MINUTES + 1, token.minutes.first); step <= minute; step++) {
    const close = closeAt(token.minutes, step);
    if (close > token.peak) {
      token.peak = close;
      token.peakMinute = step;
    }
  }
}
