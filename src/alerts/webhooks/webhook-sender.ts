import { createHash } from "node:crypto";
import type { Clock } from "../../lib/time/clock.ts";
import { type Alert, formAlert } from "../alert.ts";
import { secretBytes, type Webhook } from "../rules/alert-file.ts";
import type { AlertStore } from "../store/alert-store.ts";
import type { GroupCommit } from "../store/group-commit.ts";
import { judgeAnswer, type Outcome, retryDelayMs } from "./delivery-plan.ts";
import { postWebhook, type WebhookAnswer, type WebhookPost } from "./post-webhook.ts";
import { signWebhook } from "./webhook-signature.ts";

/** How long messages are kept for a receiver that takes none, how many, and how long an attempt may take. */
export interface SenderLimits {
  readonly keptMs: number;
  readonly mostKept: number;
  readonly timeoutMs: number;
}

/** 24 hours, as starts and finishes are kept in the log; 10,000 messages; 15 seconds, the least that Standard Webhooks asks for. */
export const DEFAULT_SENDER_LIMITS: SenderLimits = {
  keptMs: 86_400_000,
  mostKept: 10_000,
  timeoutMs: 15_000,
};

/** What a sender is made of. */
export interface SenderOptions {
  readonly webhook: Webhook;
  readonly store: AlertStore;
  /** Takes messages out of the store, those of all webhooks together. */
  readonly commits: Pick<GroupCommit, "remove">;
  readonly clock: Clock;
  /** The time by which messages age, in milliseconds since 1970 UTC: does not jump. */
  readonly steadyMs: () => number;
  readonly limits?: SenderLimits;
  /** For the jitter; default Math.random. */
  readonly random?: () => number;
  /** Default: a real request. */
  readonly post?: (post: WebhookPost) => Promise<WebhookAnswer>;
  /** Told in a sentence what an operator has to know. */
  readonly onNotice: (sentence: string, isTrouble: boolean) => void;
}

/** How often a sender that has nothing to do looks for what is too old. */
const IDLE_MS = 60_000;

/**
 * Delivers the messages of one webhook, in order, one at a time, each again until it is taken or too old. So a receiver sees a start before its finish; and one that is
 * down, slow, or says no holds up nobody but itself.
 */
