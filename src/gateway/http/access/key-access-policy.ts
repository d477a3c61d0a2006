import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import {
  grantIn,
  type IssuedTicket,
  idIn,
  isExpired,
  type KeyGrant,
  type KnownKeys,
  refOf,
  type TokenSource,
} from "../../keys/index.ts";
import type { Audit } from "../connections/audit.ts";
import { KeyCounts } from "../key-counts.ts";
import { retryAfterS } from "../problems/problem.ts";
import {
  type Access,
  type AccessPolicy,
  type Anonymous,
  CHALLENGE,
  checkRoute,
  mayRead,
  TICKET_GONE,
} from "./access.ts";
import { Rate, type Use } from "./request-limit.ts";
import type { Tickets } from "./shared-state.ts";

interface KeyAccessPolicyOptions {
  readonly ring: KnownKeys;
  /** The keys that verify the tokens of `ring`. Default: no token is valid. */
  readonly tokenSource?: TokenSource | undefined;
  readonly clock: Clock;
  /** Access without a key: the plan `free`, or none. */
  readonly anonymous: "free" | "off";
  readonly tickets: Omit<Tickets, "spend">;
  readonly audit?: Audit | undefined;
  /** Called at each use of a key from the key file within its rate. Default: nothing. */
  readonly onUsed?: ((id: string) => void) | undefined;
  /** Called for each request within the rate of a key that has one. Default: nothing. */
  readonly onCounted?: (id: string) => void;
}

const BEARER = /^Bearer +([^ ]+) *$/i;
/** A reference to the grant, and the hash of the key's secret; `null` for a token. */
const Holder = z.tuple([z.string(), z.string().nullable()]);
/**
 * Maximum rates to remember: more than the keys that a file may have, because tokens have rates
 * too. Beyond it, the oldest is dropped.
 */
const MAX_RATES = 20_000;

const ANONYMOUS: Anonymous = { access: { plan: "free" }, fields: { "flarewire-plan": "free" } };

/** Grants access for `Authorization: Bearer KEY`, or for a ticket if a client cannot send it. */
export class KeyAccessPolicy implements AccessPolicy {
  readonly isKeyed = true;
  readonly counts = new KeyCounts();
  readonly audit: Audit | undefined;
  readonly anonymous: Anonymous | undefined;
  readonly #options: KeyAccessPolicyOptions;
  readonly #rates = new BoundedMap<string, Rate>(MAX_RATES);
  /** Why the token of a request is invalid, or cannot be verified now. */
  readonly #invalid = new WeakMap<FastifyRequest, FlarewireError>();

  constructor(options: KeyAccessPolicyOptions) {
    this.#options = options;
    this.audit = options.audit;
    if (options.anonymous === "free") this.anonymous = ANONYMOUS;
  }

