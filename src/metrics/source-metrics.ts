import { Gauge, type Registry } from "prom-client";
import type { ServiceReport } from "../feed/index.ts";
import type { Freshness, SourceInfo } from "../protocol/index.ts";
import type { UpstreamStats } from "../source/index.ts";
import { level, total } from "./read-metric.ts";
import { addParts, addServices } from "./service-metrics.ts";

/** What is measured of the source. */
export interface SourceParts {
  readonly freshness: () => Freshness;
  readonly info: () => SourceInfo;
  readonly version: string;
  /** Counters of an upstream that is polled; left out where there is none. */
  readonly upstream?: () => UpstreamStats;
  /** By reason the market events that could not be used so far; left out where the source does not say. */
  readonly rejected?: (() => Readonly<Record<string, number>>) | undefined;
  /** By part of the market its trades and candles that came too late; left out likewise. */
  readonly late?: (() => Readonly<Record<string, number>>) | undefined;
  /** How the services of others fare that the market asks; left out likewise. */
  readonly services?: (() => readonly ServiceReport[]) | undefined;
}

/** How old the data is, and how its source fares. */
export function addSource(
  registry: Registry,
  { freshness, info, version, upstream, rejected, late, services }: SourceParts,
): void {
  level(
    registry,
    "flarewire_data_age_seconds",
    "Age of the data that is served; absent until there is some.",
    () => {
      const { data_age_ms } = freshness();
      return data_age_ms === null ? {} : data_age_ms / 1_000;
    },
    undefined,
    "first",
  );
  level(
    registry,
    "flarewire_source_state",
    "1 for the state that the source is in.",
    () => {
      const { state } = freshness();
      return { live: 0, stale: 0, down: 0, [state]: 1 };
    },
    "state",
    "first",
  );
  new Gauge({
    name: "flarewire_info",
    help: "Always 1: which version runs, on which source.",
    labelNames: ["version", "source", "origin"],
    registers: [registry],
    aggregator: "first",
    collect() {
      this.reset();
      const { name, origin } = info();
      this.set({ version, source: name, origin }, 1);
    },
  });
  if (rejected) {
    total(
      registry,
      "flarewire_rejected_market_events_total",
      "Market events that could not be used, by reason.",
      rejected,
      "reason",
    );
  }
  addParts(registry, freshness, late);
  if (services) addServices(registry, services);
  if (!upstream) return;
  total(
    registry,
    "flarewire_upstream_polls_total",
    "Polls of the upstream, by outcome.",
    () => {
      const { succeeded, failed } = upstream();
      return { succeeded, failed };
    },
    "outcome",
  );
  total(
    registry,
    "flarewire_upstream_not_modified_total",
    "Bodies that the upstream did not have to send, thanks to a 304.",
    () => upstream().notModified,
  );
  total(
    registry,
    "flarewire_upstream_doubted_total",
    "Answers that lacked so much that they were not believed in full.",
    () => upstream().doubted,
  );
}
