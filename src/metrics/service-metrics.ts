import { Counter, Gauge, type Registry } from "prom-client";
import type { ServiceReport } from "../feed/index.ts";
import type { Freshness } from "../protocol/index.ts";
import { level, total } from "./read-metric.ts";

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
    "1 for a part of the market that is in use, 0 for one that is not.",
    each(({ state }) => Number(state === "live")),
    "part",
    "first",
  );
  level(
    registry,
    "flarewire_part_age_seconds",
    "Age of the last data from a part of the market.",
    each(({ data_age_ms }) => data_age_ms / 1_000),
    "part",
    "first",
  );
  total(
    registry,
    "flarewire_part_late_events_total",
    "Trades and candles of a part that were dropped because they arrived too late.",
    () => late?.() ?? {},
    "part",
    "first",
  );
}

/** Adds the metrics of external services: exchanges, RPC endpoints and enrichers, if configured. */
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
  const up = "1 for a service that works, 0 for one that does not.";
  gauge("flarewire_service_up", up, ({ isUp }) => Number(isUp));
  const age = "Time since a service's last useful response; absent before the first one.";
  gauge("flarewire_service_age_seconds", age, ({ ageMs }) => ageMs && ageMs / 1_000);
  counter("flarewire_service_requests_total", "Requests to a service.", ({ requests }) => requests);
  const failed = "Failed requests to a service, without those that it refused.";
  counter("flarewire_service_errors_total", failed, ({ errors }) => errors);
  const refused = "Requests that a service refused as too many or as unsupported.";
  counter("flarewire_service_refused_total", refused, ({ refused }) => refused);
  const waits = "Time for which requests were delayed to stay within a service's rate limit.";
  counter("flarewire_service_wait_seconds_total", waits, ({ waitedMs }) => waitedMs / 1_000);
}
