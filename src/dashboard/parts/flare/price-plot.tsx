import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { PricePoint } from "../../state/candles/plot.ts";
import { formatMinute, formatPrice } from "../../text/format.ts";

const MINUTE_S = 60;
const HEIGHT = 240;
/** Tick distances are whole minutes, because labels show minutes. */
const TICKS_S = [1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * MINUTE_S);

/** A time in which the token flared, in milliseconds since 1970 UTC. */
export interface Band {
  readonly startMs: number;
  /** `undefined` while it flares. */
  readonly endMs: number | undefined;
}

interface PricePlotProps {
  /** Closes of minutes, each with the end of its minute, oldest first. */
  readonly points: readonly PricePoint[];
  /** The token's flares, which are shaded. */
  readonly bands: readonly Band[];
}

/** The prices of the last hour. Loads the plotting library with the first plot. */
export function PricePlot({ points, bands }: PricePlotProps) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef({ data: dataOf(points), bands });
  latest.current = { data: dataOf(points), bands };
  useEffect(() => {
    let over = false;
    let observer: ResizeObserver | undefined;
    const theme = matchMedia("(prefers-color-scheme: dark)");
    const repaint = () => plot.current?.redraw(false);
    theme.addEventListener("change", repaint);
    Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]).then(
      ([{ default: Plot }]) => {
        const element = container.current;
        if (over || !element) return;
        const made = new Plot(
          optionsFor(Plot, element, () => latest.current.bands),
          latest.current.data,
          element,
        );
        plot.current = made;
        observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
        observer.observe(element);
      },
      () => {},
    );
    return () => {
      over = true;
      observer?.disconnect();
      theme.removeEventListener("change", repaint);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, []);
  // A label of what is shown, which changes only with the data.
  const state = `${points.length} ${points.at(-1)} ${bands.map(({ startMs, endMs }) => `${startMs} ${endMs}`)}`;
  useEffect(() => plot.current?.setData(latest.current.data), [state]);
  const prices = points.map(([, price]) => price);
  const [low, high] = [Math.min(...prices), Math.max(...prices)].map((price) => formatPrice(String(price)));
  const text = `Price of the last ${points.length} minutes: between ${low} and ${high}`;
  return <div class="plot" ref={container} role="img" aria-label={text} />;
}

function dataOf(points: readonly PricePoint[]): uPlot.AlignedData {
  return [points.map(([atMs]) => atMs / 1_000), points.map(([, price]) => price)];
}

/** Shades the flares, below the line and its grid. */
function drawBands(plot: uPlot, bands: readonly Band[], color: string): void {
  const { ctx, bbox } = plot;
  const x = (atMs: number) =>
    Math.min(bbox.left + bbox.width, Math.max(bbox.left, plot.valToPos(atMs / 1_000, "x", true)));
  ctx.save();
  ctx.globalAlpha = 0.2;
  ctx.fillStyle = color;
  for (const { startMs, endMs = Number.MAX_SAFE_INTEGER } of bands)
    ctx.fillRect(x(startMs), bbox.top, x(endMs) - x(startMs), bbox.height);
  ctx.restore();
}

function optionsFor(Plot: typeof uPlot, element: HTMLElement, bands: () => readonly Band[]): uPlot.Options {
  // The style sheet defines the colors. Read them at each drawing, because the theme may change.
  const style = getComputedStyle(element);
  const grid = { stroke: () => style.borderTopColor, width: 1 };
  const axis = { stroke: () => style.caretColor, grid, ticks: grid };
  const price = (value: number) => formatPrice(String(value));
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [null, 20, null, null],
    legend: { show: true, markers: { show: false } },
    hooks: { drawClear: [(plot) => drawBands(plot, bands(), style.columnRuleColor)] },
    tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1_000), "Etc/UTC"),
    series: [
      {
        label: "UTC",
        value: (_, atS) =>
          atS === null ? "–" : new Date(atS * 1_000).toISOString().slice(0, 16).replace("T", " "),
      },
      {
        label: "Price",
        stroke: () => style.color,
        width: 2,
        points: { show: false },
        value: (_, value) => (value === null ? "–" : price(value)),
      },
    ],
    axes: [
      {
        ...axis,
        incrs: TICKS_S,
        values: (_, times) => times.map((time) => formatMinute(time * 1_000)),
      },
      { ...axis, size: 90, values: (_, prices) => prices.map(price) },
    ],
  };
}
