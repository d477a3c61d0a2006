import type { Hub } from "../hub/index.ts";
import type { PollOutcome } from "../source/index.ts";
import { connectionMetrics } from "./connection-metrics.ts";
import { DurationHistogram } from "./duration-histogram.ts";
import { eventMetrics, type MeasuredEvents } from "./event-metrics.ts";
import { keyMetrics, type MeasuredKeys } from "./key-metrics.ts";
import { distribution, type Metrics, metricsText, total } from "./metric-table.ts";
import { measureProcess, processMetrics } from "./process-meter.ts";
import { type MeasuredSource, sourceMetrics } from "./source-metrics.ts";

export interface MeasuredGateway extends MeasuredSource, MeasuredEvents, MeasuredHttp {
  readonly hub: Hub;
  readonly keys: MeasuredKeys;
  /** The metrics of extensions. */
  readonly further: Metrics;
}

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

/** Creates the metrics of one gateway process. Most are read from counters at each scrape. */
export function createGatewayMetrics(gateway: MeasuredGateway) {
  const meter = measureProcess();
  const polls = new Map<PollOutcome, DurationHistogram>();
  const [events, forget] = eventMetrics(gateway);
  const metrics: Metrics = {
    flarewire_poll_duration_seconds: distribution(
      "Time to compare a snapshot with the previous one and publish the changes, by outcome: published, unchanged, failed.",
      () => [...polls].map(([outcome, { seconds }]) => [{ outcome }, seconds]),
    ),
    ...connectionMetrics(gateway.hub),
    ...httpMetrics(gateway),
    ...events,
    ...sourceMetrics(gateway),
    ...gateway.opened.metrics,
    ...gateway.further,
    ...processMetrics(meter),
    ...keyMetrics(gateway.keys),
  };
  return {
    /** Returns the current values in the text format. */
    text: () => metricsText(metrics),
    /** Records a poll. `workMs`: time to compare and publish, without the wait for the source. */
    polled: (outcome: PollOutcome, workMs: number): void => {
      const durations = polls.get(outcome) ?? new DurationHistogram();
      polls.set(outcome, durations);
      durations.add(workMs);
    },
    close: () => {
      forget();
      meter.close();
    },
  };
}

interface MeasuredHttp {
  readonly refusals: { readonly counts: Readonly<Partial<Record<string, number>>> };
  readonly responses: { readonly all: readonly (readonly [Readonly<Record<string, string>>, number])[] };
}

function httpMetrics({ refusals, responses }: MeasuredHttp): Metrics {
  return {
    flarewire_refusals_total: total(
      "Refused connections and requests, by reason: the limit that was reached, or the problem code.",
      () => ({ connections: 0, ...refusals.counts }),
      "reason",
    ),
    flarewire_http_responses_total: total(
      "Responses by route and status. Accepted streams count as connections instead.",
      () => responses.all,
      ...["route", "status"],
    ),
  };
}
