import { MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { Episode } from "../episodes/episode-schedule.ts";
import type { LabelSink } from "../episodes/label.ts";
import { type MarketFactor, rhythmAt } from "../episodes/market-factor.ts";
import { ScriptRun } from "../episodes/script.ts";
import { FairValue, type ValueTraits } from "../fair-value.ts";
import type { Random } from "../random.ts";
import type { Course, Minute, ScriptPart } from "./minute.ts";

/*
 * One pair of the exchange. Trades of a minute trigger trades in the next: λₜ = (1 − a − b)·usual +
 * a·nₜ₋₁ + b·λₜ₋₁ (Ferland, Latour, Oraichi, "Integer-valued GARCH process", Journal of Time Series
 * Analysis 27, 2006), the discrete counterpart of a Hawkes process.
 */
const FROM_TRADES = 0.3;
const FROM_RATE = 0.5;
/** During a tick, trades occur at this share of the usual rate. */
const TICK_SHARE = 0.2;

interface PairTraits {
  readonly symbol: string;
  readonly value: ValueTraits;
  readonly tradesPerMinute: number;
  readonly tradeUsd: number;
  readonly nextEpisode: (nowMs: number) => Episode;
}

/** A script's effect within one minute. */
interface Push extends Course {
  /** Expected number of scripted trades in the minute. */
  readonly trades: number;
  readonly buyShare: number;
  /** Highest logarithm of the target price over the fair value within the minute. */
  readonly highest: number;
  /** The same at the end of the minute. */
  readonly last: number;
  readonly isTick: boolean;
}

const NO_PUSH: Push = { trades: 0, buyShare: 0, highest: 0, last: 0, isTick: false, before: 0, parts: [] };

/** Simulates a pair of the exchange, minute by minute. */
export class ExchangePair {
  readonly #traits: PairTraits;
  readonly #random: Random;
  readonly #value: FairValue;
  readonly #onLabel: LabelSink;
  #close: number;
  #rate: number;
  #trades: number;
  #episode: Episode;
  #run: ScriptRun | null = null;
  /** The script's effect at the end of the previous minute. */
  #offset = 0;

  constructor(
    traits: PairTraits,
    marketFactor: MarketFactor,
    onLabel: LabelSink,
    nowMs: number,
    random: Random,
  ) {
    this.#traits = traits;
    this.#random = random;
    this.#onLabel = onLabel;
    this.#value = new FairValue(traits.value, {
      get level() {
        return marketFactor.levelInAMinute;
      },
    });
    this.#close = traits.value.startUsd;
    this.#rate = traits.tradesPerMinute;
    this.#trades = traits.tradesPerMinute;
    this.#episode = traits.nextEpisode(nowMs);
  }

  /**
   * Decides the minute that begins at `openAt`. Returns `undefined` if there are no trades, as in a
   * minute that is partly `isDown`.
   */
  passMinute(openAt: number, isDown: boolean): Minute | undefined {
    const random = this.#random;
    this.#value.step(random);
    const push = this.#push(openAt);
    const usual = this.#traits.tradesPerMinute * rhythmAt(openAt);
    this.#rate = (1 - FROM_TRADES - FROM_RATE) * usual + FROM_TRADES * this.#trades + FROM_RATE * this.#rate;
    const own = random.poisson(this.#rate * (push.isTick ? TICK_SHARE : 1));
    // Scripted trades do not trigger more, so the push keeps its planned size.
    this.#trades = push.isTick ? this.#rate : own;
    const scripted = push.trades > 0 ? random.poisson(push.trades) : 0;
    const trades = push.isTick ? Math.max(1, own) : own + scripted;
    return trades > 0 && !isDown ? this.#minute(openAt, trades, scripted, push) : undefined;
  }

  #minute(openAt: number, trades: number, scripted: number, push: Push): Minute {
    const random = this.#random;
    const open = this.#close;
    const noise = (0.4 * this.#traits.value.volatility * random.normal()) / Math.sqrt(trades);
    const close = Math.exp(this.#value.log + push.last + noise);
    const reach = this.#traits.value.volatility;
    const swing = Math.log(close / open);
    const top = open * Math.exp((swing + bridge(swing, reach, random)) / 2);
    const bottom = open * Math.exp((swing - bridge(swing, reach, random)) / 2);
    const peak = push.highest > push.last ? close * Math.exp(push.highest - push.last) : close;
    this.#close = close;
    const volume = (trades * random.logNormal(this.#traits.tradeUsd, 0.8 / Math.sqrt(trades))) / close;
    const lean = 0.5 + Math.max(-0.3, Math.min(0.3, (0.12 * swing) / (reach * 2))) + 0.05 * random.normal();
    const own = trades - scripted;
    const bought = Math.max(0.02, Math.min(0.98, (own * lean + scripted * push.buyShare) / trades));
    return {
      openAt,
      open,
      close,
      volume,
      trades,
      scripted,
      lean,
      reach,
      course: push,
      high: Math.max(top, peak, open, close),
      low: Math.min(bottom, open, close),
      buyVolume: volume * bought,
    };
  }

  /**
   * Returns the script's effect within the minute. Starts the next script when due, and ends it.
   */
  #push(openAt: number): Push {
    if (this.#run === null && openAt >= this.#episode.atMs) this.#start(openAt);
    const run = this.#run;
    if (run === null) return NO_PUSH;
    const before = this.#offset;
    const parts: ScriptPart[] = [];
    const closeAt = openAt + MINUTE_MS;
    let trades = 0;
    let bought = 0;
    let highest = Number.NEGATIVE_INFINITY;
    let isTick = false;
    for (let from = openAt; from < closeAt && run.phase; ) {
      const { phase } = run;
      const until = Math.min(closeAt, phase.untilMs);
      trades += phase.tradesPerMs * (until - from);
      bought += phase.tradesPerMs * (until - from) * phase.buyShare;
      const [fromOffset, untilOffset] = [run.offsetAt(from), run.offsetAt(until)];
      highest = Math.max(highest, untilOffset);
      parts.push({ phase, from, until, fromOffset, untilOffset });
      isTick ||= phase.style === "tick";
      from = until;
      if (phase.untilMs <= until) run.next();
    }
    const last = run.offsetAt(closeAt);
    const buyShare = trades > 0 ? bought / trades : 0.5;
    const push = { trades, buyShare, highest, last, isTick, before, parts };
    this.#offset = run.phase ? last : 0;
    if (run.phase) return push;
    this.#value.settle(last);
    this.#run = null;
    this.#episode = this.#traits.nextEpisode(closeAt);
    return { ...push, highest: highest - last, last: 0 };
  }

  #start(openAt: number): void {
    const usualPerMs = (this.#traits.tradesPerMinute * rhythmAt(openAt)) / MINUTE_MS;
    const stage = { group: "exchange", token: this.#traits.symbol, nowMs: openAt, usualPerMs } as const;
    const script = this.#episode.plan(stage, this.#random);
    // Start at the last visible price, as on the chains.
    this.#value.settle(Math.log(this.#close) - this.#value.log);
    this.#run = new ScriptRun(script);
    this.#onLabel(script.label);
  }
}

/**
 * Returns twice the distance from the middle of a Brownian bridge's ends to its maximum (or,
 * mirrored, minimum): √(swing² − 2σ²·ln U), drawn exactly (Glasserman, "Monte Carlo Methods in
 * Financial Engineering", 6.4).
 */
function bridge(swing: number, deviation: number, random: Random): number {
  return Math.sqrt(swing * swing - 2 * deviation * deviation * Math.log(random.unit()));
}
