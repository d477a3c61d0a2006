import { level, type Metrics, total } from "../../gateway/metrics/index.ts";
import type { TargetStats } from "./alerts.ts";

/** Explains metrics that are named after webhooks but cover targets of every kind. */
const TARGETS = "webhook: ID of a target of any kind; push: all browsers.";

/** Returns the metrics of alerts from the statistics by target id, of every kind of target. */
export function alertMetrics(stats: () => Readonly<Record<string, TargetStats>>): Metrics {
  const all = () => Object.entries(stats());
  const each = (read: (stats: TargetStats) => number) => () =>
    Object.fromEntries(all().map(([id, stats]) => [id, read(stats)]));
  const attempts = () =>
    all().flatMap(([webhook, stats]) =>
      Object.entries(stats.attempts).map(([outcome, count]) => [{ webhook, outcome }, count] as const),
    );
  return {
    flarewire_webhook_attempts_total: total(
      `Attempts to deliver a message, by outcome: delivered, failed, refused, gone. ${TARGETS}`,
      attempts,
      ...["webhook", "outcome"],
    ),
    flarewire_webhook_dropped_total: total(
      `Messages dropped because a target did not accept them in time. ${TARGETS}`,
      each(({ dropped }) => dropped),
      "webhook",
    ),
    flarewire_webhook_refused_total: total(
      `Messages dropped because a target refused their content. ${TARGETS}`,
      each(({ refused }) => refused),
      "webhook",
    ),
    flarewire_webhook_waiting: level(
      `Messages in a target's queue. ${TARGETS}`,
      each(({ waiting }) => waiting),
      "webhook",
    ),
    flarewire_webhook_oldest_seconds: level(
      `Age of the oldest message in a target's queue; 0 if the queue is empty. ${TARGETS}`,
      each(({ oldestAgeMs }) => oldestAgeMs / 1_000),
      "webhook",
    ),
    flarewire_webhook_disabled: level(
      `1 for a target that is disabled, because its receiver declined further messages. ${TARGETS}`,
      each(({ disabled }) => Number(disabled)),
      "webhook",
    ),
  };
}
