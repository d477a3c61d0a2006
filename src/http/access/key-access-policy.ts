import type { FastifyReply, FastifyRequest } from "fastify";
import { TokenBucket } from "../../hub/index.ts";
import { type IssuedTicket, isExpired, type Key, type KnownKeys } from "../../keys/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { FlarewireError } from "../../protocol/index.ts";
import { type Access, type AccessPolicy, type Anonymous, CHALLENGE } from "./access.ts";
import type { Tickets } from "./shared-state.ts";

interface KeyAccessPolicyOptions {
  readonly ring: KnownKeys;
  readonly clock: Clock;
  /** Access without a key: the plan free, or none. */
  readonly anonymous: "free" | "off";
  readonly tickets: Omit<Tickets, "spend">;
  /** Receives each counted request of a key with a rate. Default: none. */
  readonly onCounted?: (id: string) => void;
}

const BEARER = /^Bearer +([^ ]+) *$/i;
const MINUTE_S = 60;

const ANONYMOUS: Anonymous = { access: { plan: "free" }, fields: { "flarewire-plan": "free" } };

/** Requests that a key has spent and not regained. */
export interface SpentRate {
  readonly keyId: string;
  readonly requests: number;
}

interface Rate {
  readonly perMinute: number;
  readonly bucket: TokenBucket;
}

/** A server with keys: `Authorization: Bearer KEY`, or a ticket where that cannot be sent. */
export class KeyAccessPolicy implements AccessPolicy {
  readonly isKeyed = true;
  readonly anonymous: Anonymous | undefined;
  readonly #options: KeyAccessPolicyOptions;
  readonly #rates = new Map<string, Rate>();

  constructor(options: KeyAccessPolicyOptions) {
    this.#options = options;
    if (options.anonymous === "free") this.anonymous = ANONYMOUS;
  }

  async keyIdOf(request: FastifyRequest): Promise<string | undefined> {
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.keyIdIn(authorization);
    const ticket = ticketOf(request.query);
    return ticket === undefined ? undefined : this.#options.tickets.keyOf(ticket);
  }

  keyIdIn(authorization: string): string | undefined {
    const { ring, clock } = this.#options;
    const [, text] = BEARER.exec(authorization) ?? [];
    const key = text === undefined ? undefined : ring.find(text);
    return key && !isExpired(key, clock.now()) ? key.id : undefined;
  }

  admit(request: FastifyRequest, reply: FastifyReply): Access {
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.#grant(this.#byKey(authorization, reply), reply);
    if (!this.anonymous) {
      throw refusal(reply, 'missing API key; send "Authorization: Bearer KEY"', "Authorization");
    }
    reply.headers(this.anonymous.fields);
    return this.anonymous.access;
  }

  async admitStream(request: FastifyRequest, reply: FastifyReply): Promise<Access> {
    const ticket = ticketOf(request.query);
    if (ticket === undefined || request.headers.authorization !== undefined)
      return this.admit(request, reply);
    return { ...this.#grant(await this.#byTicket(ticket, reply), reply), ticket };
  }

  async issueTicket(request: FastifyRequest, reply: FastifyReply): Promise<IssuedTicket> {
    const { key } = this.admit(request, reply);
    if (key) return this.#options.tickets.issue(key.id);
    const message = 'a ticket needs a key; send "Authorization: Bearer KEY"';
    throw refusal(reply, message, "Authorization");
  }

  /** Counts requests that other processes served with the key. They may reduce later allowance. */
  countElsewhere(id: string, requests: number): void {
    const key = this.#options.ring.get(id);
    if (key?.requests_per_minute === undefined) return;
    this.#rateOf(id, key.requests_per_minute).bucket.owe(requests, this.#options.clock.monotonic());
  }

  /** Requests that keys have spent and not regained, for a process that continues the count. */
  get spent(): readonly SpentRate[] {
    const nowMs = this.#options.clock.monotonic();
    const all = [...this.#rates].map(([keyId, { bucket }]) => ({ keyId, requests: bucket.spent(nowMs) }));
    return all.filter(({ requests }) => requests > 0);
  }

  /** Drops a key's count and tickets, because it was removed or its id given to another. */
  forget(id: string): void {
    this.#options.tickets.forget(id);
    this.#rates.delete(id);
  }

  #byKey(authorization: string, reply: FastifyReply): Key {
    const [, text] = BEARER.exec(authorization) ?? [];
    if (text === undefined)
      throw refusal(reply, 'invalid Authorization; send "Authorization: Bearer KEY"', "Authorization");
    const key = this.#options.ring.find(text);
    if (!key) throw refusal(reply, "invalid API key: unknown or revoked", "Authorization");
    return this.#current(key, reply, "Authorization");
  }

  async #byTicket(text: string, reply: FastifyReply): Promise<Key> {
    const id = await this.#options.tickets.keyOf(text);
    const key = id === undefined ? undefined : this.#options.ring.get(id);
    if (key) return this.#current(key, reply, "ticket");
    throw refusal(reply, TICKET_GONE, "ticket");
  }

  #current(key: Key, reply: FastifyReply, field: string): Key {
    if (!isExpired(key, this.#options.clock.now())) return key;
    throw refusal(reply, `the key expired at ${key.expires_at}`, field);
  }

  /** Counts the request and returns what the key is granted. */
  #grant(
    { id, plan, connections = Number.POSITIVE_INFINITY, requests_per_minute }: Key,
    reply: FastifyReply,
  ): Access {
    reply.header("flarewire-plan", plan);
    if (requests_per_minute !== undefined) this.#count(id, requests_per_minute, reply);
    return { plan, key: { id, connections } };
  }

  #count(id: string, perMinute: number, reply: FastifyReply): void {
    const nowMs = this.#options.clock.monotonic();
    const { bucket } = this.#rateOf(id, perMinute);
    const isAllowed = bucket.take(nowMs);
    if (isAllowed) this.#options.onCounted?.(id);
    const resetS = Math.ceil(bucket.waitMs(perMinute) / 1_000);
    reply.header("ratelimit-policy", `"key";q=${perMinute};w=${MINUTE_S}`);
    reply.header("ratelimit", `"key";r=${bucket.left};t=${resetS}`);
    if (isAllowed) return;
    const waitS = Math.max(1, Math.ceil(bucket.waitMs(1) / 1_000));
    reply.header("retry-after", String(waitS));
    const bound = `${perMinute} requests a minute`;
    throw new FlarewireError("rate-limited", `the key may make ${bound}; the next in ${waitS} s`, {
      bound,
      reason: "requests-of-key",
    });
  }

  #rateOf(id: string, perMinute: number): Rate {
    const known = this.#rates.get(id);
    if (known?.perMinute === perMinute) return known;
    const nowMs = this.#options.clock.monotonic();
    const rate = { perMinute, bucket: new TokenBucket(perMinute / MINUTE_S, perMinute, nowMs) };
    this.#rates.set(id, rate);
    return rate;
  }
}

/** Reason for refusing a ticket. It does not reveal which cause applies. */
export const TICKET_GONE =
  "invalid ticket: unknown, used, expired, or its key was revoked; get a new one for each connection";

function refusal(reply: FastifyReply, message: string, field: string): FlarewireError {
  reply.header("www-authenticate", CHALLENGE);
  return new FlarewireError("unauthorized", message, { field });
}

function ticketOf(query: unknown): string | undefined {
  if (typeof query !== "object" || query === null || !("ticket" in query)) return undefined;
  return String(query.ticket);
}
