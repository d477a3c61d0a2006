import type { Candle } from "../../src/market/index.ts";
import type { Outcome } from "../../src/model/index.ts";
import { type DetectorSettings, TrendEngine } from "../../src/trend/index.ts";
import type { Span } from "./score.ts";
import { DAY_MS, type Market, MINUTE_MS, type Series } from "./series.ts";

/**
 * Looks at the minutes [from, to) of a market, having seen a day before them, and reports what
 * flared, in minutes of the grid.
 */
export type Detector = (market: Market, from: number, to: number) => readonly Detection[];

/** What a detector found. */
export interface Detection extends Span {
  /** What followed, if the detector measures it and it was final within the minutes. */
  readonly outcome?: Outcome | undefined;
}

const WARM_UP_MINUTES = DAY_MS / MINUTE_MS;

/** Flarewire's own engine, fed with the candles, looked at each minute. */
export function engineDetector(settings: Partial<DetectorSettings> = {}): Detector {
  return (market, from, to) => {
    const pairs = new Map(market.series.map(({ pair }) => [addressOf(pair), pair]));
    const open = new Map<string, { pair: string; startAt: number }>();
    const closed = new Map<string, Detection>();
    runEngine(market, { from, to, settings }, (engine, at) => {
      if (engine.nextChangeAtMs > engine.clockMs) return;
      const { flares, outcomes } = engine.snapshot();
      const running = new Map(flares.pro.map((flare) => [flare.id, flare.token.address]));
      for (const [id, address] of running) {
        if (!open.has(id)) open.set(id, { pair: pairs.get(address) ?? address, startAt: at });
      }
      for (const [id, started] of open) {
        if (running.has(id)) continue;
        closed.set(id, { ...started, endAt: at });
        open.delete(id);
      }
      for (const [id, outcome] of Object.entries(outcomes)) {
        const detection = closed.get(id);
        if (outcome.final && detection) closed.set(id, { ...detection, outcome });
      }
    });
    for (const [id, started] of open) closed.set(id, { ...started, endAt: to });
    return [...closed.values()].filter(({ startAt }) => startAt >= from);
  };
}

/**
 * Feeds an engine with the minutes [from, to) of a market and the day before them, and shows it
 * after each.
 */
export function runEngine(
  market: Market,
  span: { readonly from: number; readonly to: number; readonly settings: Partial<DetectorSettings> },
  onMinute: (engine: TrendEngine, at: number) => void,
): void {
  const engine = new TrendEngine({
    facts: { trades: false, liquidity: false, listings: false, profiles: false },
    settings: span.settings,
  });
  for (let at = Math.max(0, span.from - WARM_UP_MINUTES); at < span.to; at += 1) {
    const endMs = market.startMs + (at + 1) * MINUTE_MS;
    for (const series of market.series) {
      if ((series.volume[at] ?? 0) > 0) engine.accept(candleOf(series, at, endMs));
    }
    engine.accept({ kind: "clock", at: endMs });
    onMinute(engine, at);
  }
}

/**
 * The rule that everybody starts with: the price stands `percent` above where it was 15 minutes
 * ago.
 */
export function priceRule(percent: number): Detector {
  return ruleDetector(
    (series, at) => (series.close[at] ?? 0) / (series.close[at - 15] ?? 1) > 1 + percent / 100,
  );
}

/** Volume alone: the last 5 minutes trade `factor` times what 5 minutes of the past 6 hours did. */
export function volumeRule(factor: number): Detector {
  return ruleDetector((series, at) => {
    const sums = volumeSums(series);
    const upTo = (minute: number) => sums[minute + 1] ?? 0;
    const recent = upTo(at) - upTo(at - 5);
    const usual = upTo(at - 5) - upTo(at - 365);
    return usual > 0 && recent > (factor * usual) / 72;
  });
}

const sumsBySeries = new WeakMap<Series, Float64Array>();

/** Sums of the volumes before each minute. */
function volumeSums(series: Series): Float64Array {
  const known = sumsBySeries.get(series);
  if (known) return known;
  const sums = new Float64Array(series.volume.length + 1);
  for (const [at, volume] of series.volume.entries()) sums[at + 1] = (sums[at] ?? 0) + volume;
  sumsBySeries.set(series, sums);
  return sums;
}

/**
 * A rule with the same manners as the engine: a detection lasts until the rule was false for 10
 * minutes.
 */
function ruleDetector(holds: (series: Series, at: number) => boolean): Detector {
  return (market, from, to) =>
    market.series.flatMap((series) => {
      const detections: Span[] = [];
      let startAt: number | undefined;
      let lastAt = 0;
      for (let at = Math.max(from, 365); at < to; at += 1) {
        if (holds(series, at)) {
          startAt ??= at;
          lastAt = at;
        } else if (startAt !== undefined && at - lastAt >= 10) {
          detections.push({ pair: series.pair, startAt, endAt: at });
          startAt = undefined;
        }
      }
      if (startAt !== undefined) detections.push({ pair: series.pair, startAt, endAt: to });
      return detections;
    });
}

/** The pair as an address: its name in hexadecimal. */
export function addressOf(pair: string): string {
  return `0x${Buffer.from(pair).toString("hex").padEnd(40, "0")}`;
}

function candleOf(series: Series, at: number, endMs: number): Candle {
  const text = (column: Float64Array) => (column[at] ?? 0).toFixed(10);
  return {
    kind: "candle",
    at: endMs,
    group: "bsc",
    token: addressOf(series.pair),
    openAt: endMs - MINUTE_MS,
    open: text(series.open),
    high: text(series.high),
    low: text(series.low),
    close: text(series.close),
    volume: text(series.volume),
  };
}
