import { formatDuration } from "../../base/lib/text/quantity.ts";
import { type Metrics, total } from "../../gateway/metrics/index.ts";
import type { FeedKind } from "../feed-kind.ts";
import { UPSTREAM_SETTINGS } from "./upstream-settings.ts";
import { UpstreamSource, type UpstreamStats } from "./upstream-source.ts";

/** Another service with this API. */
export const upstream: FeedKind<typeof UPSTREAM_SETTINGS> = {
  name: "upstream",
  settings: UPSTREAM_SETTINGS,
  polled: {
    open(url, { pollIntervalMs: intervalMs, upstreamTimeoutMs: timeoutMs }, { logger, ...context }) {
      const source = new UpstreamSource({
        ...context,
        url,
        intervalMs,
        timeoutMs,
        onInvalid: (report) => logger.warn({ report }, "upstream sent invalid data"),
      });
      return { source, metrics: upstreamMetrics(() => source.stats()) };
    },
    problem({ staleAfterMs, pollIntervalMs }) {
      if (staleAfterMs > pollIntervalMs) return undefined;
      const [stale, poll] = [formatDuration(staleAfterMs), formatDuration(pollIntervalMs)];
      return `staleAfter must be longer than pollInterval = ${poll}, got ${stale}: data would be stale between two polls`;
    },
  },
};

function upstreamMetrics(upstream: () => UpstreamStats): Metrics {
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
