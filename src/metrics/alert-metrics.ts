import { Counter, type Registry } from "prom-client";
import type { WebhookStats } from "../alerts/index.ts";
import { level, total } from "./read-metric.ts";

/** What is measured of alerts. */
export interface AlertParts {
  /** By id of the webhook, how it fares; left out where there are none. */
  readonly webhooks?: () => Readonly<Record<string, WebhookStats>>;
}

/** Whether those who are to be told are told. */
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
    "Messages that a webhook did not take in time, by webhook.",
    each(({ dropped }) => dropped),
    "webhook",
  );
  level(
    registry,
    "flarewire_webhook_waiting",
    "Messages that wait for a webhook, by webhook.",
    each(({ waiting }) => waiting),
    "webhook",
  );
  level(
    registry,
    "flarewire_webhook_oldest_seconds",
    "Age of the oldest message that waits for a webhook, by webhook; 0 when none waits.",
    each(({ oldestAgeMs }) => oldestAgeMs / 1_000),
    "webhook",
  );
  level(
    registry,
    "flarewire_webhook_disabled",
    "1 for a webhook whose receiver wants nothing any more.",
    each(({ disabled }) => Number(disabled)),
    "webhook",
  );
}
