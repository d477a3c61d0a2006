import type { Ref } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { formatPrice } from "../../../../base/lib/text/figures.ts";
import { formatMinute } from "../../text/format.ts";

const MINUTE_S = 60;
const PLOT_HEIGHT = 240;
/** Tick distances are whole minutes, because labels show minutes. */
const TICKS_S = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360].map((minutes) => minutes * MINUTE_S);

/** The start and end of a flare of the token, in milliseconds since 1970 UTC. */
export interface Band {
  readonly startMs: number;
  /** `undefined` while it flares. */
  readonly endMs: number | undefined;
}

interface PlotOptions {
  readonly data: uPlot.AlignedData;
  /** The time to show, in seconds since 1970 UTC. Default: the time of the data. */
  readonly span?: readonly [fromS: number, toS: number];
  /** The token's flares, which are shaded. */
  readonly bands: readonly Band[];
  /** Changes when the data or the bands do. */
  readonly state: string;
  /** Returns the series. `style` is the element's, because its style sheet has the colors. */
  readonly seriesOf: (style: CSSStyleDeclaration) => Pick<uPlot.Options, "series" | "scales"> & {
    readonly draw?: (plot: uPlot) => void;
  };
}

/** Returns a reference for the element to draw into. Loads the plotting library on first use. */
export function usePlot(options: PlotOptions): Ref<HTMLDivElement> {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(options);
  latest.current = options;
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
          optionsFor(Plot, element, () => latest.current),
          latest.current.data,
          element,
        );
        plot.current = made;
        observer = new ResizeObserver(() =>
          made.setSize({ width: element.clientWidth, height: PLOT_HEIGHT }),
        );
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
  useEffect(() => plot.current?.setData(latest.current.data), [options.state]);
  return container;
}

/** Shades the flares, below the prices and the grid. */
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

/** Shows the newest values in the legend while no pointer is over the plot. */
function showLast(plot: uPlot): void {
  if (plot.cursor.idx == null) plot.setLegend({ idx: plot.data[0].length - 1 });
}

function optionsFor(Plot: typeof uPlot, element: HTMLElement, options: () => PlotOptions): uPlot.Options {
  // The style sheet defines the colors. Read them at each drawing, because the theme may change.
  const style = getComputedStyle(element);
  const grid = { stroke: () => style.borderTopColor, width: 1 };
  const axis = { stroke: () => style.caretColor, grid, ticks: grid };
  const { series, scales, draw } = options().seriesOf(style);
  return {
    width: element.clientWidth,
    height: PLOT_HEIGHT,
    padding: [null, 20, null, null],
    legend: { show: true, markers: { show: false } },
    hooks: {
      drawClear: [(plot) => drawBands(plot, options().bands, style.columnRuleColor)],
      ready: [showLast],
      setData: [showLast],
      setCursor: [showLast],
      ...(draw ? { draw: [draw] } : {}),
    },
    tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1_000), "Etc/UTC"),
    series: [
      {
        label: "UTC",
        value: (_, atS) =>
          atS === null ? "–" : new Date(atS * 1_000).toISOString().slice(0, 16).replace("T", " "),
      },
      ...series,
    ],
    scales: {
      ...scales,
      x: {
        range: (_, first, last) => {
          const [fromS, toS] = options().span ?? [first, last];
          return [fromS, toS];
        },
      },
    },
    axes: [
      {
        ...axis,
        incrs: TICKS_S,
        values: (_, times) => times.map((time) => formatMinute(time * 1_000)),
      },
      {
        ...axis,
        size: 90,
        values: (_, prices) => prices.map((price) => (price > 0 ? priceText(price) : "")),
      },
    ],
  };
}

export function priceText(value: number | null): string {
  return value === null ? "–" : formatPrice(String(value));
}
