import { DAY_MS, HOUR_MS, MINUTE_MS, startOf } from "../../../../base/lib/time/time.ts";
import type { Candle } from "../../../../base/model/index.ts";

/** Ranges of time that a plot of candles shows, with the minutes per candle. */
export const RANGES = {
  "1h": { hours: 1, minutes: 1 },
  "6h": { hours: 6, minutes: 5 },
  "24h": { hours: 24, minutes: 15 },
} as const;
export type RangeName = keyof typeof RANGES;
/** The first is the default. */
export const RANGE_NAMES = ["1h", "6h", "24h"] as const satisfies readonly RangeName[];

export type StoredCandle = Pick<Candle, "open_at" | "open" | "high" | "low" | "close" | "volume">;

/** One candle of a plot. Its prices are `null` if no trade set them. */
export interface Bar {
  readonly atMs: number;
  readonly open: number | null;
  readonly high: number | null;
  readonly low: number | null;
  readonly close: number | null;
  readonly volume: number;
}

/** The time that a chart shows, and the length of its candles. */
export interface ChartSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** A flare is shown with this much time before its start, and at least this much after it. */
const [BEFORE_MS, AFTER_MS] = [30 * MINUTE_MS, HOUR_MS];
/** Maximum candles of a flare's chart before they become longer. */
const MAX_BARS = 120;

/** Returns the span of a range that ends at `endMs`. Omits its first candle if incomplete. */
export function spanOfRange(range: RangeName, endMs: number): ChartSpan {
  const { hours, minutes } = RANGES[range];
  const stepMs = minutes * MINUTE_MS;
  const fromMs = Math.ceil((endMs - hours * HOUR_MS) / stepMs) * stepMs;
  return { fromMs, toMs: endMs, stepMs };
}

/** Returns the span around a flare, until `nowMs` at most. */
export function spanOfFlare(
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number | undefined },
  nowMs: number,
): ChartSpan {
  const toMs = endMs === undefined ? nowMs : Math.min(nowMs, Math.max(endMs, startMs + AFTER_MS));
  // No more than a day is stored.
  const fromMs = Math.max(startMs - BEFORE_MS, toMs - DAY_MS);
  const fits = RANGE_NAMES.find((name) => toMs - fromMs <= MAX_BARS * RANGES[name].minutes * MINUTE_MS);
  const stepMs = RANGES[fits ?? "24h"].minutes * MINUTE_MS;
  return { fromMs: startOf(stepMs, fromMs), toMs: Math.max(toMs, fromMs + 2 * stepMs), stepMs };
}

/**
 * Joins the minutes of the span into its candles, in the given order. A time without stored minutes
 * has no candle.
 */
export function barsWithin(
  candles: readonly StoredCandle[],
  { fromMs, toMs, stepMs }: ChartSpan,
): readonly Bar[] {
  const bars = new Map<number, Bar>();
  for (const { open_at, volume, ...prices } of candles) {
    const openMs = Date.parse(open_at);
    if (openMs < fromMs || openMs >= toMs) continue;
    const atMs = Math.floor(openMs / stepMs) * stepMs;
    const [open, high, low, close] = [prices.open, prices.high, prices.low, prices.close].map((price) =>
      Number(price) > 0 ? Number(price) : null,
    );
    const before = bars.get(atMs);
    bars.set(atMs, {
      atMs,
      open: before?.open ?? open ?? null,
      high: extreme(Math.max, before?.high, high),
      low: extreme(Math.min, before?.low, low),
      close: close ?? before?.close ?? null,
      volume: (before?.volume ?? 0) + Number(volume),
    });
  }
  return [...bars.values()];
}

function extreme(of: (a: number, b: number) => number, a: number | null = null, b: number | null = null) {
  if (a === null || b === null) return a ?? b;
  return of(a, b);
}
