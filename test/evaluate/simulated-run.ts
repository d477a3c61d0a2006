import { createSimulatedMarket, type Label } from "../../src/feed/simulated/index.ts";
import type { MarketEvent, MarketGroup } from "../../src/market/index.ts";
import { type DetectorSettings, TrendEngine } from "../../src/trend/index.ts";
import type { Span } from "./score.ts";
import { emptySeries, fillSilence, type Market, MINUTE_MS, type Series } from "./series.ts";

const HOUR_MS = 60 * MINUTE_MS;
const WARM_UP_MS = 6 * HOUR_MS;
const TOKENS = 480;
const BEGIN_MS = Date.UTC(2026, 0, 5);
/** The engine is looked at this often. Starts and canaries carry their own times, so this bounds only what may be missed: shorter ones. */
const LOOK_MS = 5_000;

/** Hours of a simulated market: what it did on purpose, and its events. */
export interface SimulatedHours {
  readonly seed: number;
  /** Event time scored: from the end of the warm-up. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly events: readonly MarketEvent[];
  readonly labels: readonly Label[];
}

/** What the engine made of it. Times are event time in milliseconds; a pair is named `group token`. */
export interface Observation {
  readonly flares: readonly Span[];
  readonly canaries: readonly Span[];
}

/** Makes `hours` of a simulated market after six of warm-up. */
export function simulate(seed: number, hours: number, tokens = TOKENS): SimulatedHours {
  const labels: Label[] = [];
  const events: MarketEvent[] = [];
  const fromMs = BEGIN_MS + WARM_UP_MS;
  const toMs = fromMs + hours * HOUR_MS;
  const onLabel = (label: Label) => void labels.push(label);
  createSimulatedMarket({ seed, beginAtMs: BEGIN_MS, tokens, onLabel }).advanceTo(toMs, events);
  return { seed, fromMs, toMs, events, labels };
}

/** The name of a token within all groups. */
export function nameOf(group: MarketGroup | null, token: string | null): string {
  return `${group} ${token?.toLowerCase()}`;
}

/** Runs the engine over the hours and notes when each token of every group flared and had its canary on. */
export function observe(hours: SimulatedHours, settings: Partial<DetectorSettings> = {}): Observation {
  const engine = new TrendEngine({ settings });
  const watched = new Map<
    string,
    { readonly group: MarketGroup; readonly token: string; readonly pair: string }
  >();
  const flares = new Intervals();
  const canaries = new Intervals();
  for (const event of hours.events) {
    engine.accept(event);
    if (event.kind === "trade" || event.kind === "candle") {
      const name = `${event.group} ${event.token}`;
      const { group, token } = event;
      if (!watched.has(name)) watched.set(name, { group, token, pair: nameOf(group, token) });
    }
    if (event.kind !== "clock" || event.at % LOOK_MS !== 0) continue;
    for (const { group, token, pair } of watched.values()) {
      const trend = engine.trendOf(group, token);
      flares.note(pair, trend?.flaringSinceMs ?? null, event.at);
      canaries.note(pair, trend?.canarySinceMs ?? null, event.at);
    }
  }
  return { flares: flares.closed(hours.toMs), canaries: canaries.closed(hours.toMs) };
}

/** BSC's trades as candles of a minute, for rules that know no better; volume in dollars. */
export function minutesOfTrades(hours: SimulatedHours): Market {
  const startMs = BEGIN_MS;
  const minutes = (hours.toMs - startMs) / MINUTE_MS;
  const byToken = new Map<string, Series>();
  for (const event of hours.events) {
    if (event.kind !== "trade" || event.group !== "bsc") continue;
    const pair = nameOf(event.group, event.token);
    const series = byToken.get(pair) ?? emptySeries(pair, minutes);
    byToken.set(pair, series);
    const at = Math.floor((event.at - startMs) / MINUTE_MS);
    if (at >= minutes) continue;
    series.close[at] = Number(event.price);
    series.volume[at] = (series.volume[at] ?? 0) + Number(event.quoteUsd);
  }
  for (const series of byToken.values()) fillSilence(series);
  return { startMs, minutes, series: [...byToken.values()] };
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
