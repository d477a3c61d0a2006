import { Counter, Gauge, Histogram, type Registry, Summary } from "prom-client";
import type { DurationHistogram } from "./duration-histogram.ts";

/** A value, several by one label, or several by all labels. */
type Values =
  | number
  | Readonly<Record<string, number>>
  | readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

interface Metric {
  readonly type: typeof Counter | typeof Gauge;
  readonly help: string;
  readonly read: () => Values;
  readonly labels: readonly string[];
}

/** A metric of several series, whose names may have a suffix. */
interface ComposedMetric {
  readonly kind: "histogram" | "summary";
  readonly help: string;
  readonly read: () => readonly (readonly [
    suffix: string,
    labels: Readonly<Record<string, string>>,
    number,
  ])[];
}

/** Metrics by name. Values are read at each scrape. */
export type Metrics = Readonly<Record<string, Metric | ComposedMetric>>;

export function total(help: string, read: Metric["read"], ...labels: readonly string[]): Metric {
  return { type: Counter, help, read, labels };
}

export function level(help: string, read: Metric["read"], ...labels: readonly string[]): Metric {
  return { type: Gauge, help, read, labels };
}

/** A histogram whose counts its owner maintains, because one observation may stand for many. */
export function distribution(
  help: string,
  read: () => readonly (readonly [labels: Readonly<Record<string, string>>, DurationHistogram["seconds"]])[],
): ComposedMetric {
  const series: ComposedMetric["read"] = () =>
    read().flatMap(([labels, { bounds, counts, sum }]) => [
      ...counts.map(
        (count, index) => ["_bucket", { ...labels, le: `${bounds[index] ?? "+Inf"}` }, count] as const,
      ),
      ["_sum", labels, sum] as const,
      ["_count", labels, counts.at(-1) ?? 0] as const,
    ]);
  return { kind: "histogram", help, read: series };
}

/** Values by quantile. */
export function quantiles(help: string, read: () => Readonly<Record<string, number>>): ComposedMetric {
  const series: ComposedMetric["read"] = () =>
    Object.entries(read()).map(([quantile, value]) => ["", { quantile }, value]);
  return { kind: "summary", help, read: series };
}

export function addMetrics(registry: Registry, metrics: Metrics): void {
  for (const [name, metric] of Object.entries(metrics)) {
    if ("labels" in metric) addSeries(registry, name, metric);
    else addComposed(registry, name, metric);
  }
}

function addSeries(registry: Registry, name: string, { type, help, read, labels }: Metric): void {
  new type({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect() {
      this.reset();
      const [label = ""] = labels;
      for (const [of, value] of seriesOf(read(), label)) this.inc(of, value);
    },
  });
}

function seriesOf(values: Values, label: string) {
  if (typeof values === "number") return [[{}, values] as const];
  if (Array.isArray(values)) return values;
  return Object.entries(values).map(([of, value]) => [{ [label]: of }, value] as const);
}

function addComposed(registry: Registry, name: string, { kind, help, read }: ComposedMetric): void {
  const options = { name, help, registers: [] };
  const empty = kind === "histogram" ? new Histogram(options) : new Summary(options);
  // The registry only asks for values and their type, so the base class does not matter.
  class Composed extends Histogram {
    override async get() {
      const values = read().map(([suffix, labels, value]) => ({
        metricName: `${name}${suffix}`,
        labels,
        value,
      }));
      return { ...(await empty.get()), values };
    }

    /** The library calls this instead of `get` for the text format. */
    getForPromString() {
      return this.get();
    }
  }
  new Composed({ name, help, registers: [registry] });
}
