import { formatPrice } from "../../lib/text/format-price.ts";
import { MINUTE_MS } from "../../lib/time/time.ts";
import type { Candle } from "../../model/index.ts";
import { type Html, html } from "../docs/html.ts";

/** The time of a flare, in milliseconds since 1970 UTC. */
export interface FlareSpan {
  readonly startMs: number;
  /** `undefined` while it runs. */
  readonly endMs: number | undefined;
}

/** The picture's size: the price above, the volume below. */
interface Box {
  readonly width: number;
  readonly priceHeight: number;
  readonly height: number;
}

export type PricedCandle = Pick<Candle, "open_at" | "close" | "volume">;

const PAGE_BOX: Box = { width: 900, priceHeight: 220, height: 270 };
const EDGE = 10;
const MAX_GAP_MS = 30 * MINUTE_MS;

/** Draws prices and volume with the flares shaded; `undefined` with fewer than two prices. */
export function pricePicture(
  candles: readonly PricedCandle[],
  spans: readonly FlareSpan[],
): Html | undefined {
  const paths = pricePaths(candles, spans, PAGE_BOX);
  return (
    paths &&
    html`<svg viewBox="0 0 ${PAGE_BOX.width} ${PAGE_BOX.height}" role="img" aria-label="Price and volume, with the flares shaded">${paths}</svg>`
  );
}

/** Returns paths, for style sheets to color. Marks the start and end of a single flare. */
export function pricePaths(
  candles: readonly PricedCandle[],
  spans: readonly FlareSpan[],
  { width, priceHeight, height }: Box,
): Html | undefined {
  const points = candles.flatMap(({ open_at, close }): readonly (readonly [number, number])[] =>
    Number(close) > 0 ? [[Date.parse(open_at) + MINUTE_MS, Number(close)]] : [],
  );
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < 2) return undefined;
  const prices = points.map(([, price]) => price);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const place = (atMs: number) => Math.min(1, Math.max(0, (atMs - first[0]) / (last[0] - first[0])));
  const x = (atMs: number) => (place(atMs) * width).toFixed(1);
  const y = (price: number) =>
    (EDGE + (1 - (price - low) / (high - low || 1)) * (priceHeight - 2 * EDGE)).toFixed(1);
  // A minute without a trade keeps the price: steps, not slopes. Of a longer gap nothing is known.
  const line = points.map(([atMs, price], at) => {
    const [beforeMs, before] = points[at - 1] ?? [Number.NEGATIVE_INFINITY, price];
    const step = atMs - beforeMs > MINUTE_MS ? `L${x(atMs - MINUTE_MS)} ${y(before)}` : "";
    return atMs - beforeMs > MAX_GAP_MS ? `M${x(atMs)} ${y(price)}` : `${step}L${x(atMs)} ${y(price)}`;
  });
  const most = Math.max(...candles.map(({ volume }) => Number(volume)), Number.MIN_VALUE);
  const bars = candles.map(({ open_at, volume }) => {
    const tall = (Number(volume) / most) * (height - priceHeight);
    return `M${x(Date.parse(open_at) + MINUTE_MS / 2)} ${height}v${(-tall).toFixed(1)}`;
  });
  const minutes = (last[0] - first[0]) / MINUTE_MS;
  const thick = Math.min(16, Math.max(1, (0.6 * width) / minutes)).toFixed(1);
  const shades = spans
    .filter(({ startMs, endMs }) => startMs < last[0] && (endMs ?? last[0]) > first[0])
    .map(({ startMs, endMs }) => `M${x(startMs)} 0H${x(endMs ?? last[0])}V${height}H${x(startMs)}Z`);
  const [only, ...others] = spans;
  const marks = only && others.length === 0 ? marksOf(only, x, priceHeight) : "";
  return html`<path class="shade" d="${shades.join("")}"/>
<path class="volume" stroke-width="${thick}" d="${bars.join("")}"/>
<path class="price" d="${line.join("")}"/>
<path class="mark" d="${marks}"/>`;
}

/** Says between which prices the closes are, because the picture has no scale. */
export function closesText(candles: readonly PricedCandle[]): string {
  const closes = candles.map(({ close }) => Number(close)).filter((close) => close > 0);
  const [low, high] = [Math.min(...closes), Math.max(...closes)].map((price) => formatPrice(String(price)));
  return `from ${low} to ${high}`;
}

function marksOf({ startMs, endMs }: FlareSpan, x: (atMs: number) => string, top: number): string {
  const end = endMs === undefined ? "" : `M${x(endMs)} ${top}m-6 1h12v12h-12z`;
  return `M${x(startMs)} ${top}m-8 14h16l-8 -14z${end}`;
}
