import { type Metrics, total } from "../../gateway/metrics/metric-table.ts";
import type { UpstreamStats } from "./upstream-source.ts";

/** Returns the metrics of a polled service. */
export function upstreamMetrics(upstream: () => UpstreamStats): Metrics {
  const outcomes = () => {
    const { succeeded, failed } = upstream();
    return { succeeded, failed };
  };
  return {
    flarewire_upstream_polls_total: total("Polls of the upstream, by outcome.", outcomes, "outcome"),
    flarewire_upstream_not_modified_total: total(
      "Upstream responses with status 304, which saved a body.",
      () => upstream().notModified,
    ),
    flarewire_upstream_doubted_total: total(
      "Upstream responses that lacked so much data that they were not fully applied.",
      () => upstream().doubted,
    ),
  };
}
