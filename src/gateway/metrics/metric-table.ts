import type { DurationHistogram } from "./duration-histogram.ts";

type Labels = Readonly<Record<string, string>>;

/** A value, several by one label, or several by all labels. */
type Values =
  | number
  | Readonly<Record<string, number>>
  | readonly (readonly [labels: Labels, value: number])[];

interface Metric {
  readonly kind: "counter" | "gauge";
  readonly help: string;
  readonly read: () => Values;
  readonly labels: readonly string[];
}

/** A metric of several series, whose names may have a suffix. */
interface ComposedMetric {
  readonly kind: "histogram" | "summary";
  readonly help: string;
  readonly read: () => readonly (readonly [suffix: string, labels: Labels, value: number])[];
}

/** Metrics by name. Values are read at each scrape. */
export type Metrics = Readonly<Record<string, Metric | ComposedMetric>>;

export function total(help: string, read: Metric["read"], ...labels: readonly string[]): Metric {
  return { kind: "counter", help, read, labels };
}

export function level(help: string, read: Metric["read"], ...labels: readonly string[]): Metric {
  return { kind: "gauge", help, read, labels };
}

/** A histogram whose counts its owner maintains, because one observation may stand for many. */
export function distribution(
  help: string,
  read: () => readonly (readonly [labels: Labels, DurationHistogram["seconds"]])[],
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

/** Reads the metrics, and writes them in the text format of Prometheus. */
export function metricsText(metrics: Metrics): string {
  const parts = Object.entries(metrics).map(([name, metric]) => {
    const series = "labels" in metric ? seriesOf(metric) : metric.read();
    const lines = series.map(
      ([suffix, labels, value]) => `${name}${suffix}${labelsText(labels)} ${numberText(value)}`,
    );
    return [`# HELP ${name} ${escaped(metric.help)}`, `# TYPE ${name} ${metric.kind}`, ...lines].join("\n");
  });
  return `${parts.join("\n\n")}\n`;
}

function seriesOf({ read, labels: [label = ""] }: Metric): ReturnType<ComposedMetric["read"]> {
  const values = read();
  if (typeof values === "number") return [["", {}, values]];
  if (Array.isArray(values)) return values.map(([labels, value]) => ["", labels, value]);
  return Object.entries(values).map(([of, value]) => ["", { [label]: of }, value]);
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function numberText(value: number): string {
  return `${value}`.replace(/^(-?)Infinity$/, (_, sign) => `${sign || "+"}Inf`);
}
