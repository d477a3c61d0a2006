import type { Logger } from "pino";
import { type Head, type Hub, LongPoll } from "../hub/index.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { EventLog } from "../log/index.ts";
import type { Webhook } from "./rules/alert-file.ts";
import { followRule, nameOfRule } from "./rules/rule-follower.ts";
import type { AlertStore } from "./store/alert-store.ts";
import { GroupCommit } from "./store/group-commit.ts";
import { type SenderOptions, WebhookSender } from "./webhooks/webhook-sender.ts";

/** What alerts are made of. */
export interface AlertsOptions {
  readonly webhooks: readonly Webhook[];
  readonly log: EventLog;
  readonly head: Head;
  readonly history: Hub["history"];
  /** Shares the event loop with what clients ask for. */
  readonly turn?: Hub["turn"];
  /** Closed by {@link Alerts.stop}. */
  readonly store: AlertStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** See SenderOptions. */
  readonly sender?: Partial<Pick<SenderOptions, "limits" | "random" | "post">>;
}

/** How a webhook fares. */
export interface WebhookStats {
  readonly attempts: Readonly<Record<string, number>>;
  readonly dropped: number;
  /** Messages; NaN where the store cannot be read. */
  readonly waiting: number;
  /** Age of the oldest message that waits, in milliseconds; 0 without one; NaN likewise. */
  readonly oldestAgeMs: number;
  readonly disabled: boolean;
}

/** Rules that are followed, and webhooks that are told. */
export interface Alerts {
  /** By webhook's id. */
  stats(): Readonly<Record<string, WebhookStats>>;
  /** Ends what is under way; what waits goes on with the next process that has the same store. */
  stop(): Promise<void>;
}

/** What belongs to no webhook and rule of today. Where it cannot be forgotten, as on a full disk, the next start does it. */
function forgetOthers({ webhooks, store, logger }: AlertsOptions): void {
  const rules = webhooks.flatMap(({ id, rules: those }) => those.map((rule) => nameOfRule(id, rule)));
  try {
    store.retain(new Set(rules), new Set(webhooks.map(({ id }) => id)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn(`what is kept of other webhooks and rules cannot be forgotten now: ${reason}`);
  }
}

/** Follows all rules, and delivers what they tell. What belongs to no webhook and rule of today is forgotten. */
export function startAlerts(options: AlertsOptions): Alerts {
  const { webhooks, store, clock, logger, log, head, history, turn } = options;
  const began = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  // A clock that is set must not make a day of messages too old at once.
  const steadyMs = () => Math.round(began.wallMs + clock.monotonic() - began.monotonicMs);
  const stopping = new AbortController();
  const { signal } = stopping;
  const poll = new LongPoll({ log, head, history, clock, stopping: signal, ...(turn ? { turn } : {}) });
  forgetOthers(options);
  const commits = new GroupCommit(store);
  const senders = new Map<string, WebhookSender>();
  const running: Promise<void>[] = [];
  for (const webhook of webhooks) {
    const { id } = webhook;
    const onNotice = (sentence: string, isTrouble: boolean) =>
      isTrouble ? logger.warn({ webhook: id }, sentence) : logger.info({ webhook: id }, sentence);
    const sender = new WebhookSender({
      ...options.sender,
      webhook,
      store,
      commits,
      clock,
      steadyMs,
      onNotice,
    });
    senders.set(id, sender);
    running.push(sender.run(signal));
    for (const rule of webhook.rules) {
      const onAlerts = () => sender.wake();
      const isDisabled = () => sender.isDisabled;
      // Each waits on a signal of its own: to listen to one costs as much as it has listeners, and ten thousand rules would pay for each other.
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
            onAlerts,
            onNotice,
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
      // The sender tells of it. What cannot be read now is not known, and holds up no other number.
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
