import { Histogram, Registry } from "prom-client";
import type { Hub } from "../hub/index.ts";
import type { PollOutcome } from "../source/index.ts";
import { type AlertParts, addAlerts } from "./alert-metrics.ts";
import { addConnections, addRefusals } from "./connection-metrics.ts";
import { addEvents, type EventParts } from "./event-metrics.ts";
import type { MetricsJson } from "./merged-metrics.ts";
import { measureProcess } from "./process-meter.ts";
import { addProcess } from "./process-metrics.ts";
import { level, total } from "./read-metric.ts";
import { addSource, type SourceParts } from "./source-metrics.ts";

interface MetricsParts extends SourceParts, AlertParts, EventParts {
  readonly hub: Hub;
  /** Refused connections and requests, by reason. Default: none. */
  readonly refusals?: (() => Readonly<Partial<Record<string, number>>>) | undefined;
  /** Running processes and unexpected exits. Default: one process, and no exit. */
  readonly workers?: (() => WorkerCounts) | undefined;
  /** Absent without a key file. */
  readonly isKeyFileUsable?: (() => boolean) | undefined;
}

/** The processes that serve clients: those running, and those that exited unexpectedly. */
export interface WorkerCounts {
  readonly serving: number;
  readonly ended: number;
}

export interface GatewayMetrics {
  readonly contentType: string;
  /** Returns the current values in the text format. */
  text(): Promise<string>;
  /** Returns the current values as plain objects, for {@link MergedMetrics}. */
  json(): Promise<MetricsJson>;
  /** Records a poll. `workMs`: time to compare and publish, without the wait for the source. */
  polled(outcome: PollOutcome, workMs: number): void;
  close(): void;
}

/** Upper bounds of the histogram of {@link GatewayMetrics.polled}, in seconds. */
const POLL_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

/** Creates one gateway's own metrics, read from plain counters at each scrape. */
export function createGatewayMetrics(parts: MetricsParts): GatewayMetrics {
  const registry = new Registry();
  const meter = measureProcess();
  const polls = new Histogram({
    name: "flarewire_poll_duration_seconds",
    help: "Time to compare a snapshot with the previous one and publish the changes, by outcome: published, unchanged, failed.",
    labelNames: ["outcome"],
    buckets: POLL_BUCKETS,
    registers: [registry],
  });
  addConnections(registry, parts.hub);
  addRefusals(registry, parts.refusals ?? (() => ({})));
  const forget = addEvents(registry, parts);
  addSource(registry, parts);
  addAlerts(registry, parts);
  addProcess(registry, meter);
  addWorkers(registry, parts.workers ?? (() => ({ serving: 1, ended: 0 })));
  if (parts.isKeyFileUsable) addKeyFile(registry, parts.isKeyFileUsable);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    json: () => registry.getMetricsAsJSON(),
    polled: (outcome, workMs) => polls.observe({ outcome }, workMs / 1_000),
    close: () => {
      forget();
      meter.close();
    },
  };
}

function addWorkers(registry: Registry, read: () => WorkerCounts): void {
  const [serving, ended] = ["flarewire_workers", "flarewire_worker_ends_total"];
  level(registry, serving, "Processes that serve clients.", () => read().serving, undefined, "first");
  const about = "Unexpected exits of processes that serve clients.";
  total(registry, ended, about, () => read().ended, undefined, "first");
}

function addKeyFile(registry: Registry, isUsable: () => boolean): void {
  const about = "1 while the key file is valid; 0 while it is not, and the previous keys are in use.";
  level(registry, "flarewire_key_file_usable", about, () => Number(isUsable()), undefined, "first");
}
