import { HOUR_MS, MINUTE_MS } from "../../../../base/lib/time/time.ts";
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

/**
 * Joins the minutes of the range that ends at `endMs` into its candles, in the given order. A time
 * without stored minutes has no candle. Omits the range's first candle if it would be incomplete.
 */
export function barsWithin(
  candles: readonly StoredCandle[],
  range: RangeName,
  endMs: number,
): readonly Bar[] {
  const { hours, minutes } = RANGES[range];
  const stepMs = minutes * MINUTE_MS;
  const fromMs = Math.ceil((endMs - hours * HOUR_MS) / stepMs) * stepMs;
  const bars = new Map<number, Bar>();
  for (const { open_at, volume, ...prices } of candles) {
    const openMs = Date.parse(open_at);
    if (openMs < fromMs || openMs >= endMs) continue;
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
