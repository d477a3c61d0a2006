import type { Logger } from "pino";
import { type Head, type Hub, LongPoll } from "../hub/index.ts";
import { notifyLog } from "../lib/notify.ts";
import { messageOf } from "../lib/text/message-of.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { EventLog } from "../log/index.ts";
import type { Webhook } from "./rules/alert-file.ts";
import { followRule, nameOfRule } from "./rules/rule-follower.ts";
import type { AlertStore } from "./store/alert-store.ts";
import { GroupCommit } from "./store/group-commit.ts";
import { type SenderOptions, WebhookSender } from "./webhooks/webhook-sender.ts";

export interface AlertsOptions {
  readonly webhooks: readonly Webhook[];
  readonly log: EventLog;
  readonly head: Head;
  readonly history: Hub["history"];
  /** Shares the event loop with clients' requests. */
  readonly turn?: Hub["turn"];
  readonly store: AlertStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** URL of this server for its visitors. Default: alerts have no links. */
  readonly publicUrl?: string | undefined;
  readonly sender?: Partial<Pick<SenderOptions, "limits" | "random" | "post">>;
}

export interface WebhookStats {
  readonly attempts: Readonly<Record<string, number>>;
  readonly dropped: number;
  /** Messages in the queue; NaN if the store cannot be read. */
  readonly waiting: number;
  /** Age of the oldest queued message in ms; 0 if none, NaN if the store is unreadable. */
  readonly oldestAgeMs: number;
  readonly disabled: boolean;
}

export interface Alerts {
  stats(): Readonly<Record<string, WebhookStats>>;
  /** Stops everything. The next process with the same store delivers the remaining messages. */
  stop(): Promise<void>;
}

/** Deletes the state of removed webhooks and rules. After a failure the next start retries. */
function forgetOthers({ webhooks, store, logger }: AlertsOptions): void {
  const rules = webhooks.flatMap(({ id, rules: those }) => those.map((rule) => nameOfRule(id, rule)));
  try {
    store.retain(new Set(rules), new Set(webhooks.map(({ id }) => id)));
  } catch (error) {
    const reason = messageOf(error);
    logger.warn(`could not delete the state of removed webhooks and rules: ${reason}`);
  }
}

/** Follows all rules and delivers their alerts. Deletes the state of removed webhooks and rules. */
export function startAlerts(options: AlertsOptions): Alerts {
  const { webhooks, store, clock, logger, log, head, history, turn } = options;
  const start = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  // Changing the clock must not expire a day of messages at once.
  const steadyMs = () => Math.round(start.wallMs + clock.monotonic() - start.monotonicMs);
  const stopping = new AbortController();
  const { signal } = stopping;
  const poll = new LongPoll({ log, head, history, clock, stopping: signal, ...(turn ? { turn } : {}) });
  forgetOthers(options);
  const commits = new GroupCommit(store);
  const senders = new Map<string, WebhookSender>();
  const running: Promise<void>[] = [];
  for (const webhook of webhooks) {
    const { id } = webhook;
    const notify = notifyLog(logger, { webhook: id });
    const sender = new WebhookSender({
      ...options.sender,
      webhook,
      store,
      commits,
      clock,
      steadyMs,
      notify,
    });
    senders.set(id, sender);
    running.push(sender.run(signal));
    for (const rule of webhook.rules) {
      const onAlerts = () => sender.wake();
      const isDisabled = () => sender.isDisabled;
      // One signal per rule: adding a listener costs as much as the signal already has listeners.
      const own = AbortSignal.any([signal]);
      running.push(
        followRule({
          ...{
            webhook: id,
            rule,
            poll,
            head,
            store,
            commits,
            clock,
            steadyMs,
            isDisabled,
            publicUrl: options.publicUrl,
            onAlerts,
            notify,
            signal: own,
          },
        }),
      );
    }
  }
  const statsOf = ([id, sender]: [string, WebhookSender]): [string, WebhookStats] => {
    const { attempts, dropped } = sender;
    try {
      const { count, oldestMadeAtMs } = store.waiting(id);
      const oldestAgeMs = oldestMadeAtMs === undefined ? 0 : Math.max(0, steadyMs() - oldestMadeAtMs);
      return [id, { attempts, dropped, waiting: count, oldestAgeMs, disabled: sender.isDisabled }];
    } catch {
      // The sender reports the failure. It must not hide the other metrics.
      return [id, { attempts, dropped, waiting: Number.NaN, oldestAgeMs: Number.NaN, disabled: false }];
    }
  };
  const stop = async () => {
    stopping.abort(new Error("stopping"));
    await Promise.all(running);
    store.close();
  };
  let stopped: Promise<void> | undefined;
  return {
    stats: () => Object.fromEntries([...senders].map(statsOf)),
    stop: () => (stopped ??= stop()),
  };
}
