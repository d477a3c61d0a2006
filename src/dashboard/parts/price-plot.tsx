import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";

const MINUTE_S = 60;
const HEIGHT = 240;

interface PricePlotProps {
  /** Mean of the hour. */
  readonly average: string;
  /** Each minute's close as percent from the average, oldest first. */
  readonly values: readonly number[];
  /** End of the last minute, in milliseconds of event time. */
  readonly endMs: number;
}

/** The course of an hour's prices, to be read off. The plotting library is loaded when the first plot is shown. */
export function PricePlot({ average, values, endMs }: PricePlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = dataOf(average, values, endMs);
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    let over = false;
    let observer: ResizeObserver | undefined;
    Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]).then(
      ([{ default: Plot }]) => {
        const element = place.current;
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
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, []);
  useEffect(() => plot.current?.setData(latest.current), [values, endMs]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const text = `Price of the last ${values.length} minutes: from ${low.toFixed(1)} to ${high.toFixed(1)} percent of the average`;
  return <div class="plot" ref={place} role="img" aria-label={text} />;
}

function dataOf(average: string, values: readonly number[], endMs: number): uPlot.AlignedData {
  const times = values.map((_, at) => endMs / 1_000 - (values.length - 1 - at) * MINUTE_S);
  return [times, values.map((pct) => Number(average) * (1 + pct / 100))];
}

function optionsFor(Plot: typeof uPlot, element: HTMLElement): uPlot.Options {
  const style = getComputedStyle(element);
  const ink = style.getPropertyValue("--ink-soft").trim();
  const accent = style.getPropertyValue("--accent").trim();
  const grid = { stroke: style.getPropertyValue("--line").trim() };
  const axis = { stroke: ink, grid, ticks: grid };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: true },
    tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1_000), "Etc/UTC"),
    series: [{ label: "UTC" }, { label: "Price", stroke: accent, width: 2 }],
    axes: [axis, { ...axis, size: 90 }],
  };
}
