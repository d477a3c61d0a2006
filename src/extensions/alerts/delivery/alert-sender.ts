import { createHash } from "node:crypto";
import type { Notify } from "../../../base/lib/notify.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { waitAtMost } from "../../../base/lib/time/wait-at-most.ts";
import { type Alert, formAlert } from "../alert.ts";
import type { AlertStore } from "../store/alert-store.ts";
import type { GroupCommit } from "../store/group-commit.ts";
import { QUEUE_LIMITS, type QueueLimits, type Target } from "../targets/target.ts";
import { type Outcome, retryDelayMs } from "./delivery-plan.ts";

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
}

/**
 * How often an idle sender looks for expired messages. Also the pause after a failure of the store.
 */
const IDLE_MS = 60_000;

/** Delivers one target's messages in order, repeating each until it is accepted or expires. */
export class AlertSender {
  readonly attempts: Record<Outcome["kind"], number> = { delivered: 0, failed: 0, gone: 0 };
  dropped = 0;
  readonly #options: SenderOptions;
  readonly #limits: QueueLimits;
  /** Hash of the target's identity. Another hash means another receiver. */
  readonly #mark: string;
  #failures = 0;
  /** Removes the last accepted message. Retried until it succeeds: the disk may be full. */
  #removeAccepted: (() => Promise<void>) | undefined;
  /** Messages arrived since the last look at the queue. */
  #hasNews = false;
  #wake: (() => void) | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#limits = options.target.limits ?? QUEUE_LIMITS;
    this.#mark = createHash("sha256").update(options.target.identity).digest("hex");
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
    const { store, target, clock, steadyMs, notify } = this.#options;
    const { id, gapMs = 0 } = target;
    await this.#finishRemoval();
    const expired = store.expire(id, steadyMs() - this.#limits.maxAgeMs, this.#limits.maxCount);
    if (expired > 0) {
      this.dropped += expired;
      notify("warn", `dropped ${expired} undelivered messages: too old, or too many in the queue`);
    }
    this.#hasNews = false;
    const notice = this.#expiredNotice();
    const alert = notice ?? store.first(id);
    if (!alert) return IDLE_MS;
    const outcome = await this.#attempt(alert, signal);
    if (signal.aborted && outcome.kind === "failed") return 0;
    this.attempts[outcome.kind] += 1;
    switch (outcome.kind) {
      case "delivered":
        this.#removeAccepted = notice
          ? async () => store.forgetNotice(id)
          : () => this.#options.commits.remove(alert);
        if (this.#failures > 0)
          notify("info", `the receiver accepts messages again; failed attempts: ${this.#failures}`);
        this.#failures = 0;
        await this.#finishRemoval();
        // New messages do not end this pause: the receiver would reject one that comes sooner.
        if (gapMs > 0) await clock.sleep(gapMs, signal);
        return 0;
      case "gone":
        store.disable(id, this.#mark);
        notify("warn", "alerts are disabled: the receiver returned 410 Gone");
        target.onGone?.();
        return 0;
      case "failed":
        this.#failures += 1;
        if (this.#failures === 1) notify("warn", `could not deliver: ${outcome.reason}; retrying`);
        return retryDelayMs(this.#failures, outcome.retryAfterMs, this.#options.random ?? Math.random);
    }
  }

  async #finishRemoval(): Promise<void> {
    await this.#removeAccepted?.();
    this.#removeAccepted = undefined;
  }

  async #attempt(alert: Alert, signal: AbortSignal): Promise<Outcome> {
    try {
      await this.#options.beforeAttempt?.();
      return await this.#options.target.deliver(alert, signal);
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

  /** Waits. While there is no failure, a new message ends the wait. */
  async #rest(delayMs: number, signal: AbortSignal): Promise<void> {
    if (this.#failures === 0 && this.#hasNews) return;
    const news = new Promise<void>((resolve) => {
      if (this.#failures === 0) this.#wake = resolve;
    });
    await waitAtMost(news, delayMs, this.#options.clock, signal).catch(() => {});
    this.#wake = undefined;
  }
}
