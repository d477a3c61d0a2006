import { Counter, type Registry } from "prom-client";
import type { WebhookStats } from "../alerts/index.ts";
import { level, total } from "./read-metric.ts";

export interface AlertParts {
  /** Statistics by webhook id; absent without webhooks. */
  readonly webhooks?: () => Readonly<Record<string, WebhookStats>>;
}

export function addAlerts(registry: Registry, { webhooks }: AlertParts): void {
  if (!webhooks) return;
  const each = (read: (stats: WebhookStats) => number) => () =>
    Object.fromEntries(Object.entries(webhooks()).map(([id, stats]) => [id, read(stats)]));
  new Counter({
    name: "flarewire_webhook_attempts_total",
    help: "Attempts to deliver a message, by webhook and outcome: delivered, failed, gone.",
    labelNames: ["webhook", "outcome"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [webhook, { attempts }] of Object.entries(webhooks()))
        for (const [outcome, count] of Object.entries(attempts)) this.inc({ webhook, outcome }, count);
    },
  });
  total(
    registry,
    "flarewire_webhook_dropped_total",
    "Messages dropped because a webhook did not accept them in time, by webhook.",
    each(({ dropped }) => dropped),
    "webhook",
  );
  level(
    registry,
    "flarewire_webhook_waiting",
    "Messages in a webhook's queue, by webhook.",
    each(({ waiting }) => waiting),
    "webhook",
  );
  level(
    registry,
    "flarewire_webhook_oldest_seconds",
    "Age of the oldest message in a webhook's queue, by webhook; 0 if the queue is empty.",
    each(({ oldestAgeMs }) => oldestAgeMs / 1_000),
    "webhook",
  );
  level(
    registry,
    "flarewire_webhook_disabled",
    "1 for a webhook that is disabled, because its receiver declined further messages.",
    each(({ disabled }) => Number(disabled)),
    "webhook",
  );
}
