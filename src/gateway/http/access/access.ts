import type { FastifyReply, FastifyRequest } from "fastify";
import {
  FlarewireError,
  matchChannels,
  permittedChannels,
  type Rights,
} from "../../../base/protocol/index.ts";
import type { KeyGrant } from "../../keys/key-file.ts";
import { hideSecrets, holdsKeyOrToken } from "../../keys/secret.ts";
import type { IssuedTicket } from "../../keys/ticket-table.ts";
import type { Audit } from "../connections/audit.ts";
import type { Use } from "./request-limit.ts";

/** Access that a request is granted. A connection keeps it for its lifetime. */
export interface Access extends Rights {
  /** The key or token of the request. */
  readonly key?: Omit<KeyGrant, "plan"> | undefined;
  /** The ticket of the request. It is redeemed when the connection is admitted. */
  readonly ticket?: string | undefined;
}

/** Access of a request without credentials: no `Authorization` and, for a stream, no ticket. */
export interface Anonymous {
  readonly access: Access;
  /** Response fields that {@link AccessPolicy.admit} would set. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface AccessPolicy {
  /** The server has keys, so responses differ by client. */
  readonly isKeyed: boolean;
  /** Logs admissions and refusals. Default: they are not logged. */
  readonly audit?: Audit | undefined;
  /** `undefined`: a request without credentials is refused. */
  readonly anonymous: Anonymous | undefined;
  /**
   * Verifies the request's token; returns `undefined` if it has none. Call it before the other
   * methods. Never rejects.
   */
  verify(request: FastifyRequest): Promise<void> | undefined;
  /** Returns the id of the request's valid key, given directly or by a ticket. Counts nothing. */
  keyIdOf(request: FastifyRequest): string | undefined | Promise<string | undefined>;
  /** Returns the id of the valid key in `Authorization`. */
  keyIdIn(authorization: string): string | undefined;
  /**
   * Counts a request, returns its access and sets response fields. Throws `unauthorized`,
   * `rate-limited`, `forbidden` for the route's channels, or `not-ready` while the token issuer's
   * keys are not available. Ignores a ticket.
   */
  admit(request: FastifyRequest, reply: FastifyReply): Access;
  /**
   * Like `admit`, for a stream, which may send a ticket. {@link ConnectionRegistry.admit} redeems
   * it.
   */
  admitStream(request: FastifyRequest, reply: FastifyReply): Promise<Access>;
  /** Returns the use of the rate of the access's key; `undefined` if it has none. */
  useOf(access: Access): Use | undefined;
  /** Returns text that identifies the access's holder, for storage; `undefined` without a key. */
  holderOf(access: Access): string | undefined;
  /**
   * Returns whether a holder would still be admitted to routes of these channels; `undefined` while
   * the token issuer's keys are not available.
   */
  isAdmitted(holder: string | undefined, channels: readonly string[]): boolean | undefined;
  /**
   * Issues a ticket for the request's key. Rejects like `admit`; also with `unauthorized` for a
   * request without a key, `not-found` if the server has no keys, and `rate-limited` or
   * `over-capacity` at a limit of tickets.
   */
  issueTicket(request: FastifyRequest, reply: FastifyReply): Promise<IssuedTicket>;
}

/** `WWW-Authenticate` of status 401. */
export const CHALLENGE = 'Bearer realm="flarewire"';

/** Names of query parameters in which clients often send keys by mistake. */
const KEY_PARAMETERS: readonly string[] = ["key", "api_key", "apikey", "access_token"];

/**
 * Returns an error if the query contains a key or a parameter that is named like one, because
 * proxies and browsers store URLs.
 */
export function keyInUrl(query: object): FlarewireError | undefined {
  for (const [name, value] of Object.entries(query)) {
    if (!KEY_PARAMETERS.includes(name) && ![name, value].flat().some((text) => holdsKeyOrToken(String(text))))
      continue;
    const field = hideSecrets(name).slice(0, 64);
    const message = `${field} contains a key, and others can read a URL; send the key as "Authorization: Bearer KEY", or, if you cannot, send ?ticket= with a ticket from POST /api/v1/tickets. Revoke this key: anyone who saw the URL has it`;
    return new FlarewireError("invalid-parameter", message, { field, bound: "left out" });
  }
  return undefined;
}

const OPEN: Access = { plan: undefined };

export const allowAll: AccessPolicy = {
  isKeyed: false,
  anonymous: { access: OPEN, fields: {} },
  verify: () => undefined,
  keyIdOf: () => undefined,
  keyIdIn: () => undefined,
  admit: () => OPEN,
  admitStream: async () => OPEN,
  useOf: () => undefined,
  holderOf: () => undefined,
  isAdmitted: () => true,
  async issueTicket() {
    throw new FlarewireError("not-found", "this server has no keys; connect without a ticket");
  },
};

/** Reason for refusing a ticket. It does not reveal which cause applies. */
export const TICKET_GONE =
  "invalid ticket: unknown, used, expired, or its key was revoked; get a new one for each connection";

/** Throws `forbidden` if a limited key lacks a channel of its plan that the route serves. */
export function checkRoute({ routeOptions, query, params }: FastifyRequest, rights: Rights): void {
  const { channels = ["*", "candles"] } = routeOptions.config.contract ?? {};
  requireChannels(rights, typeof channels === "function" ? channels(query, params) : channels);
}

/** Throws `forbidden` if a limited key lacks a channel of its plan that matches these patterns. */
export function requireChannels(rights: Rights, patterns: readonly string[]): void {
  if (!rights.channels || mayRead(patterns, rights)) return;
  const needed = patterns.flatMap(matchChannels);
  const bound = permittedChannels(rights).join(", ");
  const message = `this resource contains the channels ${needed.join(", ")}, but the key is limited to ${bound}; follow these at /api/v1/events`;
  throw new FlarewireError("forbidden", message, { field: "Authorization", bound });
}

/**
 * Returns whether the rights include all of the served channels that belong to their plan. If
 * channels are served, at least one must belong to it.
 */
export function mayRead(served: readonly string[], rights: Rights): boolean {
  const needed = served.flatMap(matchChannels);
  const ofPlan = permittedChannels({ plan: rights.plan }).filter((channel) => needed.includes(channel));
  const permitted = permittedChannels(rights);
  return needed.length === 0 || (ofPlan.length > 0 && ofPlan.every((channel) => permitted.includes(channel)));
}
