import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import { describeIssue, expectedInWords } from "../../../base/lib/io/json-file.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import { Filter, FlarewireError } from "../../../base/protocol/index.ts";
import type { Alert } from "../alert.ts";
import type { RunningAlerts } from "../alerts.ts";
import { judgeAnswer, type Outcome } from "../delivery/delivery-plan.ts";
import { postHttp } from "../delivery/http-post.ts";
import { checkHost } from "../delivery/public-address.ts";
import { ATTEMPT_TIMEOUT_MS, type Target } from "../targets/target.ts";
import { encryptPush, pushMessageOf } from "./push-message.ts";
import type { PushStore, StoredPush } from "./push-store.ts";
import { PushRequest, rulesOf, subscriptionId } from "./push-subscription.ts";
import type { VapidKey } from "./vapid-key.ts";

/** Older events are not pushed: a flare that started then may be over. */
const MAX_PUSH_AGE_MS = 30 * MINUTE_MS;
/** Maximum number of subscriptions, in total and from one address. */
const PUSH_LIMITS = { all: 1_000, ofClient: 10 } as const;
const QUEUE_LIMITS = { maxAgeMs: MAX_PUSH_AGE_MS, maxCount: 100 };
const MAX_REMEMBERED = 200;
/** Keys whose values are shown. The endpoint and the keys are secrets of the browser. */
const HARMLESS: ReadonlySet<string> = new Set(["channel", ...Object.keys(Filter.shape)]);

interface PushOptions {
  readonly store: PushStore;
  readonly key: VapidKey;
  /** For the operators of push services: `mailto:` or https. */
  readonly contact: string;
  /** Whether subscribers see only what visitors without a key see. */
  readonly isFree: boolean;
  /**
   * Whether a key or token, or a visitor without one, may follow these channels. `undefined`:
   * unknown.
   */
  readonly isAdmitted: (holder: string | undefined, channels: readonly string[]) => boolean | undefined;
  /** Allows plain HTTP and private addresses, for tests. */
  readonly allowPrivate: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Push subscriptions. Each is a target of alerts, like a webhook. It ends when its browser ends it,
 * when its push service has deleted it, or when its key or token may no longer have it.
 */
export class PushAlerts {
  readonly #options: PushOptions;
  readonly #stopLooking: () => void;
  #alerts: RunningAlerts | undefined;

  constructor(options: PushOptions) {
    this.#options = options;
    this.#endInvalid();
    this.#stopLooking = options.clock.every(MINUTE_MS, () => this.#endInvalid());
  }

  get publicKey(): string {
    return this.#options.key.publicKey;
  }

  /** The stored subscriptions, as targets of alerts. */
  get targets(): readonly Target[] {
    return this.#options.store.all().map((stored) => this.#target(stored));
  }

  /**
   * Passes later changes of the subscriptions to `alerts`, which must have started with
   * {@link targets}.
   */
  start(alerts: RunningAlerts): void {
    this.#alerts = alerts;
  }

