import type { Logger } from "pino";
import { notifyLog } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";
import { type Head, type Hub, LongPoll } from "../../gateway/hub/index.ts";
import type { EventLog } from "../../gateway/log/index.ts";
import { AlertSender, type SenderOptions } from "./delivery/alert-sender.ts";
import { followRule, nameOfRule } from "./rules/rule-follower.ts";
import type { AlertStore } from "./store/alert-store.ts";
import { GroupCommit } from "./store/group-commit.ts";
import type { Target } from "./targets/target.ts";

export interface AlertsOptions {
  readonly targets: readonly Target[];
  readonly log: EventLog;
  readonly head: Head;
  readonly history: Hub["history"];
  /** Shares the event loop with clients' requests. */
  readonly turn?: Hub["turn"];
  readonly store: AlertStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Public URL of this server, for links. Default: alerts have no links. */
  readonly publicUrl?: string | undefined;
  readonly beforeAttempt?: SenderOptions["beforeAttempt"];
  /**
   * Targets of visitors, who can add more. Metrics combine them as {@link OTHERS}. Default: none,
   * and no such entry in the metrics.
   */
  readonly others?: readonly Target[] | undefined;
}

export interface TargetStats {
  readonly attempts: Readonly<Record<string, number>>;
  readonly dropped: number;
  /** Messages that were dropped because the receiver refuses their content. */
  readonly refused: number;
  /** Messages in the queue; NaN if the store cannot be read. */
  readonly waiting: number;
  /** Age of the oldest queued message in ms; 0 if none, NaN if the store is unreadable. */
  readonly oldestAgeMs: number;
  readonly disabled: boolean;
}

export interface Alerts {
  stats(): Readonly<Record<string, TargetStats>>;
  /**
   * Stops everything and closes the store. The next process with the same store delivers the
   * remaining messages.
   */
  stop(): Promise<void>;
}

/** Alerts whose targets may change. */
export interface RunningAlerts extends Alerts {
  /**
   * Adds a target, or replaces the one with its id. Its rules resume, except new ones and edge
   * rules that changed. Resolves when they will miss no later event, or after {@link FOLLOWING_MS}.
   */
  replace(target: Target): Promise<void>;
  /** Stops a target, and deletes its messages and its rules' positions. */
  remove(id: string): Promise<void>;
}

/** The metrics' entry for all targets of visitors. The other is for a file with a target `push`. */
const OTHERS = { usual: "push", besidesPush: "push/browsers" } as const;
const NO_STATS: TargetStats = {
  attempts: { delivered: 0, failed: 0, refused: 0, gone: 0 },
  dropped: 0,
  refused: 0,
  waiting: 0,
  oldestAgeMs: 0,
  disabled: false,
};

/** How long adding a target waits until its rules follow the log. */
const FOLLOWING_MS = 5_000;

/** Follows all rules and delivers their alerts. Deletes the state of removed targets and rules. */
export function startAlerts(options: AlertsOptions): RunningAlerts {
  const { targets, others = [], store, clock, log, head, history, turn } = options;
  const start = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  // A change of the system clock must not expire a day of messages at once.
  const steadyMs = () => Math.round(start.wallMs + clock.monotonic() - start.monotonicMs);
  const stopping = new AbortController();
  const { signal } = stopping;
  const poll = new LongPoll({ log, head, history, clock, stopping: signal, ...(turn ? { turn } : {}) });
  const commits = new GroupCommit(store);
  const shared = { ...options, poll, commits, steadyMs, stopping: signal };
  const running = new Map<string, Running>();
  const named = new Set(targets.map(({ id }) => id));
  /** The counts of visitors' targets that were removed or replaced, so that totals never fall. */
  let past = NO_STATS;
  const addToPast = (one: Running | undefined) => {
    if (!one || named.has(one.target.id)) return;
    const { attempts, dropped, refused } = one.sender;
    past = sumOf(past, { ...NO_STATS, attempts, dropped, refused });
  };
  const begin = (target: Target) => {
    const previous = running.get(target.id);
    addToPast(previous);
    const one = startTarget(target, shared, previous?.sender);
    running.set(target.id, one);
    return one;
  };
  const all = [...targets, ...others];
  forgetOthers(options, all);
  for (const target of all) begin(target);
  const forgetStopped = () =>
    forgetOthers(
      options,
      Array.from(running.values(), ({ target }) => target),
    );
  const stop = async () => {
    stopping.abort(new Error("stopping"));
    await Promise.all([...running.values()].map((one) => one.stop()));
    store.close();
  };
  let stopped: Promise<void> | undefined;
  return {
    stats: () => {
      const nowMs = steadyMs();
      const each = Array.from(
        running,
        ([id, { sender }]) => [id, readStats(id, sender, store, nowMs)] as const,
      );
      const own = each.filter(([id]) => named.has(id));
      const visitors = each.filter(([id]) => !named.has(id)).map(([, stats]) => stats);
      return {
        ...(options.others && {
          [named.has(OTHERS.usual) ? OTHERS.besidesPush : OTHERS.usual]: visitors.reduce(sumOf, past),
        }),
        ...Object.fromEntries(own),
      };
    },
    replace: async (target) => {
      await running.get(target.id)?.stop();
      if (signal.aborted) return;
      const { following } = begin(target);
      forgetStopped();
      await waitAtMost(following, FOLLOWING_MS, clock, signal).catch(() => {});
    },
    remove: async (id) => {
      const one = running.get(id);
      running.delete(id);
      await one?.stop();
      addToPast(one);
      if (one && !signal.aborted) forgetStopped();
    },
    stop: () => (stopped ??= stop()),
  };
}

