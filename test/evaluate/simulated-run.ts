import { createSimulatedMarket, type Label } from "../../src/feed/simulated/index.ts";
import type { Candle, MarketEvent, MarketGroup, Trade } from "../../src/market/index.ts";
import { type DetectorSettings, TrendEngine } from "../../src/trend/index.ts";
import type { Span } from "./score.ts";
import { emptySeries, fillSilence, type Market, MINUTE_MS, type Series } from "./series.ts";

const HOUR_MS = 60 * MINUTE_MS;
const WARM_UP_MS = 6 * HOUR_MS;
const TOKENS = 480;
const BEGIN_MS = Date.UTC(2026, 0, 5);
/** The engine is looked at this often. Starts and canaries carry their own times, so this bounds only what may be missed: shorter ones. */
const LOOK_MS = 5_000;

/**
 * Hours of a simulated market: what it did on purpose, and what the engine made of it. Times are event time in milliseconds; a
 * pair is named `group token`.
 */
export interface SimulatedRun {
  readonly seed: number;
  /** Event time scored: from the end of the warm-up. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly labels: readonly Label[];
  readonly flares: readonly Span[];
  readonly canaries: readonly Span[];
  /** BSC's trades as candles of a minute, for rules that know no better; volume in dollars. Closes and volumes only. */
  readonly minutes: Market;
}

/** What is simulated. */
export interface SimulatedPlan {
  readonly seed: number;
  /** Hours after the six of warm-up. */
  readonly hours: number;
  /** Established tokens over all groups; default 480. */
  readonly tokens?: number;
}

/** The name of a token within all groups. */
export function nameOf(group: MarketGroup | null, token: string | null): string {
  return `${group} ${token?.toLowerCase()}`;
}

/** Makes the hours, runs the engine over them and notes when each token of every group flared and had its canary on. */
export function runSimulated(plan: SimulatedPlan, settings: Partial<DetectorSettings> = {}): SimulatedRun {
  const { seed, hours, tokens = TOKENS } = plan;
  const fromMs = BEGIN_MS + WARM_UP_MS;
  const toMs = fromMs + hours * HOUR_MS;
  const labels: Label[] = [];
  const onLabel = (label: Label) => void labels.push(label);
  const market = createSimulatedMarket({ seed, beginAtMs: BEGIN_MS, tokens, onLabel });
  const engine = new TrendEngine({ settings });
  const watched = new Map<string, Watched>();
  const minutes = new MinuteBook((toMs - BEGIN_MS) / MINUTE_MS);
  const flares = new Intervals();
  const canaries = new Intervals();
  const piece: MarketEvent[] = [];
  for (let atMs = BEGIN_MS; atMs <= toMs; atMs += LOOK_MS) {
    piece.length = 0;
    market.advanceTo(atMs, piece);
    for (const event of piece) {
      engine.accept(event);
      if (event.kind === "trade") minutes.note(event);
      if (event.kind === "trade" || event.kind === "candle") watch(watched, event);
    }
    for (const { group, token, pair } of watched.values()) {
      const trend = engine.trendOf(group, token);
      flares.note(pair, trend?.flaringSinceMs ?? null, atMs);
      canaries.note(pair, trend?.canarySinceMs ?? null, atMs);
    }
  }
  return {
    ...{ seed, fromMs, toMs, labels, minutes: minutes.market() },
    ...{ flares: flares.closed(toMs), canaries: canaries.closed(toMs) },
  };
}

interface Watched {
  readonly group: MarketGroup;
  readonly token: string;
  readonly pair: string;
}

function watch(watched: Map<string, Watched>, { group, token }: Trade | Candle): void {
  const name = `${group} ${token}`;
  if (!watched.has(name)) watched.set(name, { group, token, pair: nameOf(group, token) });
}

/** Adds trades up to minutes. */
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

/** Turns repeated looks at "since when" into spans. */
class Intervals {
  readonly #open = new Map<string, number>();
  readonly #spans: Span[] = [];

  note(pair: string, sinceMs: number | null, atMs: number): void {
    const before = this.#open.get(pair);
    if (before === (sinceMs ?? undefined)) return;
    if (before !== undefined) this.#spans.push({ pair, startAt: before, endAt: atMs });
    if (sinceMs === null) this.#open.delete(pair);
    else this.#open.set(pair, sinceMs);
  }

  closed(endAt: number): readonly Span[] {
    return [...this.#spans, ...[...this.#open].map(([pair, startAt]) => ({ pair, startAt, endAt }))];
  }
}
