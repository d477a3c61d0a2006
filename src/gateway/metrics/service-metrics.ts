import type { Freshness } from "../../base/protocol/index.ts";
import type { ServiceReport } from "../source/feed.ts";
import type { OpenSource } from "../source/opened-source.ts";
import { level, type Metrics, total } from "./metric-table.ts";

export function partMetrics(
  freshness: () => Freshness,
  { late, replaced }: Pick<OpenSource, "late" | "replaced">,
): Metrics {
  const each = (read: (part: NonNullable<Freshness["parts"]>[number]) => number) => () =>
    Object.fromEntries((freshness().parts ?? []).map((part) => [part.name, read(part)]));
  const isUp = each(({ state }) => Number(state === "live"));
  const age = each(({ data_age_ms }) => data_age_ms / 1_000);
  const dropped = "An aggregator's reports that were dropped because they arrived too late.";
  return {
    flarewire_part_up: level(
      "1 for a part of the market that is in use, 0 for one that is not.",
      isUp,
      "part",
    ),
    flarewire_part_age_seconds: level("Age of the last data from a part of the market.", age, "part"),
    flarewire_part_late_events_total: total(dropped, () => late?.() ?? {}, "part"),
    flarewire_part_replaced_trades_total: total(
      "Trades of a chain's blocks that were dropped because they replaced published blocks.",
      () => replaced?.() ?? {},
      "part",
    ),
  };
}

/** The metrics of external services: exchanges, RPC endpoints and enrichers, if configured. */
export function serviceMetrics(services: () => readonly ServiceReport[]): Metrics {
  const of =
    (metric: typeof level) => (help: string, read: (report: ServiceReport) => number | undefined) => {
      const values = () =>
        services().flatMap((report) => {
          const { part, service } = report;
          const value = read(report);
          return value === undefined ? [] : [[{ part, service }, value] as const];
        });
      return metric(help, values, ...["part", "service"]);
    };
  const [gauge, counter] = [of(level), of(total)];
  const age = "Time since a service's last useful response; absent before the first one.";
  const latency = "Slowest recent answer of a service, or the wait for one; halves every ten seconds.";
  const unreadable = "Items in a service's answers that could not be read, by reason.";
  const unreadableItems = () =>
    services().flatMap(({ part, service, unreadable: items }) =>
      Object.entries(items).map(([reason, count]) => [{ part, service, reason }, count] as const),
    );
  const failed = "Failed requests to a service, without those that it refused.";
  const refused = "Requests that a service refused as too many or as unsupported.";
  const waits = "Time for which requests were delayed to stay within a service's rate limit.";
  return {
    flarewire_service_up: gauge("1 for a service that works, 0 for one that does not.", ({ isUp }) =>
      Number(isUp),
    ),
    flarewire_service_age_seconds: gauge(age, ({ ageMs }) => ageMs && ageMs / 1_000),
    flarewire_service_latency_seconds: gauge(latency, ({ latencyMs }) => latencyMs / 1_000),
    flarewire_service_requests_total: counter("Requests to a service.", ({ requests }) => requests),
    flarewire_service_errors_total: counter(failed, ({ errors }) => errors),
    flarewire_service_unreadable_total: total(unreadable, unreadableItems, "part", "service", "reason"),
    flarewire_service_refused_total: counter(refused, ({ refused }) => refused),
    flarewire_service_wait_seconds_total: counter(waits, ({ waitedMs }) => waitedMs / 1_000),
  };
}
