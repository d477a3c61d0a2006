import { Counter, Gauge, type Registry } from "prom-client";

/** A number that is kept elsewhere; by label value where there are several. */
type Read = () => number | Readonly<Record<string, number>>;

/**
 * How the numbers of several processes of one gateway become one. `first`: the primary process, which is the first, has it for all; `sum`: each has a
 * part; `max`: the worst of them tells.
 */
type Across = "first" | "sum" | "max";

/** A number that only grows and is kept elsewhere: read when asked for. By label value where there are several. */
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

/** A number that goes up and down; likewise. */
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
  tell: (labels: Record<string, string>, value: number) => void,
): void {
  if (typeof now === "number") tell({}, now);
  else for (const [value, count] of Object.entries(now)) tell({ [label ?? ""]: value }, count);
}
