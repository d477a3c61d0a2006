import { Counter, Gauge, type Registry } from "prom-client";

/** Reads a value, or several by label. */
type Read = () => number | Readonly<Record<string, number>>;

/**
 * How to merge a metric of several processes. `first`: the primary process has the value for all;
 * `sum`: each has a share; `max`: the largest counts.
 */
type Across = "first" | "sum" | "max";

/** Adds a counter whose value is read at each scrape. */
export function total(
  registry: Registry,
  name: string,
  help: string,
  read: Read,
  label?: string,
  across: Across = "sum",
): void {
  new Counter({
    ...describe(registry, name, help, label, across),
    collect() {
      this.reset();
      forEachSeries(read(), label, (labels, value) => this.inc(labels, value));
    },
  });
}

/** Adds a gauge whose value is read at each scrape. */
export function level(
  registry: Registry,
  name: string,
  help: string,
  read: Read,
  label?: string,
  across: Across = "sum",
): void {
  new Gauge({
    ...describe(registry, name, help, label, across),
    collect() {
      this.reset();
      forEachSeries(read(), label, (labels, value) => this.set(labels, value));
    },
  });
}

function describe(
  registry: Registry,
  name: string,
  help: string,
  label: string | undefined,
  aggregator: Across,
) {
  return { name, help, labelNames: label === undefined ? [] : [label], registers: [registry], aggregator };
}

function forEachSeries(
  now: ReturnType<Read>,
  label: string | undefined,
  set: (labels: Record<string, string>, value: number) => void,
): void {
  if (typeof now === "number") set({}, now);
  else for (const [value, count] of Object.entries(now)) set({ [label ?? ""]: value }, count);
}
