import { Histogram, Registry } from "prom-client";
import type { Hub } from "../hub/index.ts";
import type { PollOutcome } from "../source/index.ts";
import { connectionMetrics } from "./connection-metrics.ts";
import { eventMetrics, type MeasuredEvents } from "./event-metrics.ts";
import { keyMetrics, type MeasuredKeys } from "./key-metrics.ts";
import { addMetrics, type Metrics, total } from "./metric-table.ts";
import { measureProcess, processMetrics } from "./process-meter.ts";
import { type MeasuredSource, sourceMetrics } from "./source-metrics.ts";

interface MeasuredGateway extends MeasuredSource, MeasuredEvents, MeasuredHttp, MeasuredKeys {
  readonly hub: Hub;
  /** The metrics of the source and of extensions. */
  readonly further: Metrics;
}

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

/** Upper bounds of the histogram of {@link GatewayMetrics.polled}, in seconds. */
const POLL_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

/** Creates the metrics of one gateway process. Most are read from counters at each scrape. */
export function createGatewayMetrics(gateway: MeasuredGateway) {
  const registry = new Registry();
  const meter = measureProcess();
  const polls = new Histogram({
    name: "flarewire_poll_duration_seconds",
    help: "Time to compare a snapshot with the previous one and publish the changes, by outcome: published, unchanged, failed.",
    labelNames: ["outcome"],
    buckets: POLL_BUCKETS,
    registers: [registry],
  });
  const [events, forget] = eventMetrics(gateway);
  addMetrics(registry, {
    ...connectionMetrics(gateway.hub),
    ...httpMetrics(gateway),
    ...events,
    ...sourceMetrics(gateway),
    ...gateway.further,
    ...processMetrics(meter),
    ...keyMetrics(gateway),
  });
  return {
    contentType: registry.contentType,
    /** Returns the current values in the text format. */
    text: () => registry.metrics(),
    /** Records a poll. `workMs`: time to compare and publish, without the wait for the source. */
    polled: (outcome: PollOutcome, workMs: number): void => polls.observe({ outcome }, workMs / 1_000),
    close: () => {
      forget();
      meter.close();
    },
  };
}

export interface MeasuredHttp {
  /** Refused connections and requests, by reason. Default: none. */
  readonly refusals?: (() => Readonly<Partial<Record<string, number>>>) | undefined;
  /** Responses by route and status. Default: none. */
  readonly responses?: (() => readonly ResponseCount[]) | undefined;
}

type ResponseCount = readonly [{ readonly route: string; readonly status: string }, number];

export function httpMetrics({ refusals, responses }: MeasuredHttp): Metrics {
  return {
    flarewire_refusals_total: total(
      "Refused connections and requests, by reason: the limit that was reached, or the problem code.",
      () => ({ connections: 0, ...refusals?.() }),
      "reason",
    ),
    flarewire_http_responses_total: total(
      "Responses by route and status. Accepted streams count as connections instead.",
      () => responses?.() ?? [],
      ...["route", "status"],
    ),
  };
}
