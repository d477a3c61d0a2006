import { Gauge, type Registry } from "prom-client";
import type { ServiceReport } from "../feed/index.ts";
import type { Freshness, SourceInfo } from "../protocol/index.ts";
import type { UpstreamStats } from "../source/index.ts";
import { level, total } from "./read-metric.ts";
import { addParts, addServices } from "./service-metrics.ts";

export interface SourceParts {
  readonly freshness: () => Freshness;
  readonly info: () => SourceInfo;
  readonly version: string;
  /** Counters of a polled upstream; absent without one. */
  readonly upstream?: () => UpstreamStats;
  /** Unusable market events by reason; absent if the source does not count them. */
  readonly rejected?: (() => Readonly<Record<string, number>>) | undefined;
  /** Trades and candles that arrived too late, by part of the market; absent likewise. */
  readonly late?: (() => Readonly<Record<string, number>>) | undefined;
  /** Reports on the external services of the market; absent likewise. */
  readonly services?: (() => readonly ServiceReport[]) | undefined;
}

export function addSource(
  registry: Registry,
  { freshness, info, version, upstream, rejected, late, services }: SourceParts,
): void {
  level(
    registry,
    "flarewire_data_age_seconds",
    "Age of the served data; absent until there is some.",
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
    "1 for the current state of the source.",
    () => {
      const { state } = freshness();
      return { live: 0, stale: 0, down: 0, [state]: 1 };
    },
    "state",
    "first",
  );
  new Gauge({
    name: "flarewire_info",
    help: "Always 1; the labels state the version and the source.",
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
      "Market events that were unusable, by reason.",
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
    "Upstream responses with status 304, which saved a body.",
    () => upstream().notModified,
  );
  total(
    registry,
    "flarewire_upstream_doubted_total",
    "Upstream responses that lacked so much data that they were not fully applied.",
    () => upstream().doubted,
  );
}
