import { Counter, Gauge, type Registry } from "prom-client";

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
  /** How to merge processes. `first`: the primary has all; `sum`: of shares; `max`: the largest. */
  readonly aggregator: "first" | "sum" | "max";
}

/** Metrics by name. Values are read at each scrape. */
export type Metrics = Readonly<Record<string, Metric>>;

export function total(help: string, read: Metric["read"], ...labels: readonly string[]): Metric {
  return { type: Counter, help, read, labels, aggregator: "sum" };
}

export function level(help: string, read: Metric["read"], ...labels: readonly string[]): Metric {
  return { type: Gauge, help, read, labels, aggregator: "sum" };
}

/** Marks a metric that the primary process has for all. */
export function first(metric: Metric): Metric {
  return { ...metric, aggregator: "first" };
}

/** Marks a metric whose value is the largest of all processes. */
export function max(metric: Metric): Metric {
  return { ...metric, aggregator: "max" };
}

export function addMetrics(registry: Registry, metrics: Metrics): void {
  for (const [name, { type, help, read, labels, aggregator }] of Object.entries(metrics)) {
    new type({
      ...{ name, help, labelNames: [...labels], registers: [registry], aggregator },
      collect() {
        this.reset();
        const [label = ""] = labels;
        for (const [of, value] of seriesOf(read(), label)) this.inc(of, value);
      },
    });
  }
}

function seriesOf(values: Values, label: string) {
  if (typeof values === "number") return [[{}, values] as const];
  if (Array.isArray(values)) return values;
  return Object.entries(values).map(([of, value]) => [{ [label]: of }, value] as const);
}
