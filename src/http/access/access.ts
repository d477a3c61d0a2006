import type { FastifyReply, FastifyRequest } from "fastify";
import { hideSecrets, holdsKey, type IssuedTicket } from "../../keys/index.ts";
import { FlarewireError, type Plan } from "../../protocol/index.ts";

/** What a request may have: decided once, and kept by a connection for as long as it lasts. */
export interface Access {
  /** `undefined`: the server knows no keys, and everything is everybody's. */
  readonly plan: Plan | undefined;
  /** The key in whose name it came; `connections`: how many that may have. */
  readonly key?: { readonly id: string; readonly connections: number } | undefined;
  /** The ticket that it came with, which is spent when the connection is seated. */
  readonly ticket?: string | undefined;
}

/** What a request has that brings nothing to decide on: no query, no `Authorization`. */
export interface Stranger {
  readonly access: Access;
  /** What {@link AccessPolicy.admit} puts on the answer. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Where it is decided who may have what. */
export interface AccessPolicy {
  /** Answers differ by who asks. */
  readonly isKeyed: boolean;
  /** `undefined`: such a request is refused. */
  readonly stranger: Stranger | undefined;
  /** The id of the valid key that the request brings, itself or by a ticket; counts and refuses nothing. */
  keyIdOf(request: FastifyRequest): string | undefined | Promise<string | undefined>;
  /** The same of the key in `Authorization`. */
  keyIdIn(authorization: string): string | undefined;
  /**
   * What the request may have; puts on the answer what tells of it. Throws FlarewireError `unauthorized` or `rate-limited`.
   */
  admit(request: FastifyRequest, reply: FastifyReply): Access;
  /** As `admit`, for a connection, which may come with a ticket instead of a key. It is not spent yet: see {@link SlotAllocator.seat}. */
  admitStream(request: FastifyRequest, reply: FastifyReply): Promise<Access>;
  /** A ticket in the name of the key that the request came with. Rejects with FlarewireError as `admit` throws, and where there can be none. */
  issueTicket(request: FastifyRequest, reply: FastifyReply): Promise<IssuedTicket>;
}

/** `WWW-Authenticate` of status 401: how to do better. */
export const CHALLENGE = 'Bearer realm="flarewire"';

/** Names under which people put keys into addresses. */
const KEY_PARAMETERS: readonly string[] = ["key", "api_key", "apikey", "access_token"];

/** The refusal of a key in the address, whether keys are known here or not: proxies log addresses, and browsers keep them. */
export function keyInAddress(query: object): FlarewireError | undefined {
  for (const [name, value] of Object.entries(query)) {
    if (!KEY_PARAMETERS.includes(name) && ![name, value].flat().some((text) => holdsKey(String(text))))
      continue;
    const field = hideSecrets(name).slice(0, 64);
    const message = `${field} is in the address, where others can read it; send "Authorization: Bearer KEY", or, where that cannot be, ?ticket= with a ticket from POST /api/v1/tickets. Whoever can have seen the address has the key: have it revoked`;
    return new FlarewireError("invalid-parameter", message, { field, bound: "left out" });
  }
  return undefined;
}

const OPEN: Access = { plan: undefined };

/** The door of a server without keys. */
export const allowAll: AccessPolicy = {
  isKeyed: false,
  stranger: { access: OPEN, fields: {} },
  keyIdOf: () => undefined,
  keyIdIn: () => undefined,
  admit() {
    return OPEN;
  },
  async admitStream() {
    return OPEN;
  },
  async issueTicket() {
    throw new FlarewireError("not-found", "this server knows no keys; connect without a ticket");
  },
};
