import type { FastifyReply, FastifyRequest } from "fastify";
import { TokenBucket } from "../../hub/index.ts";
import { type IssuedTicket, isExpired, type Key, type KeyRing } from "../../keys/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { FlarewireError } from "../../protocol/index.ts";
import { type Access, type AccessPolicy, CHALLENGE, type Stranger } from "./access.ts";

/** What a door that knows keys is made of. */
export interface KeyDoorOptions {
  readonly ring: Pick<KeyRing, "find" | "get">;
  readonly clock: Clock;
  /** What who comes without a key gets: the plan free, or nothing. */
  readonly anonymous: "free" | "off";
  /** The tickets that are handed out. */
  readonly tickets: Tickets;
  /** Told of each request that a key with a rate was allowed. Default: nobody is told. */
  readonly onCounted?: (id: string) => void;
}

/** Tickets: of this process, or of the one that it works for. */
export interface Tickets {
  /** As TicketTable. */
  issue(keyId: string): IssuedTicket | Promise<IssuedTicket>;
  /** As TicketTable. */
  keyOf(text: string): string | undefined | Promise<string | undefined>;
  /** As TicketTable. */
  forget(keyId: string): void;
}

const BEARER = /^Bearer +([^ ]+) *$/i;
const MINUTE_S = 60;

const STRANGER: Stranger = { access: { plan: "free" }, fields: { "flarewire-plan": "free" } };

/** Requests that a key has made and not regained. */
export interface SpentRate {
  readonly keyId: string;
  readonly requests: number;
}

interface Rate {
  readonly perMinute: number;
  readonly bucket: TokenBucket;
}

/** The door of a server that knows keys: `Authorization: Bearer KEY`, or a ticket where that cannot be sent. */
export class KeyAccessPolicy implements AccessPolicy {
  readonly isKeyed = true;
  /** See Door. */
  readonly stranger: Stranger | undefined;
  readonly #options: KeyDoorOptions;
  readonly #rates = new Map<string, Rate>();

  constructor(options: KeyDoorOptions) {
    this.#options = options;
    if (options.anonymous === "free") this.stranger = STRANGER;
  }

  /** See Door. */
  async keyIdOf(request: FastifyRequest): Promise<string | undefined> {
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.keyIdIn(authorization);
    const ticket = ticketOf(request.query);
    return ticket === undefined ? undefined : this.#options.tickets.keyOf(ticket);
  }

  /** See Door. */
  keyIdIn(authorization: string): string | undefined {
    const { ring, clock } = this.#options;
    const [, text] = BEARER.exec(authorization) ?? [];
    const key = text === undefined ? undefined : ring.find(text);
    return key && !isExpired(key, clock.now()) ? key.id : undefined;
  }

  /** See Door. */
  admit(request: FastifyRequest, reply: FastifyReply): Access {
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.#grant(this.#byKey(authorization, reply), reply);
    if (!this.stranger) {
      throw refusal(reply, 'a key is needed here; send "Authorization: Bearer KEY"', "Authorization");
    }
    reply.headers(this.stranger.fields);
    return this.stranger.access;
  }

  /** See Door. */
  async admitStream(request: FastifyRequest, reply: FastifyReply): Promise<Access> {
    const ticket = ticketOf(request.query);
    if (ticket === undefined || request.headers.authorization !== undefined)
      return this.admit(request, reply);
    return { ...this.#grant(await this.#byTicket(ticket, reply), reply), ticket };
  }

  /** See Door. */
  async issueTicket(request: FastifyRequest, reply: FastifyReply): Promise<IssuedTicket> {
    const { key } = this.admit(request, reply);
    if (key) return this.#options.tickets.issue(key.id);
    const message = 'a ticket is given in the name of a key; send "Authorization: Bearer KEY"';
    throw refusal(reply, message, "Authorization");
  }

  /** So many requests were made with the key elsewhere: they count here too, if need be against those to come. */
  countElsewhere(id: string, requests: number): void {
    const key = this.#options.ring.get(id);
    if (key?.requests_per_minute === undefined) return;
    this.#rateOf(id, key.requests_per_minute).bucket.owe(requests, this.#options.clock.monotonic());
  }

  /** What keys with a rate have used up and not regained, for a process that is to count on from there. */
  get spent(): readonly SpentRate[] {
    const nowMs = this.#options.clock.monotonic();
    const all = [...this.#rates].map(([keyId, { bucket }]) => ({ keyId, requests: bucket.spent(nowMs) }));
    return all.filter(({ requests }) => requests > 0);
  }

  /** The key is gone, or another has its id: what it used up is forgotten, and its tickets are. */
  forget(id: string): void {
    this.#options.tickets.forget(id);
    this.#rates.delete(id);
  }

  #byKey(authorization: string, reply: FastifyReply): Key {
    const [, text] = BEARER.exec(authorization) ?? [];
    if (text === undefined) throw refusal(reply, 'it has to be of the form "Bearer KEY"', "Authorization");
    const key = this.#options.ring.find(text);
    if (!key) throw refusal(reply, "the key is not known here, or was revoked", "Authorization");
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
    throw refusal(reply, `the key's time ended at ${key.expires_at}`, field);
  }

  /** Counts the request, and says what the key has. */
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

/** Why a ticket is refused, in words that do not tell which it is. */
export const TICKET_GONE =
  "the ticket is not known here, was used, is too old, or its key was revoked; get another for each connection";

function refusal(reply: FastifyReply, message: string, field: string): FlarewireError {
  reply.header("www-authenticate", CHALLENGE);
  return new FlarewireError("unauthorized", message, { field });
}

function ticketOf(query: unknown): string | undefined {
  if (typeof query !== "object" || query === null || !("ticket" in query)) return undefined;
  return String(query.ticket);
}
