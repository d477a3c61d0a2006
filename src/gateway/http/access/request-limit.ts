import type { FastifyReply, FastifyRequest } from "fastify";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { FlarewireError, type RefusalReason } from "../../../base/protocol/index.ts";
import { TokenBucket } from "../../hub/index.ts";
import { clientOf } from "./client-address.ts";

/** Maximum addresses to remember; beyond it, the oldest is dropped. */
const MAX_ADDRESSES = 20_000;
/** Bytes of a response that count as one more request. */
export const BYTES_PER_REQUEST = 65_536;
const MINUTE_S = 60;

interface LimitedUse {
  /** Its name in `RateLimit`. */
  readonly policy: string;
  /** Unit of the limit, such as `requests a minute`. */
  readonly what: string;
  readonly reason: RefusalReason;
}

const REQUESTS: LimitedUse = {
  policy: "address",
  what: "requests a minute (dear ones count as several, a response as one more for each 64 KiB)",
  reason: "requests-of-address",
};
/** New connections that follow events, which cost more than a request. */
export const STREAMS: LimitedUse = {
  policy: "address-streams",
  what: "new streams a minute",
  reason: "new-streams-of-address",
};

/** A limit, and how much of it is used. `resetMs`: until all of it is available again. */
export interface Use {
  readonly limit: number;
  readonly used: number;
  readonly resetMs: number;
}

/** A rate per minute, which is also the size of a burst. */
export class Rate {
  readonly perMinute: number;
  readonly bucket: TokenBucket;

  constructor(perMinute: number, nowMs: number) {
    this.perMinute = perMinute;
    this.bucket = new TokenBucket(perMinute / MINUTE_S, perMinute, nowMs);
  }

  useAt(nowMs: number): Use {
    this.bucket.charge(0, nowMs);
    const { perMinute: limit, bucket } = this;
    return { limit, used: limit - bucket.left, resetMs: bucket.waitMs(limit) };
  }

  /** Sets the fields about the rate, as of its last use, under this name. */
  setFields(reply: FastifyReply, name: string): void {
    const resetS = Math.ceil(this.bucket.waitMs(this.perMinute) / 1_000);
    reply.header("ratelimit-policy", `"${name}";q=${this.perMinute};w=${MINUTE_S}`);
    reply.header("ratelimit", `"${name}";r=${this.bucket.left};t=${resetS}`);
  }

  /** Returns the error of a refused request, and sets `Retry-After`. `who` may make `what`. */
  refusal(reply: FastifyReply, who: string, what: string, reason: RefusalReason): FlarewireError {
    const waitS = Math.max(1, Math.ceil(this.bucket.waitMs(1) / 1_000));
    reply.header("retry-after", String(waitS));
    const bound = `${this.perMinute} ${what}`;
    const message = `${who} may make ${bound}; retry in ${waitS} s`;
    return new FlarewireError("rate-limited", message, { bound, reason });
  }
}

/**
 * Limits requests and the bytes of their responses, or new streams, per address. {@link Visitors}
 * applies it to clients without a key.
 */
export class RequestLimit {
  readonly #use: LimitedUse;
  readonly #perMinute: number;
  readonly #clock: Clock;
  readonly #rates = new BoundedMap<string, Rate>(MAX_ADDRESSES);
  readonly #counted = new WeakMap<FastifyRequest, TokenBucket>();

  /** `perMinute`: sustained rate, and the size of a burst. */
  constructor(perMinute: number, clock: Clock, use: LimitedUse = REQUESTS) {
    this.#use = use;
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Counts a request with a response of `bytes`, or returns false if it exceeds the limit. */
  take(address: string, bytes: number): boolean {
    const nowMs = this.#clock.monotonic();
    const { bucket } = this.#rateOf(address, nowMs);
    const isAllowed = bucket.take(nowMs);
    if (isAllowed && bytes >= BYTES_PER_REQUEST) bucket.charge(Math.floor(bytes / BYTES_PER_REQUEST), nowMs);
    return isAllowed;
  }

  /** Counts a request `cost` times. Returns `rate-limited`, with retry fields, above the limit. */
  admit(request: FastifyRequest, reply: FastifyReply, cost = 1): FlarewireError | undefined {
    const nowMs = this.#clock.monotonic();
    const rate = this.#rateOf(request.ip, nowMs);
    const { bucket } = rate;
    if (bucket.take(nowMs)) {
      bucket.charge(cost - 1, nowMs);
      this.#counted.set(request, bucket);
      return undefined;
    }
    const { policy, what, reason } = this.#use;
    rate.setFields(reply, policy);
    return rate.refusal(reply, "one address without a key", what, reason);
  }

  useOf(address: string): Use {
    const nowMs = this.#clock.monotonic();
    return this.#rateOf(address, nowMs).useAt(nowMs);
  }

  /** Counts the bytes of a response if its request was counted here. */
  charge(request: FastifyRequest, bytes: number): void {
    if (bytes >= BYTES_PER_REQUEST)
      this.#counted.get(request)?.charge(Math.floor(bytes / BYTES_PER_REQUEST), this.#clock.monotonic());
  }

  #rateOf(address: string, nowMs: number): Rate {
    return this.#rates.ensure(clientOf(address), () => new Rate(this.#perMinute, nowMs));
  }
}
