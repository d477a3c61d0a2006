import { MINUTE_MS } from "../../lib/time/time.ts";
import type { Candle } from "../candles.ts";

/** The part of a candle that a picture of prices uses. A minute without a trade has no candle. */
export type PricedCandle = Readonly<Pick<Candle, "open_at" | "close" | "volume">>;

/** A price and the end of the minute that it closed, in milliseconds since 1970 UTC. */
export type PricePoint = readonly [atMs: number, price: number];

/** Returns the closes, each with the end of its minute. */
export function closesOf(candles: readonly PricedCandle[]): readonly PricePoint[] {
  return candles.flatMap(({ open_at, close }): readonly PricePoint[] => {
    const price = Number(close);
    return price > 0 ? [[Date.parse(open_at) + MINUTE_MS, price]] : [];
  });
}

interface LineOptions {
  /** Size of the picture in pixels: the price above, the volume below. */
  readonly width: number;
  readonly height: number;
  readonly priceHeight: number;
  /** Space above the highest and below the lowest price. */
  readonly edge: number;
  /** Height of the highest volume. */
  readonly volumeHeight: number;
  /** The times at the left and right edges. Default: those of the first and last close. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** A longer time without a close interrupts the line. Default: never. */
  readonly maxGapMs?: number;
}

/**
 * Lays out prices and volumes as the `d` of SVG paths; `undefined` with fewer than two prices. `x`
 * and `y` return the position of a time, limited to the picture, and of a price.
 */
export function priceLine(
  candles: readonly PricedCandle[],
  { width, height, priceHeight, edge, volumeHeight, ...options }: LineOptions,
) {
  const points = closesOf(candles);
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < 2) return undefined;
  const { fromMs = first[0], toMs = last[0], maxGapMs = Number.POSITIVE_INFINITY } = options;
  const prices = points.map(([, price]) => price);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const x = (atMs: number) => Math.min(1, Math.max(0, (atMs - fromMs) / (toMs - fromMs))) * width;
  const y = (price: number) => edge + (1 - (price - low) / (high - low || 1)) * (priceHeight - 2 * edge);
  const to = (atMs: number, price: number) => `${x(atMs).toFixed(1)} ${y(price).toFixed(1)}`;
  // A minute without a trade keeps the price: a step, not a slope.
  const line = points.map(([atMs, price], at) => {
    const [beforeMs, before] = points[at - 1] ?? [atMs, price];
    if (at === 0 || atMs - beforeMs > maxGapMs) return `M${to(atMs, price)}`;
    const step = atMs - beforeMs > MINUTE_MS ? `L${to(atMs - MINUTE_MS, before)}` : "";
    return `${step}L${to(atMs, price)}`;
  });
  const most = Math.max(...candles.map(({ volume }) => Number(volume)), Number.MIN_VALUE);
  const bars = candles.map(({ open_at, volume }) => {
    const tall = (Number(volume) / most) * volumeHeight;
    return `M${x(Date.parse(open_at) + MINUTE_MS / 2).toFixed(1)} ${height}v${(-tall).toFixed(1)}`;
  });
  return { price: line.join(""), volume: bars.join(""), first, last, low, high, x, y };
}
