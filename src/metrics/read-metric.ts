import { Counter, Gauge, type Registry } from "prom-client";

/** A number that only grows and is kept elsewhere: read when asked for. By label value where there are several. */
export function total(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Readonly<Record<string, number>>,
  label?: string,
): void {
  new Counter({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      this.reset();
      const now = read();
      if (typeof now === "number") this.inc(now);
      else for (const [value, count] of Object.entries(now)) this.inc({ [label ?? ""]: value }, count);
    },
  });
}

/** A number that goes up and down; likewise. */
export function level(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Readonly<Record<string, number>>,
  label?: string,
): void {
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      this.reset();
      const now = read();
      if (typeof now === "number") this.set(now);
      else for (const [value, count] of Object.entries(now)) this.set({ [label ?? ""]: value }, count);
    },
  });
}
