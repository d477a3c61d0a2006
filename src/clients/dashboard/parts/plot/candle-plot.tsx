import type uPlot from "uplot";
import { formatUsd } from "../../../../base/lib/text/figures.ts";
import { type Bar, RANGES, type RangeName } from "../../state/candles/ranges.ts";
import { type Band, priceText, usePlot } from "./use-plot.ts";

export interface CandlePlotProps {
  /** Oldest first. */
  readonly bars: readonly Bar[];
  readonly bands: readonly Band[];
  readonly range: RangeName;
  readonly endMs: number;
}

/** The volume takes the lowest fifth of the plot. */
const VOLUME_SHARE = 0.2;
const [OPEN, HIGH, LOW, CLOSE, VOLUME] = [1, 2, 3, 4, 5];

/** Candles with the volume below. Remount it for another range. */
export function CandlePlot({ bars, bands, range, endMs }: CandlePlotProps) {
  const { hours, minutes } = RANGES[range];
  const endS = endMs / 1_000;
  const container = usePlot({
    data: [
      bars.map(({ atMs }) => atMs / 1_000),
      ...(["open", "high", "low", "close", "volume"] as const).map((name) => bars.map((bar) => bar[name])),
    ] as uPlot.AlignedData,
    span: [endS - hours * 3_600, endS],
    bands,
    state: `${endMs} ${bars.length} ${bars.at(-1)?.close} ${bands.map((band) => `${band.startMs} ${band.endMs}`)}`,
    seriesOf: (style) => ({
      scales: {
        y: { range: (_, low, high) => paddedRange(low, high) },
        volume: { range: (_, __, high) => [0, (high || 1) / VOLUME_SHARE] },
      },
      series: [
        ...["Open", "High", "Low", "Close"].map((label) => ({
          label,
          paths: () => null,
          points: { show: false },
          value: (_: uPlot, value: number | null) => priceText(value),
        })),
        {
          label: "Volume",
          scale: "volume",
          paths: () => null,
          points: { show: false },
          value: (_: uPlot, value: number | null) => (value === null ? "–" : formatUsd(String(value))),
        },
      ],
      draw: (plot) => drawCandles(plot, minutes * 60, style),
    }),
  });
  const prices = bars.flatMap(({ low, high }) => (low === null || high === null ? [] : [low, high]));
  const [low, high] = [Math.min(...prices), Math.max(...prices)].map(priceText);
  const text = `Price and volume of the last ${hours === 1 ? "hour" : `${hours} hours`}: between ${low} and ${high}`;
  return <div class="plot candles" ref={container} role="img" aria-label={text} />;
}

/** Pads the range of prices, and leaves the lowest fifth to the volume. */
function paddedRange(low: number, high: number): [number, number] {
  const span = high - low || high || 1;
  return [low - span * (VOLUME_SHARE + 0.05), high + span * 0.05];
}

function drawCandles(plot: uPlot, barS: number, style: CSSStyleDeclaration): void {
  const { ctx, bbox, data } = plot;
  const left = (atS: number) => plot.valToPos(atS, "x", true);
  const y = (price: number) => plot.valToPos(price, "y", true);
  const width = Math.max(1, (left(barS) - left(0)) * 0.7);
  const [up, down, soft] = [style.outlineColor, style.textDecorationColor, style.caretColor];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const [at, atS] of data[0].entries()) {
    const [open, high, low, close, volume] = [OPEN, HIGH, LOW, CLOSE, VOLUME].map((of) => data[of]?.[at]);
    const middle = left(atS + barS / 2);
    ctx.fillStyle = soft;
    ctx.globalAlpha = 0.45;
    const top = plot.valToPos(volume ?? 0, "volume", true);
    ctx.fillRect(middle - width / 2, top, width, bbox.top + bbox.height - top);
    ctx.globalAlpha = 1;
    if (open == null || high == null || low == null || close == null) continue;
    ctx.fillStyle = close >= open ? up : down;
    ctx.fillRect(middle - devicePixelRatio / 2, y(high), devicePixelRatio, y(low) - y(high));
    const body = Math.max(devicePixelRatio, Math.abs(y(open) - y(close)));
    ctx.fillRect(middle - width / 2, Math.min(y(open), y(close)), width, body);
  }
  ctx.restore();
}
