import { createHash } from "node:crypto";
import type { Notify } from "../../../base/lib/notify.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { waitAtMost } from "../../../base/lib/time/wait-at-most.ts";
import { type Alert, formAlert, isLate } from "../alert.ts";
import type { AlertStore, QueuedAlert } from "../store/alert-store.ts";
import type { GroupCommit } from "../store/group-commit.ts";
import { QUEUE_LIMITS, type QueueLimits, type Target } from "../targets/target.ts";
import { type Outcome, retryDelayMs } from "./delivery-plan.ts";
import { RefusedMessages, START } from "./refused-messages.ts";

export interface SenderOptions {
  readonly target: Target;
  readonly store: AlertStore;
  /** Removes the accepted messages of several targets in one transaction. */
  readonly commits: Pick<GroupCommit, "remove">;
  readonly clock: Clock;
  /** The clock for the age of messages, in milliseconds since 1970 UTC. It never jumps. */
  readonly steadyMs: () => number;
  /** For jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Awaited before each attempt. If it rejects, the attempt fails. Default: nothing. */
  readonly beforeAttempt?: (() => Promise<void>) | undefined;
  readonly notify: Notify;
  /** The sender that this one replaces. Failures of the same receiver count on. Default: none. */
  readonly previous?: AlertSender | undefined;
}

/**
 * How often an idle sender looks for expired messages. Also the pause after a failure of the store.
 */
const IDLE_MS = 60_000;

/** Position of a notice in the queue: before all messages. */
const OF_NOTICE = 0;

/**
 * Delivers one target's messages in order, repeating each until it is accepted or expires. If the
 * receiver refuses one for its content, the others go on: see {@link RefusedMessages}.
 */
export class AlertSender {
  readonly attempts = { delivered: 0, failed: 0, refused: 0, gone: 0 };
  /** Messages that were too old or too many. */
  dropped = 0;
  /** Messages that were dropped because the receiver refuses their content. */
  refused = 0;
  readonly #options: SenderOptions;
  readonly #limits: QueueLimits;
  /** Hash of the target's identity. Another hash means another receiver. */
  readonly #mark: string;
  readonly #refusedMessages = new RefusedMessages();
  #failures = 0;
  /** Messages that were dropped since the first failure. */
  #droppedMeanwhile = 0;
  /** When the oldest message that is set aside may be tried again, by the monotonic clock. */
  #retryAtMs = 0;
  /** New messages do not end the current pause. */
  #isPaused = false;
  /** Removes the last message. Retried until it succeeds: the disk may be full. */
  #removeLast: (() => Promise<void>) | undefined;
  /** Messages arrived since the last look at the queue. */
  #hasNews = false;
  #wake: (() => void) | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#limits = options.target.limits ?? QUEUE_LIMITS;
    this.#mark = createHash("sha256").update(options.target.identity).digest("hex");
    const { previous } = options;
    if (previous && previous.#mark === this.#mark) this.#failures = previous.#failures;
  }

  /** True while the receiver wants no messages. */
  get isDisabled(): boolean {
    const { store, target } = this.#options;
    return store.disabled(target.id) === this.#mark;
  }

  wake(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  /** Delivers until the signal aborts or the target is disabled. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, notify } = this.#options;
    let isBegun = false;
    while (!signal.aborted) {
      try {
        if (!isBegun) this.#begin();
        // A visitor who subscribes again must not cause more attempts.
        if (!isBegun && this.#failures > 0) await this.#rest(this.#pause(undefined), signal);
        isBegun = true;
        if (this.isDisabled) return;
        const delayMs = await this.#step(signal);
        if (delayMs > 0) await this.#rest(delayMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        const reason = messageOf(error);
        notify("warn", `could not read or update the queue: ${reason}`);
        // New messages do not end this pause: the same operation would fail again.
        await clock.sleep(IDLE_MS, signal).catch(() => {});
      }
    }
  }

  /**
   * Enables a target whose identity changed since it was disabled. Reports one that stays disabled.
   */
  #begin(): void {
    const { store, target, notify } = this.#options;
    if (this.isDisabled)
      notify(
        "warn",
        "alerts are disabled: the receiver returned 410 Gone; change its url or secret to enable them",
      );
    else if (store.disabled(target.id) !== undefined) store.disable(target.id, undefined);
  }

