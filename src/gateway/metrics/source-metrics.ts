import { VERSION } from "../../base/lib/version.ts";
import type { Freshness } from "../../base/protocol/index.ts";
import type { OpenSource } from "../source/opened-source.ts";
import { distribution, level, type Metrics, total } from "./metric-table.ts";
import { partMetrics, serviceMetrics } from "./service-metrics.ts";

export interface MeasuredSource {
  readonly freshness: () => Freshness;
  readonly opened: OpenSource;
}

export function sourceMetrics(measured: MeasuredSource): Metrics {
  const { freshness, opened } = measured;
  const { source, rejected, services, lag } = opened;
  const age = () => freshness().data_age_ms / 1_000;
  const state = () => ({ live: 0, stale: 0, down: 0, [freshness().state]: 1 });
  const about = () => {
    const { name, origin } = source.info;
    return [[{ version: VERSION, source: name, origin }, 1]] as const;
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
    ...partMetrics(freshness, opened),
    ...(services && serviceMetrics(services)),
    flarewire_head_lag_seconds: distribution(
      "Time from the end of a second of a live market to its events on the sockets, by stage: seen, until the part reports that second; waited, for the slowest other part; judged; sent.",
      () => (lag?.() ?? []).map(({ stage, part, seconds }) => [{ stage, part }, seconds]),
    ),
  };
}
