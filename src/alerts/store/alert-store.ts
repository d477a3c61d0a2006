import type { Alert } from "../alert.ts";
import type { RuleState } from "../rules/rule-state.ts";

/** Where a rule is in the log, and what it knows there. */
export interface RulePlace {
  readonly cursor: string;
  readonly state: RuleState;
}

/** How many messages of a webhook were dropped undelivered, and of when. */
export interface Expired {
  readonly count: number;
  readonly firstMadeAtMs: number;
  readonly lastMadeAtMs: number;
}

/**
 * What is to be delivered, and up to where the rules have read. Adapters: in memory, and in a SQLite file. A message and the place behind the event that it tells of are
 * kept together or not at all, so that a rule that goes on in another process says nothing twice and leaves nothing out.
 */
export interface AlertStore {
  /** The place that was kept last under this name; `undefined` of a rule that is new. */
  place(rule: string): RulePlace | undefined;
  /** Keeps the place, and appends the messages to their webhook's queue. A message whose id is in the queue already is not appended again. Throws when it cannot be kept; nothing is changed then. */
  commit(rule: string, place: RulePlace, alerts: readonly Alert[]): void;
  /** Does all of this work in one transaction. Throws what the work throws; nothing is changed then. */
  together(work: () => void): void;
  /** The oldest message of the webhook's queue; `undefined` when there is none. */
  first(webhook: string): Alert | undefined;
  /** Takes a message out of its queue. */
  remove(alert: Alert): void;
  /** Drops the webhook's oldest messages: those made before this moment, and those beyond the `most` newest. Adds them to {@link expired}; returns how many. */
  expire(webhook: string, beforeMs: number, most: number): number;
  /** What was dropped and not announced yet; `undefined`: nothing. */
  expired(webhook: string): Expired | undefined;
  /** Keeps this message about what was dropped, until it is acknowledged, and counts from 0 again. */
  announce(notice: Alert): void;
  /** The message that was announced and is not acknowledged yet. */
  notice(webhook: string): Alert | undefined;
  /** The message that was announced is acknowledged. */
  forgetNotice(webhook: string): void;
  /** How many messages wait, and when the oldest was made. */
  waiting(webhook: string): { readonly count: number; readonly oldestMadeAtMs: number | undefined };
  /** What disabled the webhook, as {@link disable} was told; `undefined` while it is not disabled. */
  disabled(webhook: string): string | undefined;
  /** Empties the webhook's queue, and keeps `mark`; `undefined` enables it. */
  disable(webhook: string, mark: string | undefined): void;
  /** Forgets the places and queues of all others. */
  retain(rules: ReadonlySet<string>, webhooks: ReadonlySet<string>): void;
  close(): void;
}
