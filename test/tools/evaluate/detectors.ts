import type { Candle, MarketGroup } from "../../../src/base/market/index.ts";
import type { FinishCause, Outcome, Snapshot } from "../../../src/base/model/index.ts";
import { DEFAULT_SETTINGS, type DetectorSettings, TrendEngine } from "../../../src/engine/index.ts";
import type { Span } from "./score.ts";
import { DAY_MS, type Market, MINUTE_MS, type Series } from "./series.ts";

/**
 * Runs a detector over the minutes [from, to) of a market, after a day of warm-up. Returns its
 * flares, in minutes of the grid.
 */
export type Detector = (market: Market, from: number, to: number) => readonly Detection[];

/** A flare that a detector reports. */
export interface Detection extends Span {
  /** Why the engine ended it; absent while it runs, and for plain rules. */
  readonly endedBy?: FinishCause;
  /** Its outcome, if the detector measures it and it was final within the minutes. */
  readonly outcome?: Outcome | undefined;
}

const WARM_UP_MINUTES = DAY_MS / MINUTE_MS;

/**
 * Creates a detector from Flarewire's own engine. The engine gets the candles as tokens of `group`
 * and is read each minute. Flares come from the detector itself; outcomes are BSC's.
 */
export function engineDetector(
  settings: Partial<DetectorSettings> = {},
  group: MarketGroup = "bsc",
): Detector {
  return (market, from, to) => {
    const open = new Map<string, { readonly startAt: number; readonly sinceMs: number }>();
    const closed: (Detection & { readonly id: string })[] = [];
    const outcomes = new Map<string, Outcome>();
    runEngine(market, { from, to, settings, group }, (engine, at) => {
      for (const series of market.series) {
        const { pair } = series;
        const token = nameIn(group, pair);
        const trend = engine.trendOf(group, token);
        const known = open.get(pair);
        if ((trend?.flaringSinceMs ?? null) === (known?.sinceMs ?? null)) continue;
        if (known) {
          const isDangerous = (trend?.canarySinceMs ?? null) !== null;
          const calm = isSilent(series, at) ? "silent" : "faded";
          const endedBy = isDangerous ? "canary" : trend?.hasReversed ? "reversed" : calm;
          closed.push({
            ...{ pair, endedBy, startAt: known.startAt, endAt: at },
            id: idOf(token, known.sinceMs),
          });
        }
        open.delete(pair);
        if (trend?.flaringSinceMs) open.set(pair, { startAt: at, sinceMs: trend.flaringSinceMs });
      }
      if (engine.nextChangeAtMs <= engine.clockMs) noteOutcomes(outcomes, engine.snapshot());
    });
    const running = [...open].map(([pair, { startAt, sinceMs }]) => {
      return { pair, startAt, endAt: to, id: idOf(nameIn(group, pair), sinceMs) };
    });
    return [...closed, ...running]
      .filter(({ startAt }) => startAt >= from)
      .map(({ id, ...detection }) => ({ ...detection, outcome: outcomes.get(id) }));
  };
}

function idOf(token: string, sinceMs: number): string {
  return `${token} ${sinceMs}`;
}

/** Returns whether the pair's last volume is so old that a flare ends as silent. */
function isSilent({ volume }: Series, at: number): boolean {
  const minutes = DEFAULT_SETTINGS.silentMs / MINUTE_MS;
  return volume.subarray(at - minutes + 1, at + 1).every((traded) => traded === 0);
}

function noteOutcomes(all: Map<string, Outcome>, { flares, outcomes }: Snapshot): void {
  for (const { id, token, started_trending_at } of flares.finished_trending) {
    const outcome = outcomes[id];
    if (outcome?.final) all.set(idOf(token.address, Date.parse(started_trending_at)), outcome);
  }
}

/**
 * Feeds an engine the minutes [from, to) of a market and the day before them. Calls back after each
 * minute.
 */
export function runEngine(
  market: Market,
  span: {
    readonly from: number;
    readonly to: number;
    readonly settings: Partial<DetectorSettings>;
    readonly group?: MarketGroup;
  },
  onMinute: (engine: TrendEngine, at: number) => void,
): void {
  const engine = new TrendEngine({
    facts: { trades: false, liquidity: false, listings: false, profiles: false },
    settings: span.settings,
  });
  const { group = "bsc" } = span;
  for (let at = Math.max(0, span.from - WARM_UP_MINUTES); at < span.to; at += 1) {
    const endMs = market.startMs + (at + 1) * MINUTE_MS;
    for (const series of market.series) {
      if ((series.volume[at] ?? 0) > 0) engine.accept(candleOf(series, at, endMs, group));
    }
    engine.accept({ kind: "clock", at: endMs });
    onMinute(engine, at);
  }
}

/** Creates the simplest rule: the price is `percent` above the price of 15 minutes ago. */
export function priceRule(percent: number): Detector {
  return ruleDetector(
    (series, at) => (series.close[at] ?? 0) / (series.close[at - 15] ?? 1) > 1 + percent / 100,
  );
}

/**
 * Creates a rule on volume alone: five minutes at `factor` times the usual five of the past 6
 * hours.
 */
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

/** Returns the sums of the volumes before each minute. */
function volumeSums(series: Series): Float64Array {
  const known = sumsBySeries.get(series);
  if (known) return known;
  const sums = new Float64Array(series.volume.length + 1);
  for (const [at, volume] of series.volume.entries()) sums[at + 1] = (sums[at] ?? 0) + volume;
  sumsBySeries.set(series, sums);
  return sums;
}

/**
 * Creates a detector from a rule. As in the engine, a flare ends late: when the rule was false for
 * 10 minutes.
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

/** Returns the pair as an address: its name in hexadecimal. */
export function addressOf(pair: string): string {
  return `0x${Buffer.from(pair).toString("hex").padEnd(40, "0")}`;
}

function nameIn(group: MarketGroup, pair: string): string {
  return group === "exchange" ? pair : addressOf(pair);
}

function candleOf(series: Series, at: number, endMs: number, group: MarketGroup): Candle {
  const text = (column: Float64Array) => (column[at] ?? 0).toFixed(10);
  return {
    kind: "candle",
    at: endMs,
    group,
    token: nameIn(group, series.pair),
    openAt: endMs - MINUTE_MS,
    open: text(series.open),
    high: text(series.high),
    low: text(series.low),
    close: text(series.close),
    volume: text(series.volume),
  };
}
