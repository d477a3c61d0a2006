import type { Candle, MarketEvent, MarketGroup, Trade } from "../../../src/base/market/index.ts";
import type { Outcome, Snapshot } from "../../../src/base/model/index.ts";
import { type DetectorSettings, TrendEngine } from "../../../src/engine/index.ts";
import type { Label } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { createSimulatedMarket } from "../../../src/feeds/simulated/market/simulated-market.ts";
import { LastTrades, nameOf } from "./last-trades.ts";
import { type Liveness, LivenessBook } from "./liveness.ts";
import { type PumpCourse, PumpCourses } from "./pump-courses.ts";
import type { Span } from "./score.ts";
import { emptySeries, fillSilence, type Market, MINUTE_MS, type Series } from "./series.ts";
import { WindowBook } from "./windows.ts";

const HOUR_MS = 60 * MINUTE_MS;
const WARM_UP_MS = 6 * HOUR_MS;
const TOKENS = 480;
const BEGIN_MS = Date.UTC(2026, 0, 5);
/**
 * Interval at which the engine is read. Starts and canaries have their own times, so only flares
 * shorter than this can be missed.
 */
const LOOK_MS = 5_000;

/**
 * Hours of a simulated market with its labels and the engine's flares. Times are event time in
 * milliseconds. A pair is named `group token`.
 */
export interface SimulatedRun {
  readonly seed: number;
  /** Scored event time, which starts at the end of the warm-up. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly labels: readonly Label[];
  readonly flares: readonly Span[];
  readonly canaries: readonly Span[];
  readonly liveness: Liveness;
  /** Labelled pumps with their prices. */
  readonly pumps: readonly PumpCourse[];
  /**
   * BSC's trades as one-minute candles for the plain rules. Only closes and volumes in dollars are
   * set.
   */
  readonly minutes: Market;
  /** Final outcomes of BSC's flares, by pair and start: `pair startMs`. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/** The market to simulate. */
export interface SimulatedPlan {
  readonly seed: number;
  /** Hours after the six of warm-up. */
  readonly hours: number;
  /** Established tokens over all groups. Default 480. */
  readonly tokens?: number;
  /**
   * The engine gets single trades of the chains (default), or an aggregator's reports on this many
   * pools per group.
   */
  readonly listed?: number;
}

/**
 * Simulates the hours, runs the engine on them, and records when each token flared and had its
 * canary on.
 */
export function runSimulated(plan: SimulatedPlan, settings: Partial<DetectorSettings> = {}): SimulatedRun {
  const { seed, hours, tokens = TOKENS, listed } = plan;
  const fromMs = BEGIN_MS + WARM_UP_MS;
  const toMs = fromMs + hours * HOUR_MS;
  const labels: Label[] = [];
  const prices = new LastTrades();
  const courses = new PumpCourses(prices);
  const onLabel = (label: Label) => {
    labels.push(label);
    courses.begin(label);
  };
  const market = createSimulatedMarket({ seed, beginAtMs: BEGIN_MS, tokens, onLabel });
  const engine = new TrendEngine({ settings });
  const windows = listed === undefined ? undefined : new WindowBook(listed);
  const watched = new Map<string, Watched>();
  const minutes = new MinuteBook((toMs - BEGIN_MS) / MINUTE_MS);
  const flares = new Intervals();
  const canaries = new Intervals();
  const liveness = new LivenessBook(labels, prices);
  const outcomes = new Map<string, Outcome>();
  const piece: MarketEvent[] = [];
  for (let atMs = BEGIN_MS; atMs <= toMs; atMs += LOOK_MS) {
    piece.length = 0;
    market.advanceTo(atMs, piece);
    for (const event of piece) {
      if (!windows?.hides(event)) engine.accept(event);
      if (event.kind === "trade") minutes.note(event);
      if (event.kind !== "trade" && event.kind !== "candle") continue;
      const { pair } = watch(watched, event);
      if (prices.note(pair, event)) courses.trade(pair, event);
    }
    if (atMs % MINUTE_MS === 0) for (const report of windows?.reports(atMs) ?? []) engine.accept(report);
    for (const { group, token, pair } of watched.values()) {
      const trend = engine.trendOf(group, token);
      const since = trend?.flaringSinceMs ?? null;
      if (flares.note(pair, since, atMs) && since !== null) courses.flare(pair, since);
      canaries.note(pair, trend?.canarySinceMs ?? null, atMs);
    }
    if (atMs >= fromMs && atMs % MINUTE_MS === 0) {
      liveness.sample(engine.snapshot(), flares.open, atMs);
      noteOutcomes(outcomes, engine.snapshot());
    }
  }
  return {
    ...{ seed, fromMs, toMs, labels, minutes: minutes.market() },
    ...{ flares: flares.closed(toMs), canaries: canaries.closed(toMs) },
    ...{ liveness: liveness.counts, pumps: courses.all, outcomes },
  };
}

function noteOutcomes(all: Map<string, Outcome>, { flares, outcomes }: Snapshot): void {
  for (const { id, token, started_trending_at } of flares.finished_trending) {
    const outcome = outcomes[id];
    const key = `${nameOf("bsc", token.address)} ${Date.parse(started_trending_at)}`;
    if (outcome?.final) all.set(key, outcome);
  }
}

interface Watched {
  readonly group: MarketGroup;
  readonly token: string;
  readonly pair: string;
}

function watch(watched: Map<string, Watched>, { group, token }: Trade | Candle): Watched {
  const name = `${group} ${token}`;
  const known = watched.get(name);
  if (known) return known;
  const added = { group, token, pair: nameOf(group, token) };
  watched.set(name, added);
  return added;
}

/** Adds up trades to minutes. */
class MinuteBook {
  readonly #minutes: number;
  readonly #series = new Map<string, Series>();

  constructor(minutes: number) {
    this.#minutes = minutes;
  }

  note({ group, token, at, price, quoteUsd }: Trade): void {
    const minute = Math.floor((at - BEGIN_MS) / MINUTE_MS);
    if (group !== "bsc" || minute >= this.#minutes) return;
    const pair = nameOf(group, token);
    const series = this.#series.get(pair) ?? emptySeries(pair, this.#minutes);
    this.#series.set(pair, series);
    series.close[minute] = Number(price);
    series.volume[minute] = (series.volume[minute] ?? 0) + Number(quoteUsd);
  }

  market(): Market {
    const series = [...this.#series.values()];
    for (const one of series) fillSilence(one);
    return { startMs: BEGIN_MS, minutes: this.#minutes, series };
  }
}

/** Turns repeated reports of "since when" into spans. */
class Intervals {
  readonly #open = new Map<string, number>();
  readonly #spans: Span[] = [];

  /** Start of each open span, by pair. */
  get open(): ReadonlyMap<string, number> {
    return this.#open;
  }

  /** Records a report. Returns true if a span began or ended. */
  note(pair: string, sinceMs: number | null, atMs: number): boolean {
    const before = this.#open.get(pair);
    if (before === (sinceMs ?? undefined)) return false;
    if (before !== undefined) this.#spans.push({ pair, startAt: before, endAt: atMs });
    if (sinceMs === null) this.#open.delete(pair);
    else this.#open.set(pair, sinceMs);
    return true;
  }

  closed(endAt: number): readonly Span[] {
    return [...this.#spans, ...[...this.#open].map(([pair, startAt]) => ({ pair, startAt, endAt }))];
  }
}
