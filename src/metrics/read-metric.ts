import { Counter, Gauge, type Registry } from "prom-client";

/** Reads a value, or several by label. */
type Read = () => number | Readonly<Record<string, number>>;

/** How to merge processes. `first`: the primary has all; `sum`: of shares; `max`: the largest. */
type Across = "first" | "sum" | "max";

type Metric = readonly [
  registry: Registry,
  name: string,
  help: string,
  read: Read,
  label?: string,
  across?: Across,
];

export function total(...metric: Metric): void {
  new Counter({
    ...describe(metric),
    collect() {
      this.reset();
      forEachSeries(metric, (labels, value) => this.inc(labels, value));
    },
  });
}

export function level(...metric: Metric): void {
  new Gauge({
    ...describe(metric),
    collect() {
      this.reset();
      forEachSeries(metric, (labels, value) => this.set(labels, value));
    },
  });
}

function describe([registry, name, help, , label, aggregator = "sum"]: Metric) {
  return { name, help, labelNames: label === undefined ? [] : [label], registers: [registry], aggregator };
}

function forEachSeries(
  [, , , read, label = ""]: Metric,
  set: (labels: Record<string, string>, value: number) => void,
): void {
  const now = read();
  if (typeof now === "number") set({}, now);
  else for (const [value, count] of Object.entries(now)) set({ [label]: value }, count);
}
