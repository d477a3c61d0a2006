import type { TargetStats } from "../alerts/index.ts";
import { level, type Metrics, total } from "./metric-table.ts";

export interface AlertParts {
  /** Statistics by webhook id; absent without webhooks. */
  readonly webhooks?: () => Readonly<Record<string, TargetStats>>;
}

export function alertMetrics({ webhooks }: AlertParts): Metrics {
  if (!webhooks) return {};
  const all = () => Object.entries(webhooks());
  const each = (read: (stats: TargetStats) => number) => () =>
    Object.fromEntries(all().map(([id, stats]) => [id, read(stats)]));
  const attempts = () =>
    all().flatMap(([webhook, stats]) =>
      Object.entries(stats.attempts).map(([outcome, count]) => [{ webhook, outcome }, count] as const),
    );
  return {
    flarewire_webhook_attempts_total: total(
      "Attempts to deliver a message, by webhook and outcome: delivered, failed, gone.",
      attempts,
      ...["webhook", "outcome"],
    ),
    flarewire_webhook_dropped_total: total(
      "Messages dropped because a webhook did not accept them in time, by webhook.",
      each(({ dropped }) => dropped),
      "webhook",
    ),
    flarewire_webhook_waiting: level(
      "Messages in a webhook's queue, by webhook.",
      each(({ waiting }) => waiting),
      "webhook",
    ),
    flarewire_webhook_oldest_seconds: level(
      "Age of the oldest message in a webhook's queue, by webhook; 0 if the queue is empty.",
      each(({ oldestAgeMs }) => oldestAgeMs / 1_000),
      "webhook",
    ),
    flarewire_webhook_disabled: level(
      "1 for a webhook that is disabled, because its receiver declined further messages.",
      each(({ disabled }) => Number(disabled)),
      "webhook",
    ),
  };
}