  /** Attempts the next message, if any. Returns the wait before the next step, in milliseconds. */
  async #step(signal: AbortSignal): Promise<number> {
    const { clock } = this.#options;
    await this.#finishRemoval();
    this.#expire();
    this.#hasNews = false;
    this.#isPaused = false;
    const next = this.#refusedMessages.next((after) => this.#find(after));
    if (!next) return IDLE_MS;
    const restMs = this.#retryAtMs - clock.monotonic();
    if (next.isAside && restMs > 0) return Math.min(restMs, IDLE_MS);
    const outcome = await this.#attempt(next.queued.alert, signal);
    if (signal.aborted && outcome.kind !== "delivered" && outcome.kind !== "gone") return 0;
    this.attempts[outcome.kind === "moved" ? "failed" : outcome.kind] += 1;
    return this.#conclude(next.queued, outcome, signal);
  }

  /** Acts on the outcome of an attempt. Returns the wait before the next step, in milliseconds. */
  async #conclude(queued: QueuedAlert, outcome: Outcome, signal: AbortSignal): Promise<number> {
    const { store, target, clock, notify } = this.#options;
    const { id, gapMs = 0 } = target;
    switch (outcome.kind) {
      case "delivered":
        this.#refusedMessages.accepted();
        if (this.#failures > 0) notify("info", this.#recovery());
        this.#failures = 0;
        this.#droppedMeanwhile = 0;
        await this.#remove(queued);
        // New messages do not end this pause: the receiver would reject one that comes sooner.
        if (gapMs > 0) await clock.sleep(gapMs, signal);
        return 0;
      case "gone":
        store.disable(id, this.#mark);
        notify("warn", "alerts are disabled: the receiver returned 410 Gone");
        target.onGone?.();
        return 0;
      case "moved":
        store.move(id, this.#mark, outcome.address);
        notify("warn", `the receiver has moved to ${outcome.address}; put this into the alert file`);
        return this.#pause(undefined);
      case "refused":
        return this.#refuse(queued, outcome);
      case "failed":
        this.#refusedMessages.failed();
        this.#noteFailure(outcome.reason);
        return this.#pause(outcome.retryAfterMs);
    }
  }

  async #refuse(queued: QueuedAlert, outcome: Extract<Outcome, { reason: string }>): Promise<number> {
    const { clock, notify } = this.#options;
    const { reason, retryAfterMs } = outcome;
    const facts = factsOf(queued.alert);
    const next = this.#refusedMessages.refused(queued);
    if (next === "dropped") {
      this.refused += 1;
      notify("warn", `dropped a message that the receiver refuses: ${reason}`, facts);
      await this.#remove(queued);
      // The receiver has just accepted another message.
      return this.#pause(retryAfterMs, 1);
    }
    this.#noteFailure(reason);
    const pauseMs = this.#pause(retryAfterMs);
    if (next === "retried") return pauseMs;
    const { count } = this.#refusedMessages;
    if (next === "set aside" && count === 1)
      notify("warn", `set aside a message that the receiver refuses: ${reason}; trying the next`, facts);
    this.#retryAtMs = clock.monotonic() + pauseMs;
    // Shorter than that, because the trouble is the message and not the receiver.
    return this.#pause(retryAfterMs, count);
  }

  #noteFailure(reason: string): void {
    this.#failures += 1;
    if (this.#failures === 1) this.#options.notify("warn", `could not deliver: ${reason}; retrying`);
  }

  /** Returns the pause after consecutive failures, which new messages do not end. */
  #pause(retryAfterMs: number | undefined, failures = Math.max(this.#failures, 1)): number {
    this.#isPaused = true;
    return retryDelayMs(failures, retryAfterMs, this.#options.random ?? Math.random);
  }

  #recovery(): string {
    const dropped = this.#droppedMeanwhile > 0 ? `; dropped messages: ${this.#droppedMeanwhile}` : "";
    return `the receiver accepts messages again; failed attempts: ${this.#failures}${dropped}`;
  }

  /** Drops messages that are too old or too many. Reports only the first of a row of failures. */
  #expire(): void {
    const { store, target, steadyMs, notify } = this.#options;
    const expired = store.expire(target.id, steadyMs() - this.#limits.maxAgeMs, this.#limits.maxCount);
    if (expired === 0) return;
    this.dropped += expired;
    if (this.#droppedMeanwhile === 0)
      notify("warn", `dropped ${expired} undelivered messages: too old, or too many in the queue`);
    this.#droppedMeanwhile += expired;
  }

  #find(after: number): QueuedAlert | undefined {
    const { store, target } = this.#options;
    const notice = after === START ? this.#expiredNotice() : undefined;
    return notice ? { at: OF_NOTICE, alert: notice } : store.next(target.id, Math.max(after, OF_NOTICE));
  }

  #remove({ at, alert }: QueuedAlert): Promise<void> {
    const { store, commits, target } = this.#options;
    this.#removeLast =
      at === OF_NOTICE ? async () => store.forgetNotice(target.id) : () => commits.remove(alert);
    return this.#finishRemoval();
  }

  async #finishRemoval(): Promise<void> {
    await this.#removeLast?.();
    this.#removeLast = undefined;
  }

  async #attempt(alert: Alert, signal: AbortSignal): Promise<Outcome> {
    const { store, target, steadyMs, beforeAttempt } = this.#options;
    try {
      await beforeAttempt?.();
      const nowMs = steadyMs();
      const lateAtMs = isLate(alert, nowMs) ? nowMs : undefined;
      return await target.deliver(alert, signal, {
        lateAtMs,
        movedTo: store.movedTo(target.id, this.#mark),
      });
    } catch (error) {
      return { kind: "failed", reason: messageOf(error), retryAfterMs: undefined };
    }
  }

  /**
   * Returns the notice about dropped messages, if one is due: the same notice until the receiver
   * accepts it.
   */
  #expiredNotice(): Alert | undefined {
    const { store, target, steadyMs } = this.#options;
    if (target.announcesExpired === false) return undefined;
    const announced = store.notice(target.id);
    if (announced) return announced;
    const expired = store.expired(target.id);
    if (!expired) return undefined;
    const { count, firstMadeAtMs, lastMadeAtMs } = expired;
    const [first, last] = [firstMadeAtMs, lastMadeAtMs].map((atMs) => new Date(atMs).toISOString());
    const content = { type: "alerts-expired", key: `${count} ${first}`, data: { count, first, last } };
    const notice = formAlert(target.id, "", content, steadyMs());
    store.announce(notice);
    return notice;
  }

  /** Waits. A new message ends the wait, except a pause. */
  async #rest(delayMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#isPaused && this.#hasNews) return;
    const news = new Promise<void>((resolve) => {
      if (!this.#isPaused) this.#wake = resolve;
    });
    await waitAtMost(news, delayMs, this.#options.clock, signal).catch(() => {});
    this.#wake = undefined;
  }
}

/** What names a message in the log. */
function factsOf({ id, body }: Alert): Readonly<Record<string, unknown>> {
  const { type, data } = JSON.parse(body) as {
    readonly type: string;
    readonly data: { readonly rule: string };
  };
  return { alert: id, type, rule: data.rule };
}