interface DeliveryDependencies extends AlertsOptions {
  readonly poll: LongPoll;
  readonly commits: GroupCommit;
  readonly steadyMs: () => number;
  readonly stopping: AbortSignal;
}

/** Follows the rules of one target, and delivers to it. */
function startTarget(target: Target, dependencies: DeliveryDependencies, previous?: AlertSender) {
  const { stopping, poll, head, store, commits, clock, steadyMs, logger, publicUrl, beforeAttempt } =
    dependencies;
  const { id } = target;
  const over = new AbortController();
  const signal = AbortSignal.any([stopping, over.signal]);
  const notify = notifyLog(logger, { target: id });
  const own = { target, store, commits, clock, steadyMs, beforeAttempt, notify, previous };
  const sender = new AlertSender(own);
  const shared = { target: id, poll, head, store, commits, clock, steadyMs, publicUrl, notify };
  const onAlerts = () => sender.wake();
  const isDisabled = () => sender.isDisabled;
  const follow = (rule: Target["rules"][number]) => {
    const { promise: following, resolve: onFollowing } = Promise.withResolvers<void>();
    // One signal per rule: the more listeners a signal has, the more it costs to add one.
    const own = AbortSignal.any([signal]);
    return {
      following,
      done: followRule({ ...shared, rule, isDisabled, onAlerts, onFollowing, signal: own }),
    };
  };
  const rules = target.rules.map(follow);
  const ownWork = target.run?.({ poll, head, clock, notify }, AbortSignal.any([signal]));
  const done = Promise.all([sender.run(signal), ownWork, ...rules.map((rule) => rule.done)]);
  const stop = async () => {
    over.abort(new Error("stopping"));
    await done;
  };
  return {
    target,
    sender,
    /** Resolves when all rules follow the log. */
    following: Promise.all(rules.map((rule) => rule.following)),
    /** Stops its deliveries and rules. Resolves when they have stopped. */
    stop,
  };
}

/** A target to which alerts are delivered. */
type Running = ReturnType<typeof startTarget>;

/**
 * Deletes the state of all but these targets and their rules. Only logs a failure: the next call
 * retries.
 */
function forgetOthers({ store, logger }: AlertsOptions, targets: readonly Target[]): void {
  const rules = targets.flatMap(({ id, rules: those }) => those.map((rule) => nameOfRule(id, rule)));
  try {
    store.retain(new Set(rules), new Set(targets.map(({ id }) => id)));
  } catch (error) {
    const reason = messageOf(error);
    logger.warn(`could not delete the state of removed targets and rules: ${reason}`);
  }
}

/** Combines the statistics of two targets: sums, and the greater age. */
function sumOf(a: TargetStats, b: TargetStats): TargetStats {
  const attempts = Object.entries(a.attempts).map(([name, count]) => [name, count + (b.attempts[name] ?? 0)]);
  return {
    attempts: Object.fromEntries(attempts),
    dropped: a.dropped + b.dropped,
    refused: a.refused + b.refused,
    waiting: a.waiting + b.waiting,
    oldestAgeMs: Math.max(a.oldestAgeMs, b.oldestAgeMs),
    disabled: false,
  };
}

function readStats(id: string, sender: AlertSender, store: AlertStore, nowMs: number): TargetStats {
  const { attempts, dropped, refused } = sender;
  try {
    const { count, oldestMadeAtMs } = store.waiting(id);
    const oldestAgeMs = oldestMadeAtMs === undefined ? 0 : Math.max(0, nowMs - oldestMadeAtMs);
    return { attempts, dropped, refused, waiting: count, oldestAgeMs, disabled: sender.isDisabled };
  } catch {
    // The sender reports the failure, which must not hide the other metrics.
    return { attempts, dropped, refused, waiting: Number.NaN, oldestAgeMs: Number.NaN, disabled: false };
  }
}
