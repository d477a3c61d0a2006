import { MINUTE_MS } from "../../base/lib/time/time.ts";
import { type PricedCandle, priceLine } from "../../base/model/text/price-line.ts";
import { type Html, html } from "../pages/index.ts";

/** The start and end of a flare, in milliseconds since 1970 UTC. */
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

const EDGE = 10;
const MAX_GAP_MS = 30 * MINUTE_MS;

/**
 * Returns paths for style sheets to color; `undefined` with fewer than two prices. If there is only
 * one flare, marks its start and end.
 */
export function pricePaths(
  candles: readonly PricedCandle[],
  spans: readonly FlareSpan[],
  { width, priceHeight, height }: Box,
): Html | undefined {
  const volumeHeight = height - priceHeight;
  const size = { width, height, priceHeight, volumeHeight, edge: EDGE };
  // The line does not bridge a longer gap between trades: the price there is unknown.
  const line = priceLine(candles, { ...size, maxGapMs: MAX_GAP_MS });
  if (!line) return undefined;
  const { first, last } = line;
  const x = (atMs: number) => line.x(atMs).toFixed(1);
  const minutes = (last[0] - first[0]) / MINUTE_MS;
  const thick = Math.min(16, Math.max(1, (0.6 * width) / minutes)).toFixed(1);
  const shades = spans
    .filter(({ startMs, endMs }) => startMs < last[0] && (endMs ?? last[0]) > first[0])
    .map(({ startMs, endMs }) => {
      const [from, to] = [x(Math.max(startMs, first[0])), x(endMs ?? last[0])];
      return `M${from} 0H${to}V${height}H${from}Z`;
    });
  const [only, ...others] = spans;
  const isMarked = only && others.length === 0 && only.startMs >= first[0];
  const marks = isMarked ? marksOf(only, x, priceHeight) : "";
  return html`<path class="shade" d="${shades.join("")}"/>
<path class="volume" stroke-width="${thick}" d="${line.volume}"/>
<path class="price" d="${line.price}"/>
<path class="mark" d="${marks}"/>`;
}

function marksOf({ startMs, endMs }: FlareSpan, x: (atMs: number) => string, top: number): string {
  const end = endMs === undefined ? "" : `M${x(endMs)} ${top}m-6 1h12v12h-12z`;
  return `M${x(startMs)} ${top}m-8 14h16l-8 -14z${end}`;
}
