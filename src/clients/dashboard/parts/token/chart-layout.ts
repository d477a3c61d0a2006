import { MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { FlareRecord } from "../../../../base/model/index.ts";
import { type PlotCandle, type PricePoint, priceAt } from "../../state/candles/plot.ts";
import type { Bar, ChartSpan } from "../../state/candles/ranges.ts";

/** Vertical positions in pixels: prices, volume down to the axis, and the times below it. */
export const SIZE = { height: 420, top: 16, priceBottom: 310, volume: 70, axis: 396 } as const;

const TICKS = 5;
/** Tick distances are whole minutes, because labels show minutes. */
const TICKS_MS = [10, 15, 30, 60, 120, 240, 360].map((minutes) => minutes * MINUTE_MS);
const MAX_TIMES = 6;
/** No label is nearer to an edge than this share of the width: on a phone it would be cut. */
const EDGE = 0.07;

/** A moment of a flare. */
export interface Mark {
  readonly kind: keyof typeof MARK_PATHS;
  readonly atMs: number;
  /** Default: the lowest of the chart. */
  readonly price: number | undefined;
}

/** ▲ start, ● peak, ■ end and ◆ surges, around the origin. */
export const MARK_PATHS = {
  start: "M0-7 7 6H-7Z",
  peak: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z",
  end: "M-5-5H5V5H-5Z",
  surge: "M0-6 6 0 0 6-6 0Z",
} as const;

export interface ChartScale {
  /** Returns a time's share of the width, from 0 to 1. */
  readonly x: (atMs: number) => number;
  /** Returns a price's position. */
  readonly y: (price: number) => number;
  /** Returns the height of a volume. */
  readonly tall: (volume: number) => number;
  /** The lowest and the highest of these prices, without the last known one. */
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
}

/** What a chart shows. */
export interface Shown {
  readonly span: ChartSpan;
  /** Oldest first; empty if only `points` are known. */
  readonly bars: readonly Bar[];
  /** Prices without candles, oldest first. */
  readonly points: readonly PricePoint[];
  readonly marks: readonly Mark[];
  /** The last known price, if the chart reaches it. */
  readonly last: number | undefined;
}

/** Returns the scales of a chart. */
export function layOut({ span: { fromMs, toMs }, bars, points, marks, last }: Shown): ChartScale {
  const prices = [
    ...bars.flatMap(({ low, high }) => [low, high]),
    ...(bars.length > 0 ? [] : points.map(([, price]) => price)),
    ...marks.map(({ price }) => price),
  ].filter((price): price is number => price != null);
  const [low, high] = prices.length === 0 ? [0, 1] : [Math.min(...prices), Math.max(...prices)];
  const [bottom, top] = last === undefined ? [low, high] : [Math.min(low, last), Math.max(high, last)];
  const most = Math.max(...bars.map(({ volume }) => volume), Number.MIN_VALUE);
  return {
    x: (atMs) => Math.min(1, Math.max(0, (atMs - fromMs) / (toMs - fromMs))),
    y: (price) => SIZE.top + (1 - (price - bottom) / (top - bottom || 1)) * (SIZE.priceBottom - SIZE.top),
    tall: (volume) => (volume / most) * SIZE.volume,
    low,
    high,
    ticks:
      bottom === top
        ? [low]
        : Array.from({ length: TICKS }, (_, n) => bottom + (n * (top - bottom)) / (TICKS - 1)),
  };
}

/** Returns whole times within the span, apart from its edges, where a label would be cut. */
export function timeTicks({ fromMs, toMs }: ChartSpan): readonly number[] {
  const length = toMs - fromMs;
  const step = TICKS_MS.find((ms) => length / ms <= MAX_TIMES) ?? length;
  const first = Math.ceil((fromMs + length * EDGE) / step) * step;
  const count = Math.max(0, Math.floor((toMs - length * EDGE - first) / step) + 1);
  return Array.from({ length: count }, (_, n) => first + n * step);
}

/** Returns the moments of a flare that lie within the span. */
export function marksOf(
  { flare, why, outcome }: FlareRecord,
  candles: readonly PlotCandle[],
  { fromMs, toMs }: ChartSpan,
): readonly Mark[] {
  const mark = (
    kind: Mark["kind"],
    at: string | null | undefined,
    known?: string | null,
  ): readonly Mark[] => {
    if (at == null) return [];
    const atMs = Date.parse(at);
    const price = Number(known) > 0 ? Number(known) : priceAt(candles, atMs);
    return atMs >= fromMs && atMs <= toMs ? [{ kind, atMs, price }] : [];
  };
  return [
    ...mark("start", flare.started_trending_at, outcome?.start_price),
    ...mark("surge", why?.surge?.at, why?.surge?.price),
    ...mark("peak", outcome?.peak_at, outcome?.peak_price),
    ...mark("end", flare.finished_trending_at, outcome?.end_price),
  ];
}
