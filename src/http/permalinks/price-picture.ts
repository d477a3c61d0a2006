import { MINUTE_MS } from "../../lib/time/time.ts";
import type { Candle } from "../../model/index.ts";
import { type Html, html } from "../docs/html.ts";

/** The time of a flare, in milliseconds since 1970 UTC. */
export interface FlareSpan {
  readonly startMs: number;
  /** `undefined` while it runs. */
  readonly endMs: number | undefined;
}

const [WIDTH, PRICE_HEIGHT, HEIGHT] = [900, 220, 270];
const EDGE = 10;

/** Draws prices and volume with the flare shaded; `undefined` with fewer than two prices. */
export function pricePicture(candles: readonly Candle[], { startMs, endMs }: FlareSpan): Html | undefined {
  const points = candles.flatMap(({ open_at, close }): readonly (readonly [number, number])[] =>
    Number(close) > 0 ? [[Date.parse(open_at) + MINUTE_MS, Number(close)]] : [],
  );
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < 2) return undefined;
  const prices = points.map(([, price]) => price);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const place = (atMs: number) => Math.min(1, Math.max(0, (atMs - first[0]) / (last[0] - first[0])));
  const x = (atMs: number) => (place(atMs) * WIDTH).toFixed(1);
  const y = (price: number) =>
    (EDGE + (1 - (price - low) / (high - low || 1)) * (PRICE_HEIGHT - 2 * EDGE)).toFixed(1);
  // A minute without a trade keeps the price: steps, not slopes.
  const line = points.map(([atMs, price], at) => {
    const [beforeMs, before] = points[at - 1] ?? [atMs, price];
    const step = atMs - beforeMs > MINUTE_MS ? `L${x(atMs - MINUTE_MS)} ${y(before)}` : "";
    return `${step}${at === 0 ? "M" : "L"}${x(atMs)} ${y(price)}`;
  });
  const most = Math.max(...candles.map(({ volume }) => Number(volume)), Number.MIN_VALUE);
  const bars = candles.map(({ open_at, volume }) => {
    const tall = (Number(volume) / most) * (HEIGHT - PRICE_HEIGHT);
    return `M${x(Date.parse(open_at) + MINUTE_MS / 2)} ${HEIGHT}v${(-tall).toFixed(1)}`;
  });
  const [start, end] = [x(startMs), x(endMs ?? last[0])];
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Price and volume, with the flare shaded">
<path class="shade" d="M${start} 0H${end}V${HEIGHT}H${start}Z"/>
<path class="volume" stroke-width="4" d="${bars.join("")}"/>
<path class="price" d="${line.join("")}"/>
<path class="mark" d="M${start} ${PRICE_HEIGHT}m-8 14h16l-8 -14z"/>
${endMs === undefined ? html`` : html`<path class="mark" d="M${end} ${PRICE_HEIGHT}m-6 1h12v12h-12z"/>`}
</svg>`;
}
