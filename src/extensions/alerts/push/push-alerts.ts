import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import { describeIssue, expectedInWords } from "../../../base/lib/io/json-file.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";
import { Filter, FlarewireError } from "../../../base/protocol/index.ts";
import type { Alert } from "../alert.ts";
import type { RunningAlerts } from "../alerts.ts";
import { judgeAnswer, type Outcome } from "../delivery/delivery-plan.ts";
import { postHttp } from "../delivery/http-post.ts";
import { checkHost } from "../delivery/public-address.ts";
import { ATTEMPT_TIMEOUT_MS, type Attempt, type Target } from "../targets/target.ts";
import { encryptPush, pushMessageOf } from "./push-message.ts";
import type { PushStore, StoredPush } from "./push-store.ts";
import { isPoint, PushRequest, rulesOf, subscriptionId } from "./push-subscription.ts";
import type { VapidKey } from "./vapid-key.ts";

/** Older events are not pushed: a flare that started then may be over. */
const MAX_PUSH_AGE_MS = 30 * MINUTE_MS;
/** Maximum number of subscriptions, in total and from one address. */
const PUSH_LIMITS = { all: 1_000, ofClient: 10 } as const;
/**
 * How long a subscription that has never received a message may fail, or may wait for its first
 * one, before it has to make room.
 */
const UNPROVEN_MS = DAY_MS;
/** How long a subscription that has worked must have failed before a new one may replace it. */
const FAILING_MS = HOUR_MS;
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
 * when its push service has deleted it or never accepted a message, or when its key or token may no
 * longer have it. If there are too many, a new one replaces one that does not work.
 */
export class PushAlerts {
  readonly #options: PushOptions;
  readonly #stopLooking: () => void;
  #alerts: RunningAlerts | undefined;
  #isFull = false;
  #isNoting = true;

  constructor(options: PushOptions) {
    this.#options = options;
    this.#endInvalid();
    // Earlier versions accepted any key.
    for (const { request } of options.store.all())
      if (!isPoint(request.keys.p256dh))
        this.#end(subscriptionId(request.endpoint), "its key is not a point on P-256");
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
    const { store, clock } = this.#options;
    const id = subscriptionId(request.endpoint);
    if (this.#isAdmitted({ request, holder }) === false)
      throw new FlarewireError("forbidden", "the key does not allow all channels of the rules", {
        field: "Authorization",
      });
    // Stores only a hash of the address, because the address is personal data.
    const mark = createHash("sha256").update(`${this.publicKey} ${client}`).digest("base64url");
    const evicted = store.has(id) ? undefined : this.#makeRoom(mark);
    store.save(id, mark, { request, holder }, clock.now(), evicted);
    if (evicted !== undefined) this.#stop(evicted);
    await this.#alerts?.replace(this.#target({ request, holder }));
  }

  /**
   * Returns the subscription that a new one from this address replaces; `undefined` if there is
   * room. Throws `over-capacity` if all work.
   */
  #makeRoom(client: string): string | undefined {
    const { store, clock, logger } = this.#options;
    const { all, ofClient } = store.count(client);
    const isFull = all >= PUSH_LIMITS.all;
    if (isFull && !this.#isFull)
      logger.warn(
        { subscriptions: all },
        "no room for more push subscriptions: a new one replaces one that does not work, or is refused",
      );
    else if (!isFull && this.#isFull)
      logger.info({ subscriptions: all }, "room for push subscriptions again");
    this.#isFull = isFull;
    const isOwn = ofClient >= PUSH_LIMITS.ofClient;
    if (!isFull && !isOwn) return undefined;
    const nowMs = clock.now();
    const before = { failingBeforeMs: nowMs - FAILING_MS, unprovenBeforeMs: nowMs - UNPROVEN_MS };
    const evicted = store.replaceable({ client, ofClient, isOwn, ...before });
    if (evicted !== undefined) return evicted;
    const bound = `at most ${PUSH_LIMITS.ofClient} subscriptions per address, ${PUSH_LIMITS.all} in total`;
    throw new FlarewireError("over-capacity", `no more push subscriptions: ${bound}`, { bound });
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
    if (!isPoint(parsed.data.keys.p256dh)) {
      const bound = "a point on the curve P-256, uncompressed";
      throw new FlarewireError("invalid-parameter", `keys.p256dh must be ${bound}`, { field: "keys", bound });
    }
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
          this.#end(subscriptionId(stored.request.endpoint), "its key or token is no longer valid");
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

  #end(id: string, reason: string): void {
    const { logger, store } = this.#options;
    logger.info({ target: id, reason }, "removing a push subscription");
    try {
      store.remove(id);
      this.#stop(id);
    } catch (error) {
      logger.warn(`could not remove a push subscription: ${messageOf(error)}`);
    }
  }

  #stop(id: string): void {
    const { logger } = this.#options;
    void this.#alerts
      ?.remove(id)
      .catch((error: unknown) => logger.warn(`could not stop a push subscription: ${messageOf(error)}`));
  }

  /** Stores how a push service answers, if that has changed. Ends what never worked. */
  #note(id: string, isAccepted: boolean): void {
    const { store, clock, logger } = this.#options;
    try {
      const health = store.health(id);
      if (!health) return;
      const { isProven, failingSinceMs } = health;
      const nowMs = clock.now();
      if (isAccepted) {
        if (!isProven || failingSinceMs !== undefined)
          store.note(id, { isProven: true, failingSinceMs: undefined });
      } else if (failingSinceMs === undefined) store.note(id, { isProven, failingSinceMs: nowMs });
      else if (!isProven && nowMs - failingSinceMs >= UNPROVEN_MS)
        this.#end(id, "its push service has accepted no message for a day, and none before");
      this.#isNoting = true;
    } catch (error) {
      // The message counts as sent or failed, whatever the disk says.
      if (this.#isNoting) logger.warn(`could not store how push services answer: ${messageOf(error)}`);
      this.#isNoting = false;
    }
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
      deliver: (alert, signal, attempt) => this.#deliver(stored, sent, alert, signal, attempt),
      onGone: () => this.#end(subscriptionId(request.endpoint), "its push service no longer knows it"),
    };
  }

  async #deliver(
    stored: StoredPush,
    sent: BoundedMap<string, true>,
    alert: Alert,
    signal: AbortSignal,
    { lateAtMs }: Attempt = {},
  ): Promise<Outcome> {
    const { key, contact, clock, allowPrivate } = this.#options;
    const { endpoint, keys } = stored.request;
    const message = pushMessageOf(alert, lateAtMs);
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
    if (!signal.aborted) this.#note(subscriptionId(endpoint), outcome.kind === "delivered");
    return outcome;
  }
}
