import type { Freshness, SourceInfo } from "../../base/protocol/index.ts";
import type { ServiceReport } from "../source/feed.ts";
import { level, type Metrics, total } from "./metric-table.ts";
import { partMetrics, serviceMetrics } from "./service-metrics.ts";

export interface MeasuredSource {
  readonly freshness: () => Freshness;
  readonly info: () => SourceInfo;
  readonly version: string;
  /** Unusable market events by reason; absent if the source does not count them. */
  readonly rejected?: (() => Readonly<Record<string, number>>) | undefined;
  /** An aggregator's reports that arrived too late, by part; absent if they are not counted. */
  readonly late?: (() => Readonly<Record<string, number>>) | undefined;
  /** Reports on the market's external services; absent without any. */
  readonly services?: (() => readonly ServiceReport[]) | undefined;
}

export function sourceMetrics(measured: MeasuredSource): Metrics {
  const { freshness, info, version, rejected, late, services } = measured;
  const age = () => freshness().data_age_ms / 1_000;
  const state = () => ({ live: 0, stale: 0, down: 0, [freshness().state]: 1 });
  const about = () => {
    const { name, origin } = info();
    return [[{ version, source: name, origin }, 1]] as const;
  };
  const unusable = "Market events that were unusable, by reason.";
  return {
    flarewire_data_age_seconds: level(
      "Age of the served data; time since the start while there are none.",
      age,
    ),
    flarewire_source_state: level("1 for the current state of the source.", state, "state"),
    flarewire_info: level(
      "Always 1; the labels state the version and the source.",
      about,
      "version",
      "source",
      "origin",
    ),
    ...(rejected && { flarewire_rejected_market_events_total: total(unusable, rejected, "reason") }),
    ...partMetrics(freshness, late),
    ...(services && serviceMetrics(services)),
  };
}