  verify(request: FastifyRequest): Promise<void> | undefined {
    const text = bearerIn(request.headers.authorization);
    if (text === undefined) return undefined;
    return this.#options.ring.verify({ text }).then((invalid) => {
      if (invalid) this.#invalid.set(request, invalid);
      else this.#invalid.delete(request);
    });
  }

  async keyIdOf(request: FastifyRequest): Promise<string | undefined> {
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.keyIdIn(authorization);
    const ticket = ticketOf(request.query);
    const ref = ticket === undefined ? undefined : await this.#options.tickets.refOfTicket(ticket);
    return ref === undefined ? undefined : idIn(ref);
  }

  keyIdIn(authorization: string): string | undefined {
    const { ring, clock } = this.#options;
    const text = bearerIn(authorization);
    const key = text === undefined ? undefined : ring.find(text);
    return key && !isExpired(key, clock.now()) ? key.id : undefined;
  }

  admit(request: FastifyRequest, reply: FastifyReply): Access {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const access = this.#grant(this.#byKey(request, reply), request, reply);
      checkRoute(request, access);
      return access;
    }
    if (!this.anonymous) {
      throw refusal(reply, 'missing API key; send "Authorization: Bearer KEY"', "Authorization");
    }
    reply.headers(this.anonymous.fields);
    return this.anonymous.access;
  }

  async admitStream(request: FastifyRequest, reply: FastifyReply): Promise<Access> {
    const ticket = ticketOf(request.query);
    if (ticket === undefined || request.headers.authorization !== undefined) {
      // The request may have waited for seconds, and the keys that sign tokens may have changed.
      await this.verify(request);
      return this.admit(request, reply);
    }
    return { ...this.#grant(await this.#byTicket(ticket, reply), request, reply), ticket };
  }

  async issueTicket(request: FastifyRequest, reply: FastifyReply): Promise<IssuedTicket> {
    const { key, plan } = this.admit(request, reply);
    if (key && plan) return this.#options.tickets.issue(refOf({ ...key, plan }));
    const message = 'a ticket needs a key; send "Authorization: Bearer KEY"';
    throw refusal(reply, message, "Authorization");
  }

  holderOf({ key, plan }: Access): string | undefined {
    // Omit the key's name, which may be a person's.
    return key && plan && JSON.stringify([refOf({ ...key, plan, name: undefined }), key.sha256]);
  }

  isAdmitted(holder: string | undefined, channels: readonly string[]): boolean | undefined {
    if (holder === undefined) return this.anonymous !== undefined;
    const { ring, clock, tokenSource } = this.#options;
    const held = readHolder(holder);
    if (!held) return false;
    const { ref, sha256, token } = held;
    if (token && isExpired(token, clock.now())) return false;
    if (token && tokenSource && !tokenSource.keys) return undefined;
    const key = ring.get(ref);
    if (!key || (key.sha256 ?? null) !== sha256 || isExpired(key, clock.now())) return false;
    return mayRead(channels, key);
  }

  useOf({ key }: Access): Use | undefined {
    const { id, requests_per_minute } = key ?? {};
    if (id === undefined || requests_per_minute === undefined) return undefined;
    const nowMs = this.#options.clock.monotonic();
    return this.#rateOf(id, requests_per_minute, nowMs).useAt(nowMs);
  }

  /** Deducts from the key's rate here the requests that other processes served. */
  countElsewhere(id: string, requests: number): void {
    const perMinute = this.#options.ring.get(id)?.requests_per_minute ?? this.#rates.get(id)?.perMinute;
    if (perMinute === undefined) return;
    const nowMs = this.#options.clock.monotonic();
    this.#rateOf(id, perMinute, nowMs).bucket.charge(requests, nowMs);
  }

  /** Drops a key's spent rate and tickets. Call it when a key is removed, replaced or expired. */
  forget(id: string): void {
    this.#options.tickets.forget(id);
    this.#rates.delete(id);
  }

  #byKey(request: FastifyRequest, reply: FastifyReply): KeyGrant {
    const text = bearerIn(request.headers.authorization);
    if (text === undefined)
      throw refusal(reply, 'invalid Authorization; send "Authorization: Bearer KEY"', "Authorization");
    const key = this.#options.ring.find(text);
    const invalid = this.#invalid.get(request);
    this.#throwUndecided(invalid, reply);
    if (!key)
      throw refusal(reply, invalid?.message ?? "invalid API key: unknown or revoked", "Authorization");
    return this.#current(key, reply, "Authorization");
  }

  async #byTicket(text: string, reply: FastifyReply): Promise<KeyGrant> {
    const ref = await this.#options.tickets.refOfTicket(text);
    if (ref !== undefined) this.#throwUndecided(await this.#options.ring.verify({ ref }), reply);
    const key = ref === undefined ? undefined : this.#options.ring.get(ref);
    if (key) return this.#current(key, reply, "ticket");
    throw refusal(reply, TICKET_GONE, "ticket");
  }

  #throwUndecided(error: FlarewireError | undefined, reply: FastifyReply): void {
    if (error?.code !== "not-ready") return;
    reply.header("retry-after", retryAfterS(Math.random, this.#options.tokenSource?.retryMs));
    throw error;
  }

  #current(key: KeyGrant, reply: FastifyReply, field: string): KeyGrant {
    if (!isExpired(key, this.#options.clock.now())) return key;
    throw refusal(reply, `the key expired at ${key.expires_at}`, field);
  }

  /**
   * Counts the request, returns the key's access and sets response fields. Throws `rate-limited`.
   */
  #grant(key: KeyGrant, request: FastifyRequest, reply: FastifyReply): Access {
    const { id, plan, requests_per_minute } = key;
    const access = { plan, channels: key.channels, key };
    this.audit?.grant(request, access);
    reply.header("flarewire-plan", plan);
    if (requests_per_minute !== undefined) this.#count(id, requests_per_minute, reply);
    this.counts.admit(id);
    if (key.signer === undefined) this.#options.onUsed?.(id);
    return access;
  }

  #count(id: string, perMinute: number, reply: FastifyReply): void {
    const nowMs = this.#options.clock.monotonic();
    const rate = this.#rateOf(id, perMinute, nowMs);
    const isAllowed = rate.bucket.take(nowMs);
    if (isAllowed) this.#options.onCounted?.(id);
    rate.setFields(reply, "key");
    if (isAllowed) return;
    this.counts.limit(id);
    throw rate.refusal(reply, "the key", "requests a minute", "requests-of-key");
  }

  #rateOf(id: string, perMinute: number, nowMs: number): Rate {
    const known = this.#rates.get(id);
    if (known?.perMinute === perMinute) return known;
    const rate = new Rate(perMinute, nowMs);
    // Tokens of one subject may state different limits. What one has used, the next lacks.
    const { used = 0, limit = 1 } = known?.useAt(nowMs) ?? {};
    rate.bucket.charge(Math.ceil((used * perMinute) / limit), nowMs);
    this.#rates.set(id, rate);
    return rate;
  }
}

function refusal(reply: FastifyReply, message: string, field: string): FlarewireError {
  reply.header("www-authenticate", CHALLENGE);
  return new FlarewireError("unauthorized", message, { field });
}

/** Reads the result of `holderOf`. Returns `undefined` if it is damaged. */
function readHolder(text: string) {
  try {
    const [ref, sha256] = Holder.parse(JSON.parse(text));
    return { ref, sha256, token: grantIn(ref) };
  } catch {
    return undefined;
  }
}

function bearerIn(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

function ticketOf(query: unknown): string | undefined {
  if (typeof query !== "object" || query === null || !("ticket" in query)) return undefined;
  return String(query.ticket);
}
