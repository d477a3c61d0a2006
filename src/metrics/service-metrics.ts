import { Counter, Gauge, type Registry } from "prom-client";
import type { ServiceReport } from "../feed/index.ts";
import type { Freshness } from "../protocol/index.ts";
import { level, total } from "./read-metric.ts";

/** How each part of a market fares that is made of several; of another one there is no series. */
export function addParts(
  registry: Registry,
  freshness: () => Freshness,
  late: (() => Readonly<Record<string, number>>) | undefined,
): void {
  const each = (read: (part: NonNullable<Freshness["parts"]>[number]) => number) => () =>
    Object.fromEntries((freshness().parts ?? []).map((part) => [part.name, read(part)]));
  level(
    registry,
    "flarewire_part_up",
    "1 for a part of the market with which it goes on, 0 for one without which.",
    each(({ state }) => Number(state === "live")),
    "part",
    "first",
  );
  level(
    registry,
    "flarewire_part_age_seconds",
    "Age of what a part of the market told last.",
    each(({ data_age_ms }) => data_age_ms / 1_000),
    "part",
    "first",
  );
  total(
    registry,
    "flarewire_part_late_events_total",
    "Trades and candles of a part that came too late for the market, and were left out.",
    () => late?.() ?? {},
    "part",
    "first",
  );
}

/** What the services of others were asked, and what became of it: exchanges, endpoints of chains, enrichers. Only those that were configured have series. */
export function addServices(registry: Registry, services: () => readonly ServiceReport[]): void {
  const labelNames: ("part" | "service")[] = ["part", "service"];
  const common = { labelNames, registers: [registry], aggregator: "first" as const };
  const gauge = (name: string, help: string, read: (report: ServiceReport) => number | undefined) =>
    new Gauge({
      ...{ name, help, ...common },
      collect() {
        this.reset();
        for (const report of services()) {
          const value = read(report);
          if (value !== undefined) this.set({ part: report.part, service: report.service }, value);
        }
      },
    });
  const counter = (name: string, help: string, read: (report: ServiceReport) => number) =>
    new Counter({
      ...{ name, help, ...common },
      collect() {
        this.reset();
        for (const report of services())
          this.inc({ part: report.part, service: report.service }, read(report));
      },
    });
  const up = "1 for a service that answers as it should, 0 for one that does not.";
  gauge("flarewire_service_up", up, ({ isUp }) => Number(isUp));
  const age = "Time since a service said something of use; absent before the first.";
  gauge("flarewire_service_age_seconds", age, ({ ageMs }) => ageMs && ageMs / 1_000);
  counter("flarewire_service_requests_total", "Requests to a service.", ({ requests }) => requests);
  const failed = "Requests to a service that brought nothing of use, those that it refused left out.";
  counter("flarewire_service_errors_total", failed, ({ errors }) => errors);
  const refused = "Requests that a service refused: too many, or of a kind that it does not answer.";
  counter("flarewire_service_refused_total", refused, ({ refused }) => refused);
  const waits = "Time for which requests were held back, to keep within what a service bears.";
  counter("flarewire_service_wait_seconds_total", waits, ({ waitedMs }) => waitedMs / 1_000);
}
