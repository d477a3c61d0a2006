import type { Logger } from "pino";
import { type Head, type Hub, LongPoll } from "../hub/index.ts";
import { notifyLog } from "../lib/notify.ts";
import { messageOf } from "../lib/text/message-of.ts";
import type { Clock } from "../lib/time/clock.ts";
import { waitAtMost } from "../lib/time/wait-at-most.ts";
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
  /** Receivers besides the webhooks. They are in no metrics. Default: none. */
  readonly others?: readonly Receiver[];
}

/** A receiver of alerts, with its own way of delivery. */
export interface Receiver {
  readonly webhook: Webhook;
  readonly delivery: Pick<SenderOptions, "limits" | "deliver" | "onGone">;
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

/** Alerts whose receivers may change. */
export interface RunningAlerts extends Alerts {
  /**
   * Adds a receiver, or replaces the one with its id. Rules of the same name resume. Resolves when
   * no later event will be missed, or after some seconds without data.
   */
  replace(receiver: Receiver): Promise<void>;
  /** Stops the delivery to a receiver and deletes its messages. */
  remove(id: string): Promise<void>;
}

/** Longest wait for the first data, when a receiver is added. */
const FOLLOWING_MS = 5_000;

/** A receiver to which alerts are delivered. */
interface Running {
  readonly webhook: Webhook;
  readonly sender: WebhookSender;
  /** Resolves when all rules follow the log. */
  readonly following: Promise<unknown>;
  /** Resolves when nothing of it is running. */
  stop(): Promise<void>;
}

/** Follows all rules and delivers their alerts. Deletes the state of removed webhooks and rules. */
export function startAlerts(options: AlertsOptions): RunningAlerts {
  const { webhooks, others = [], store, clock, log, head, history, turn } = options;
  const start = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  // Changing the clock must not expire a day of messages at once.
  const steadyMs = () => Math.round(start.wallMs + clock.monotonic() - start.monotonicMs);
  const stopping = new AbortController();
  const { signal } = stopping;
  const poll = new LongPoll({ log, head, history, clock, stopping: signal, ...(turn ? { turn } : {}) });
  const commits = new GroupCommit(store);
  const shared = { ...options, poll, commits, steadyMs, stopping: signal };
  const running = new Map<string, Running>();
  const begin = (webhook: Webhook, delivery: Partial<Receiver["delivery"]>) => {
    const one = startReceiver(webhook, delivery, shared);
    running.set(webhook.id, one);
    return one;
  };
  forgetOthers(options, [...webhooks, ...others.map(({ webhook }) => webhook)]);
  for (const webhook of webhooks) begin(webhook, {});
  for (const { webhook, delivery } of others) begin(webhook, delivery);
  const statsOf = ({ id }: Webhook): readonly [string, WebhookStats][] => {
    const { sender } = running.get(id) ?? {};
    return sender ? [[id, readStats(id, sender, store, steadyMs())]] : [];
  };
  const forgetStopped = () =>
    forgetOthers(
      options,
      [...running.values()].map(({ webhook }) => webhook),
    );
  const stop = async () => {
    stopping.abort(new Error("stopping"));
    await Promise.all([...running.values()].map((one) => one.stop()));
    store.close();
  };
  let stopped: Promise<void> | undefined;
  return {
    stats: () => Object.fromEntries(webhooks.flatMap(statsOf)),
    replace: async ({ webhook, delivery }) => {
      await running.get(webhook.id)?.stop();
      if (signal.aborted) return;
      const { following } = begin(webhook, delivery);
      forgetStopped();
      await waitAtMost(following, FOLLOWING_MS, clock, signal).catch(() => {});
    },
    remove: async (id) => {
      const one = running.get(id);
      running.delete(id);
      await one?.stop();
      if (one && !signal.aborted) forgetStopped();
    },
    stop: () => (stopped ??= stop()),
  };
}

interface ReceiverParts extends AlertsOptions {
  readonly poll: LongPoll;
  readonly commits: GroupCommit;
  readonly steadyMs: () => number;
  readonly stopping: AbortSignal;
}

/** Follows the rules of one receiver, and delivers to it. */
function startReceiver(
  webhook: Webhook,
  delivery: Partial<Receiver["delivery"]>,
  { stopping, poll, head, store, commits, clock, steadyMs, logger, publicUrl, sender: more }: ReceiverParts,
): Running {
  const { id } = webhook;
  const over = new AbortController();
  const signal = AbortSignal.any([stopping, over.signal]);
  const notify = notifyLog(logger, { webhook: id });
  const sender = new WebhookSender({
    ...more,
    ...delivery,
    webhook,
    store,
    commits,
    clock,
    steadyMs,
    notify,
  });
  const shared = { webhook: id, poll, head, store, commits, clock, steadyMs, publicUrl, notify };
  const onAlerts = () => sender.wake();
  const isDisabled = () => sender.isDisabled;
  const follow = (rule: Webhook["rules"][number]) => {
    const { promise: following, resolve: onFollowing } = Promise.withResolvers<void>();
    // One signal per rule: adding a listener costs as much as the signal already has listeners.
    const own = AbortSignal.any([signal]);
    return {
      following,
      done: followRule({ ...shared, rule, isDisabled, onAlerts, onFollowing, signal: own }),
    };
  };
  const rules = webhook.rules.map(follow);
  const done = Promise.all([sender.run(signal), ...rules.map((rule) => rule.done)]);
  const following = Promise.all(rules.map((rule) => rule.following));
  const stop = async () => {
    over.abort(new Error("stopping"));
    await done;
  };
  return { webhook, sender, following, stop };
}

/** Deletes the state of all but these receivers. After a failure the next start retries. */
function forgetOthers({ store, logger }: AlertsOptions, receivers: readonly Webhook[]): void {
  const rules = receivers.flatMap(({ id, rules: those }) => those.map((rule) => nameOfRule(id, rule)));
  try {
    store.retain(new Set(rules), new Set(receivers.map(({ id }) => id)));
  } catch (error) {
    const reason = messageOf(error);
    logger.warn(`could not delete the state of removed webhooks and rules: ${reason}`);
  }
}

function readStats(id: string, sender: WebhookSender, store: AlertStore, nowMs: number): WebhookStats {
  const { attempts, dropped } = sender;
  try {
    const { count, oldestMadeAtMs } = store.waiting(id);
    const oldestAgeMs = oldestMadeAtMs === undefined ? 0 : Math.max(0, nowMs - oldestMadeAtMs);
    return { attempts, dropped, waiting: count, oldestAgeMs, disabled: sender.isDisabled };
  } catch {
    // The sender reports the failure. It must not hide the other metrics.
    return { attempts, dropped, waiting: Number.NaN, oldestAgeMs: Number.NaN, disabled: false };
  }
}
