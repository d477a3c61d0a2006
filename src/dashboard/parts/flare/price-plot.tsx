import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { formatPrice, formatTime } from "../../text/format.ts";

const MINUTE_S = 60;
const HEIGHT = 240;
/** Tick distances are whole minutes, because labels show minutes. */
const TICKS_S = [1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * MINUTE_S);

interface PricePlotProps {
  readonly average: string;
  /** The closing price of each minute as percent from the average, oldest first. */
  readonly values: readonly number[];
  /** End of the last minute, in milliseconds of event time. */
  readonly endMs: number;
}

/** The prices of the last hour. Loads the plotting library with the first plot. */
export function PricePlot({ average, values, endMs }: PricePlotProps) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = dataOf(average, values, endMs);
  const latest = useRef(data);
  latest.current = data;
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
        const made = new Plot(optionsFor(Plot, element), latest.current, element);
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
  useEffect(() => plot.current?.setData(latest.current), [values, endMs]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const text = `Price of the last ${values.length} minutes: from ${low.toFixed(1)} to ${high.toFixed(1)} percent of the average`;
  return <div class="plot" ref={container} role="img" aria-label={text} />;
}

function dataOf(average: string, values: readonly number[], endMs: number): uPlot.AlignedData {
  const times = values.map((_, at) => endMs / 1_000 - (values.length - 1 - at) * MINUTE_S);
  return [times, values.map((pct) => Number(average) * (1 + pct / 100))];
}

function optionsFor(Plot: typeof uPlot, element: HTMLElement): uPlot.Options {
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
    tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1_000), "Etc/UTC"),
    series: [
      { label: "UTC", value: "{YYYY}-{MM}-{DD} {HH}:{mm}" },
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
        values: (_, times) =>
          times.map((time) => formatTime(new Date(time * 1_000).toISOString()).slice(0, 5)),
      },
      { ...axis, size: 90, values: (_, prices) => prices.map(price) },
    ],
  };
}
