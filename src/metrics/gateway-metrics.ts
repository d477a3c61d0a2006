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

/** What is measured. */
interface MetricsParts extends SourceParts, AlertParts, EventParts {
  readonly hub: Hub;
  /** Refused connections and requests, by reason; default: none are counted. */
  readonly refusals?: (() => Readonly<Partial<Record<string, number>>>) | undefined;
  /** How many processes serve now, and how many ended that should not have; default: this one, and none. */
  readonly workers?: (() => WorkerCounts) | undefined;
  /** Left out where there is no key file. */
  readonly isKeyFileUsable?: (() => boolean) | undefined;
}

/** The processes that serve clients. */
export interface WorkerCounts {
  readonly serving: number;
  readonly ended: number;
}

/** The gateway in numbers, for Prometheus. */
export interface GatewayMetrics {
  readonly contentType: string;
  /** Everything as it is now, in the text format. */
  text(): Promise<string>;
  /** The same as plain objects, for {@link MergedMetrics}. */
  json(): Promise<MetricsJson>;
  /** A poll is over; `workMs`: what comparing and publishing took, without the wait for the source. */
  polled(outcome: PollOutcome, workMs: number): void;
  close(): void;
}

/** Upper ends of the classes of {@link GatewayMetrics.polled}, in seconds. */
const POLL_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

/**
 * Nearly all of it is read off plain counts when somebody asks, so that a gateway that nobody watches pays for nothing. Each gateway has a
 * registry of its own: two in one process do not mix.
 */
export function createGatewayMetrics(parts: MetricsParts): GatewayMetrics {
  const registry = new Registry();
  const meter = measureProcess();
  const polls = new Histogram({
    name: "flarewire_poll_duration_seconds",
    help: "Comparing a snapshot with the one before and publishing what changed, by outcome: published, unchanged, failed.",
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
  const about = "Processes that served clients and ended without being told to.";
  total(registry, ended, about, () => read().ended, undefined, "first");
}

function addKeyFile(registry: Registry, isUsable: () => boolean): void {
  const about = "1 while the key file can be used; 0 while it cannot, and the keys read before count.";
  level(registry, "flarewire_key_file_usable", about, () => Number(isUsable()), undefined, "first");
}
