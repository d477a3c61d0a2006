import type { Alert } from "../alert.ts";
import type { RuleState } from "../rules/rule-state.ts";

export interface RulePosition {
  readonly cursor: string;
  readonly state: RuleState;
}

/** Messages of a target that were dropped undelivered. */
export interface Expired {
  readonly count: number;
  readonly firstMadeAtMs: number;
  readonly lastMadeAtMs: number;
}

/**
 * Undelivered messages and the rules' positions. A message and the position after its event are
 * stored together, so a rule that resumes neither repeats nor skips an alert.
 */
export interface AlertStore {
  /** Returns the rule's stored position; `undefined` for a new rule. */
  position(rule: string): RulePosition | undefined;
  /** Stores the position and queues new messages. Throws on failure, changing nothing. */
  commit(rule: string, position: RulePosition, alerts: readonly Alert[]): void;
  /** Runs `work` in one transaction. If it throws, nothing changes. */
  together(work: () => void): void;
  /** Returns the oldest message of the target's queue, if any. */
  first(target: string): Alert | undefined;
  remove(alert: Alert): void;
  /** Drops messages older than this time or beyond the newest `maxCount`. Returns how many. */
  expire(target: string, beforeMs: number, maxCount: number): number;
  /** Returns the dropped messages that are not announced yet, if any. */
  expired(target: string): Expired | undefined;
  /** Stores a message about dropped ones until it is acknowledged. Resets {@link expired}. */
  announce(notice: Alert): void;
  /** Returns the announced message that is not acknowledged yet, if any. */
  notice(target: string): Alert | undefined;
  /** Deletes the announced message after its acknowledgement. */
  forgetNotice(target: string): void;
  waiting(target: string): { readonly count: number; readonly oldestMadeAtMs: number | undefined };
  /** Returns the mark with which the target was disabled; `undefined` if it is enabled. */
  disabled(target: string): string | undefined;
  /** Empties the target's queue and stores `mark`; `undefined` enables the target. */
  disable(target: string, mark: string | undefined): void;
  /** Deletes the positions of all other rules and the queues of all other targets. */
  retain(rules: ReadonlySet<string>, targets: ReadonlySet<string>): void;
  close(): void;
}