export class WebhookSender {
  /** Attempts so far, by what came of them. */
  readonly attempts: Record<Outcome["kind"], number> = { delivered: 0, failed: 0, gone: 0 };
  /** Messages that were dropped because they were too old or too many. */
  dropped = 0;
  readonly #options: SenderOptions;
  readonly #limits: SenderLimits;
  /** What the webhook was disabled as; one that was changed since is another receiver. */
  readonly #mark: string;
  #failures = 0;
  /** Keeps that the last message was taken, until that is kept: on a full disk it is not sent again each time. */
  #settle: (() => Promise<void>) | undefined;
  /** Something came into the queue since it was looked at. */
  #hasNews = false;
  #wake: (() => void) | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_SENDER_LIMITS;
    const { url, secret } = options.webhook;
    this.#mark = createHash("sha256").update(`${url} ${secret}`).digest("hex");
  }

  /** True while the receiver wants nothing: its messages need not be made. */
  get isDisabled(): boolean {
    const { store, webhook } = this.#options;
    return store.disabled(webhook.id) === this.#mark;
  }

  /** There is something new in the queue. */
  wake(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  /** Delivers until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onNotice } = this.#options;
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
        const reason = error instanceof Error ? error.message : String(error);
        onNotice(`what waits for the webhook cannot be read or kept: ${reason}`, true);
        // Whatever is new: what failed now fails again.
        await clock.sleep(IDLE_MS, signal).catch(() => {});
      }
    }
  }

  /** What disabled another address or secret does not disable this one. */
  #begin(): void {
    const { store, webhook, onNotice } = this.#options;
    if (this.isDisabled)
      onNotice(
        "the webhook is disabled: its receiver said 410 Gone; give it another url or secret to enable it",
        true,
      );
    else if (store.disabled(webhook.id) !== undefined) store.disable(webhook.id, undefined);
  }

  /** Sends the next message, if there is one; returns for how long to wait then. */
  async #step(signal: AbortSignal): Promise<number> {
    const { store, webhook, steadyMs, onNotice } = this.#options;
    const { id } = webhook;
    await this.#settled();
    const tooOld = store.expire(id, steadyMs() - this.#limits.keptMs, this.#limits.mostKept);
    if (tooOld > 0) {
      this.dropped += tooOld;
      onNotice(`${tooOld} messages were dropped: the webhook took none for too long`, true);
    }
    this.#hasNews = false;
    const notice = this.#expiredNotice();
    const alert = notice ?? store.first(id);
    if (!alert) return IDLE_MS;
    const outcome = judgeAnswer(await this.#post(alert, signal));
    if (signal.aborted && outcome.kind === "failed") return 0;
    this.attempts[outcome.kind] += 1;
    switch (outcome.kind) {
      case "delivered":
        this.#settle = notice
          ? async () => store.forgetNotice(id)
          : () => this.#options.commits.remove(alert);
        if (this.#failures > 0)
          onNotice(`the webhook takes messages again; failed attempts: ${this.#failures}`, false);
        this.#failures = 0;
        await this.#settled();
        return 0;
      case "gone":
        store.disable(id, this.#mark);
        onNotice("the webhook is disabled: its receiver said 410 Gone", true);
        return 0;
      case "failed":
        this.#failures += 1;
        if (this.#failures === 1)
          onNotice(
            `the webhook does not take a message: ${outcome.reason}; it is sent again until it does`,
            true,
          );
        return retryDelayMs(this.#failures, outcome.retryAfterMs, this.#options.random ?? Math.random);
    }
  }

  async #settled(): Promise<void> {
    await this.#settle?.();
    this.#settle = undefined;
  }

  #post(alert: Alert, signal: AbortSignal): Promise<WebhookAnswer> {
    const { webhook, clock, post = postWebhook } = this.#options;
    return post({
      url: webhook.url,
      headers: {
        "content-type": "application/json",
        "user-agent": "flarewire",
        // What is signed is when it is sent: receivers refuse what is old, and the message says itself when it was made.
        ...signWebhook(secretBytes(webhook.secret), alert, clock.now()),
      },
      body: alert.body,
      allowPrivateAddresses: webhook.allow_private_addresses,
      timeoutMs: this.#limits.timeoutMs,
      signal,
    });
  }

  /**
   * Says how much was dropped, before what comes behind it: no hole is silent. It stays the same message until it is acknowledged, as the
   * receiver may have it already; what is dropped meanwhile is another message.
   */
  #expiredNotice(): Alert | undefined {
    const { store, webhook, steadyMs } = this.#options;
    const announced = store.notice(webhook.id);
    if (announced) return announced;
    const expired = store.expired(webhook.id);
    if (!expired) return undefined;
    const { count, firstMadeAtMs, lastMadeAtMs } = expired;
    const [first, last] = [firstMadeAtMs, lastMadeAtMs].map((atMs) => new Date(atMs).toISOString());
    const content = { type: "alerts-expired", key: `${count} ${first}`, data: { count, first, last } };
    const notice = formAlert(webhook.id, "", content, steadyMs());
    store.announce(notice);
    return notice;
  }

  /** Waits, unless something new comes while there was nothing to do. */
  async #rest(delayMs: number, signal: AbortSignal): Promise<void> {
    if (this.#failures === 0 && this.#hasNews) return;
    const woken = new AbortController();
    if (this.#failures === 0) this.#wake = () => woken.abort();
    try {
      await this.#options.clock.sleep(delayMs, AbortSignal.any([signal, woken.signal]));
    } catch {
      // Either is a reason to look again.
    } finally {
      this.#wake = undefined;
    }
  }
}
