import { HOUR_MS, MINUTE_MS } from "../../../../base/lib/time/time.ts";
import {
  closesOf,
  type PricedCandle as PlotCandle,
  type PricePoint,
  priceLine,
} from "../../../../base/model/text/price-line.ts";

export type { PlotCandle, PricePoint };

/** Paths of the price and the volume, and where the flare starts, in pixels of the plot. */
export interface Plot {
  readonly price: string;
  readonly volume: string;
  readonly startX: number;
  readonly startY: number;
  /** The lowest and the highest price. */
  readonly low: number;
  readonly high: number;
  /** Whether the last price is at least the first one. */
  readonly isUp: boolean;
}

export const PLOT = { width: 180, height: 48, priceHeight: 34 } as const;

interface PlotOptions {
  readonly startMs: number;
  /** End of the last closed minute. */
  readonly closedMs: number;
}

/** Lays out the last hour; `undefined` with fewer than two prices. */
export function plotOf(candles: readonly PlotCandle[], { startMs, closedMs }: PlotOptions): Plot | undefined {
  const { width, height, priceHeight } = PLOT;
  const volumeHeight = height - priceHeight - 2;
  const span = { fromMs: closedMs - HOUR_MS, toMs: closedMs };
  const line = priceLine(candles, { width, height, priceHeight, volumeHeight, edge: 2, ...span });
  if (!line) return undefined;
  const { price, volume, first, last, low, high, x, y } = line;
  return {
    price: `${price}L${width} ${y(last[1]).toFixed(1)}`,
    volume,
    startX: x(startMs),
    startY: y(priceAt(candles, startMs) ?? (startMs < first[0] ? first : last)[1]),
    low,
    high,
    isUp: last[1] >= first[1],
  };
}

/**
 * Estimates the price at a moment between two closes by linear interpolation. `undefined` without a
 * close before and a close after. One alone is not enough: a flare starts in a rise, so the last
 * close before it may be far below the price at its start.
 */
export function priceAt(candles: readonly PlotCandle[], atMs: number): number | undefined {
  const points = closesOf(candles);
  const at = points.findLastIndex(([closeMs]) => closeMs <= atMs);
  const [before, after] = [points[at], points[at + 1]];
  if (!before) return undefined;
  if (!after) return before[0] === atMs ? before[1] : undefined;
  return before[1] + ((after[1] - before[1]) * (atMs - before[0])) / (after[0] - before[0]);
}

/**
 * The change and the volume of the last hour. A younger token's change is since its first minute.
 */
export function hourOf(
  candles: readonly (PlotCandle & { readonly open?: string | null })[],
  closedMs: number,
  price: number,
): { readonly change: number | undefined; readonly volume: number } {
  const recent = candles.filter(({ open_at }) => Date.parse(open_at) >= closedMs - HOUR_MS);
  const first = recent.map(({ open, close }) => Number(open ?? close)).find((open) => open > 0);
  return {
    change: first !== undefined && price > 0 ? 100 * (price / first - 1) : undefined,
    volume: recent.reduce((sum, { volume }) => sum + Number(volume), 0),
  };
}

/**
 * Returns the closes of a chart. `values`: percent from their average, one per minute, the last at
 * `endMs`.
 */
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

/** The course of a flare that ended, in pixels: from its start through each known measurement. */
export interface Course {
  readonly path: string;
  /** Vertical position of the price at the start. */
  readonly zero: number;
  readonly peak: readonly [number, number] | undefined;
  readonly end: readonly [number, number] | undefined;
}

/** Lays out the course; `undefined` if no measurement is known. */
export function courseOf(
  outcome: Measured,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): Course | undefined {
  const { change_5m, change_15m, change_60m, end_change, peak_change, peak_at } = outcome;
  const peakMs = peak_at === null ? Number.NaN : Date.parse(peak_at) - startMs;
  const closes: readonly (readonly [number, number | null])[] = [
    [5 * MINUTE_MS, change_5m],
    [15 * MINUTE_MS, change_15m],
    [HOUR_MS, change_60m],
    [peakMs, peak_change],
    [endMs - startMs, end_change],
  ];
  const known = closes.filter((one): one is readonly [number, number] => one[1] !== null && one[0] >= 0);
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
