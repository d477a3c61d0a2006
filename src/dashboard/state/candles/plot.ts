import { HOUR_MS, MINUTE_MS } from "../../../lib/time/time.ts";

/** What the page reads of a candle. A minute without a trade has none. */
export interface PlotCandle {
  readonly open_at: string;
  /** `null` if none of the minute's trades set the price. */
  readonly close: string | null;
  readonly volume: string;
}

/** Where the page draws the price, the volume and the flare, in pixels of its picture. */
export interface Plot {
  readonly price: string;
  readonly volume: string;
  /** Where the flare starts. */
  readonly startX: number;
  readonly startY: number;
  readonly low: number;
  readonly high: number;
}

export const PLOT = { width: 180, height: 48, priceHeight: 34 } as const;

interface PlotOptions {
  readonly startMs: number;
  /** End of the last closed minute. */
  readonly closedMs: number;
}

/** Lays out the last hour; `undefined` with fewer than two prices. */
export function plotOf(candles: readonly PlotCandle[], { startMs, closedMs }: PlotOptions): Plot | undefined {
  const fromMs = closedMs - HOUR_MS;
  const x = (atMs: number) => Math.min(1, Math.max(0, (atMs - fromMs) / HOUR_MS)) * PLOT.width;
  const points = pointsOf(candles);
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < 2) return undefined;
  const prices = points.map(([, price]) => price);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const y = (price: number) => 2 + (1 - (price - low) / (high - low || 1)) * (PLOT.priceHeight - 4);
  const corners = points.map(([atMs, price], at) => {
    const [, before] = points[at - 1] ?? [0, price];
    // A minute without a trade keeps the price: a step, not a slope.
    const isGap = atMs - (points[at - 1]?.[0] ?? atMs) > MINUTE_MS;
    const step = isGap ? `L${x(atMs - MINUTE_MS).toFixed(1)} ${y(before).toFixed(1)}` : "";
    return `${step}${at === 0 ? "M" : "L"}${x(atMs).toFixed(1)} ${y(price).toFixed(1)}`;
  });
  const most = Math.max(...candles.map(({ volume }) => Number(volume)), Number.MIN_VALUE);
  const bars = candles.map(({ open_at, volume }) => {
    const height = (Number(volume) / most) * (PLOT.height - PLOT.priceHeight - 2);
    return `M${x(Date.parse(open_at) + MINUTE_MS / 2).toFixed(1)} ${PLOT.height}v${(-height).toFixed(1)}`;
  });
  return {
    price: `${corners.join("")}L${PLOT.width} ${y(last[1]).toFixed(1)}`,
    volume: bars.join(""),
    startX: x(startMs),
    startY: y(priceAt(candles, startMs) ?? first[1]),
    low,
    high,
  };
}

/**
 * Estimates the price at a moment between two closes, in a straight line. `undefined` if the
 * candles do not reach back that far.
 */
export function priceAt(candles: readonly PlotCandle[], atMs: number): number | undefined {
  const points = pointsOf(candles);
  const at = points.findLastIndex(([closeMs]) => closeMs <= atMs);
  const [before, after] = [points[at], points[at + 1]];
  if (!before) return undefined;
  if (!after) return before[1];
  return before[1] + ((after[1] - before[1]) * (atMs - before[0])) / (after[0] - before[0]);
}

/** A price and the end of the minute that it closed, in milliseconds since 1970 UTC. */
export type PricePoint = readonly [atMs: number, price: number];

/** Returns the closes, each with the end of its minute. */
function pointsOf(candles: readonly PlotCandle[]): readonly PricePoint[] {
  return candles.flatMap(({ open_at, close }): readonly PricePoint[] => {
    const price = Number(close);
    return price > 0 ? [[Date.parse(open_at) + MINUTE_MS, price]] : [];
  });
}

/** Returns the closes of the hour before now, and the price now; empty if no close is that new. */
export function pointsUntil(
  candles: readonly PlotCandle[],
  nowMs: number,
  price: string,
): readonly PricePoint[] {
  const closes = pointsOf(candles).filter(([atMs]) => atMs > nowMs - HOUR_MS && atMs <= nowMs);
  return closes.length === 0 ? [] : [...closes, [nowMs, Number(price)]];
}

/** Returns the closes of a chart: percent from their average, one each minute until `endMs`. */
export function pointsOfChart(
  average: string,
  values: readonly number[],
  endMs: number,
): readonly PricePoint[] {
  return values.map((pct, at) => [
    endMs - (values.length - 1 - at) * MINUTE_MS,
    Number(average) * (1 + pct / 100),
  ]);
}

interface Measured {
  readonly peak_at: string | null;
  readonly peak_change: number | null;
  readonly end_change: number | null;
  readonly change_5m: number | null;
  readonly change_15m: number | null;
  readonly change_60m: number | null;
}

/** The course of a flare that ended, in pixels; a point for each known measurement. */
export interface Course {
  readonly path: string;
  readonly zero: number;
  readonly peak: readonly [number, number] | undefined;
  readonly end: readonly [number, number] | undefined;
}

export function courseOf(
  outcome: Measured,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): Course | undefined {
  const { change_5m, change_15m, change_60m, end_change, peak_change, peak_at } = outcome;
  const peakMs = peak_at === null ? Number.NaN : Date.parse(peak_at) - startMs;
  const given: readonly (readonly [number, number | null])[] = [
    [5 * MINUTE_MS, change_5m],
    [15 * MINUTE_MS, change_15m],
    [HOUR_MS, change_60m],
    [peakMs, peak_change],
    [endMs - startMs, end_change],
  ];
  const known = given.filter((one): one is readonly [number, number] => one[1] !== null && one[0] >= 0);
  if (known.length === 0) return undefined;
  const points = [[0, 0] as const, ...known].sort(([a], [b]) => a - b);
  const spanMs = Math.max(...points.map(([atMs]) => atMs), 1);
  const changes = points.map(([, change]) => change);
  const [low, high] = [Math.min(...changes), Math.max(...changes)];
  const x = (atMs: number) => 3 + (atMs / spanMs) * (PLOT.width - 6);
  const y = (change: number) => 4 + (1 - (change - low) / (high - low || 1)) * (PLOT.priceHeight - 8);
  const at = (atMs: number, change: number | null) =>
    change === null || !(atMs >= 0) ? undefined : ([x(atMs), y(change)] as const);
  return {
    path: points
      .map(
        ([atMs, change], index) => `${index === 0 ? "M" : "L"}${x(atMs).toFixed(1)} ${y(change).toFixed(1)}`,
      )
      .join(""),
    zero: y(0),
    peak: at(peakMs, peak_change),
    end: at(endMs - startMs, end_change),
  };
}
