import type { Notify } from "../../../base/lib/notify.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import type { Head, LongPoll } from "../../../gateway/hub/index.ts";
import type { Alert } from "../alert.ts";
import type { Outcome } from "../delivery/delivery-plan.ts";
import type { AlertRule } from "../rules/alert-rule.ts";

/**
 * One way to deliver alerts: a webhook, a chat, a broker, a browser. The rules, the queue of
 * undelivered messages and the retries are the same for all.
 */
export interface Target {
  /** Names the target in the log, in metrics and in the store. Unique. */
  readonly id: string;
  readonly rules: readonly AlertRule[];
  /**
   * Identifies the receiver, including its secrets. Only a hash of it is stored. When it changes, a
   * disabled target is enabled again.
   */
  readonly identity: string;
  /** Default: {@link QUEUE_LIMITS}. */
  readonly limits?: QueueLimits;
  /** Minimum time between an accepted message and the next one, in milliseconds. Default: 0. */
  readonly gapMs?: number;
  /** False: dropped messages are not announced to the receiver. Default: true. */
  readonly announcesExpired?: boolean;
  /**
   * Sends a message once, and resolves when it is accepted or has failed. A rejection counts as a
   * failure.
   */
  deliver(alert: Alert, signal: AbortSignal, attempt?: Attempt): Promise<Outcome>;
  /** Called when the receiver wants no more messages. */
  onGone?(): void;
  /** Runs in parallel with the deliveries until the signal aborts, then releases everything. */
  run?(context: TargetContext, signal: AbortSignal): Promise<void>;
}

/** What an attempt has to know besides the message. */
export interface Attempt {
  /**
   * Set if the message is late: when it is sent, in milliseconds since 1970 UTC. The message then
   * says when it happened.
   */
  readonly lateAtMs?: number | undefined;
  /** Where the receiver has moved to, as it said in an earlier outcome. Default: nowhere. */
  readonly movedTo?: string | undefined;
}

/** What a target and its rules may read besides its messages. */
export interface TargetContext {
  /** Reads the log by cursor, as for every client. */
  readonly poll: Pick<LongPoll, "take">;
  readonly head: Pick<Head, "ready">;
  readonly clock: Clock;
  readonly notify: Notify;
}

/** Messages beyond these are dropped. */
export interface QueueLimits {
  readonly maxAgeMs: number;
  readonly maxCount: number;
}

/** 24 hours, and 10,000 messages. */
export const QUEUE_LIMITS: QueueLimits = { maxAgeMs: 86_400_000, maxCount: 10_000 };

/** Timeout of an attempt: the minimum that Standard Webhooks recommends. */
export const ATTEMPT_TIMEOUT_MS = 15_000;
