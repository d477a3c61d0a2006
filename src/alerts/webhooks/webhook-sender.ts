import { createHash } from "node:crypto";
import type { Notify } from "../../lib/notify.ts";
import { messageOf } from "../../lib/text/message-of.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { waitAtMost } from "../../lib/time/wait-at-most.ts";
import { type Alert, formAlert } from "../alert.ts";
import { secretBytes, type Webhook } from "../rules/alert-file.ts";
import type { AlertStore } from "../store/alert-store.ts";
import type { GroupCommit } from "../store/group-commit.ts";
import { judgeAnswer, type Outcome, retryDelayMs } from "./delivery-plan.ts";
import { postWebhook, type WebhookAnswer, type WebhookPost } from "./post-webhook.ts";
import { signWebhook } from "./webhook-signature.ts";

interface SenderLimits {
  readonly maxAgeMs: number;
  readonly maxCount: number;
  readonly timeoutMs: number;
}

/** 24 hours, as for flares in the log; 10,000 messages; 15 s, the minimum of Standard Webhooks. */
export const DEFAULT_SENDER_LIMITS: SenderLimits = {
  maxAgeMs: 86_400_000,
  maxCount: 10_000,
  timeoutMs: 15_000,
};

export interface SenderOptions {
  readonly webhook: Webhook;
  readonly store: AlertStore;
  /** Removes messages of all webhooks from the store together. */
  readonly commits: Pick<GroupCommit, "remove">;
  readonly clock: Clock;
  /** The clock for the age of messages, in milliseconds since 1970 UTC. It never jumps. */
  readonly steadyMs: () => number;
  readonly limits?: SenderLimits;
  /** For jitter. Default: `Math.random`. */
  readonly random?: () => number;
  readonly post?: (post: WebhookPost) => Promise<WebhookAnswer>;
  /** Delivers a message in another form; it announces no dropped ones. Default: a signed post. */
  readonly deliver?: (alert: Alert, signal: AbortSignal) => Promise<WebhookAnswer>;
  /** Called when the receiver wants no more messages. */
  readonly onGone?: () => void;
  readonly notify: Notify;
}

/** How often an idle sender looks for expired messages. */
const IDLE_MS = 60_000;

/** Delivers one webhook's messages in order, repeating each until it is accepted or expires. */
export class WebhookSender {
  readonly attempts: Record<Outcome["kind"], number> = { delivered: 0, failed: 0, gone: 0 };
  dropped = 0;
  readonly #options: SenderOptions;
  readonly #limits: SenderLimits;
  /** Hash of URL and secret. A webhook with another mark counts as another receiver. */
  readonly #mark: string;
  #failures = 0;
  /** Removes the last accepted message. Repeated until it succeeds, as after a full disk. */
  #removeAccepted: (() => Promise<void>) | undefined;
  /** Messages arrived since the last look at the queue. */
  #hasNews = false;
  #wake: (() => void) | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_SENDER_LIMITS;
    const { url, secret } = options.webhook;
    this.#mark = createHash("sha256").update(`${url} ${secret}`).digest("hex");
  }

  /** True while the receiver wants no messages. */
  get isDisabled(): boolean {
    const { store, webhook } = this.#options;
    return store.disabled(webhook.id) === this.#mark;
  }

  wake(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  /** Delivers until the signal aborts. Never rejects. */
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
        notify("warn", `could not read or update the webhook's queue: ${reason}`);
        // New messages do not end this pause: the same operation would fail again.
        await clock.sleep(IDLE_MS, signal).catch(() => {});
      }
    }
  }

  /** Enables a webhook whose URL or secret changed since it was disabled. */
  #begin(): void {
    const { store, webhook, notify } = this.#options;
    if (this.isDisabled)
      notify(
        "warn",
        "the webhook is disabled: its receiver responded 410 Gone; change its url or secret to enable it",
      );
    else if (store.disabled(webhook.id) !== undefined) store.disable(webhook.id, undefined);
  }

  async #step(signal: AbortSignal): Promise<number> {
    const { store, webhook, steadyMs, notify } = this.#options;
    const { id } = webhook;
    await this.#finishRemoval();
    const expired = store.expire(id, steadyMs() - this.#limits.maxAgeMs, this.#limits.maxCount);
    if (expired > 0) {
      this.dropped += expired;
      notify("warn", `dropped ${expired} messages that the webhook did not accept in time`);
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
        this.#removeAccepted = notice
          ? async () => store.forgetNotice(id)
          : () => this.#options.commits.remove(alert);
        if (this.#failures > 0)
          notify("info", `the webhook accepts messages again; failed attempts: ${this.#failures}`);
        this.#failures = 0;
        await this.#finishRemoval();
        return 0;
      case "gone":
        store.disable(id, this.#mark);
        notify("warn", "the webhook is disabled: its receiver responded 410 Gone");
        this.#options.onGone?.();
        return 0;
      case "failed":
        this.#failures += 1;
        if (this.#failures === 1)
          notify("warn", `could not deliver to the webhook: ${outcome.reason}; retrying`);
        return retryDelayMs(this.#failures, outcome.retryAfterMs, this.#options.random ?? Math.random);
    }
  }

  async #finishRemoval(): Promise<void> {
    await this.#removeAccepted?.();
    this.#removeAccepted = undefined;
  }

  #post(alert: Alert, signal: AbortSignal): Promise<WebhookAnswer> {
    const { webhook, clock, post = postWebhook, deliver } = this.#options;
    if (deliver) return deliver(alert, signal);
    return post({
      url: webhook.url,
      headers: {
        "content-type": "application/json",
        "user-agent": "flarewire",
        // Signs the attempt's time, because receivers reject old ones. The body has the creation's.
        ...signWebhook(secretBytes(webhook.secret), alert, clock.now()),
      },
      body: alert.body,
      allowPrivateAddresses: webhook.allow_private_addresses,
      timeoutMs: this.#limits.timeoutMs,
      signal,
    });
  }

  /** A message about dropped ones, the same until acknowledged. Later drops get another. */
  #expiredNotice(): Alert | undefined {
    const { store, webhook, steadyMs, deliver } = this.#options;
    if (deliver) return undefined;
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