  /**
   * Adds a subscription, or replaces its rules. `client`: the address that it came from. `holder`:
   * see {@link StoredPush}. Rejects with FlarewireError `invalid-parameter`, `forbidden`, or
   * `over-capacity` beyond {@link PUSH_LIMITS}.
   */
  async subscribe(body: unknown, client: string, holder: string | undefined): Promise<void> {
    const request = this.#parse(body);
    const { store } = this.#options;
    const id = subscriptionId(request.endpoint);
    if (this.#isAdmitted({ request, holder }) === false)
      throw new FlarewireError("forbidden", "the key does not allow all channels of the rules", {
        field: "Authorization",
      });
    // Stores only a hash of the address, because the address is personal data.
    const mark = createHash("sha256").update(`${this.publicKey} ${client}`).digest("base64url");
    const { all, ofClient } = store.count(mark);
    if (!store.has(id) && (all >= PUSH_LIMITS.all || ofClient >= PUSH_LIMITS.ofClient)) {
      const bound = `at most ${PUSH_LIMITS.ofClient} subscriptions per address, ${PUSH_LIMITS.all} in total`;
      throw new FlarewireError("over-capacity", `no more push subscriptions: ${bound}`, { bound });
    }
    store.save(id, mark, { request, holder });
    await this.#alerts?.replace(this.#target({ request, holder }));
  }

  /** Removes a subscription, if it exists. */
  async unsubscribe(endpoint: string): Promise<void> {
    const id = subscriptionId(endpoint);
    this.#options.store.remove(id);
    await this.#alerts?.remove(id);
  }

  close(): void {
    this.#stopLooking();
    this.#options.store.close();
  }

  #parse(body: unknown): PushRequest {
    const parsed = PushRequest.safeParse(body, { error: expectedInWords });
    if (!parsed.success) {
      // Only the first issue, because `field` names the part of that one.
      const first = parsed.error.issues.slice(0, 1);
      throw new FlarewireError("invalid-parameter", describeIssue(first, body, { harmless: HARMLESS }), {
        field: String(first[0]?.path[0] ?? "body"),
      });
    }
    const { protocol, hostname } = new URL(parsed.data.endpoint);
    const refuse = (bound: string) =>
      new FlarewireError("invalid-parameter", `endpoint must be ${bound}`, { field: "endpoint", bound });
    if (this.#options.allowPrivate) return parsed.data;
    if (protocol !== "https:") throw refuse("an https URL");
    try {
      checkHost(hostname);
    } catch {
      throw refuse("the URL of a push service with a public address");
    }
    return parsed.data;
  }

  #endInvalid(): void {
    const { store, logger } = this.#options;
    try {
      for (const stored of store.all())
        if (this.#isAdmitted(stored) === false)
          this.#end(stored.request, "its key or token is no longer valid");
    } catch (error) {
      logger.warn(`could not look for invalid push subscriptions: ${messageOf(error)}`);
    }
  }

  #isAdmitted({ request, holder }: StoredPush): boolean | undefined {
    const { isFree, isAdmitted } = this.#options;
    return isAdmitted(
      holder,
      rulesOf(request, isFree).flatMap(({ channels }) => channels),
    );
  }

  #end({ endpoint }: PushRequest, reason: string): void {
    const { logger } = this.#options;
    logger.info({ target: subscriptionId(endpoint), reason }, "removing a push subscription");
    void this.unsubscribe(endpoint).catch((error: unknown) =>
      logger.warn(`could not remove a push subscription: ${messageOf(error)}`),
    );
  }

  #target(stored: StoredPush): Target {
    const { request } = stored;
    const sent = new BoundedMap<string, true>(MAX_REMEMBERED);
    return {
      id: subscriptionId(request.endpoint),
      rules: rulesOf(request, this.#options.isFree),
      identity: `${request.endpoint} ${request.keys.auth}`,
      limits: QUEUE_LIMITS,
      announcesExpired: false,
      deliver: (alert, signal) => this.#deliver(stored, sent, alert, signal),
      onGone: () => this.#end(request, "its push service no longer knows it"),
    };
  }

  async #deliver(
    stored: StoredPush,
    sent: BoundedMap<string, true>,
    alert: Alert,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { key, contact, clock, allowPrivate } = this.#options;
    const { endpoint, keys } = stored.request;
    const message = pushMessageOf(alert);
    const restMs = message ? MAX_PUSH_AGE_MS - (clock.now() - message.atMs) : 0;
    // Another rule may have reported the same flare.
    if (!message || restMs <= 0 || sent.has(message.tag)) return { kind: "delivered" };
    const isValid = this.#isAdmitted(stored);
    if (isValid === undefined)
      return { kind: "failed", reason: "the issuer's keys are not available", retryAfterMs: undefined };
    if (!isValid) return { kind: "delivered" };
    const answer = await postHttp({
      url: endpoint,
      headers: {
        authorization: await key.authorize(endpoint, contact, clock.now()),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        ttl: String(Math.ceil(restMs / 1_000)),
        topic: createHash("sha256").update(message.tag).digest("base64url").slice(0, 32),
        urgency: "high",
      },
      body: encryptPush(message.payload, keys),
      allowPrivateAddresses: allowPrivate,
      isOfVisitor: true,
      timeoutMs: ATTEMPT_TIMEOUT_MS,
      signal,
    });
    if (answer.kind === "answered" && answer.status === 404) return { kind: "gone" };
    const outcome = judgeAnswer(answer);
    if (outcome.kind === "delivered") sent.set(message.tag, true);
    return outcome;
  }
}
