import type { FastifyReply, FastifyRequest } from "fastify";
import { type ErrorCode, FlarewireError } from "../../../base/protocol/index.ts";
import type { Claimant, Hub } from "../../hub/index.ts";
import { type Access, type AccessPolicy, CHALLENGE, TICKET_GONE } from "../access/access.ts";
import { clientOf } from "../access/client-address.ts";
import type { ConnectionHolder, ReachedLimit } from "../access/connection-limiter.ts";
import { quote } from "../problems/invalid.ts";
import { retryAfterS } from "../problems/problem.ts";
import { noDataYet } from "../rest/freshness-fields.ts";
import { readClientId } from "../stream/stream-query.ts";
import type { Audit } from "./audit.ts";
import type { ConnectionRegistry } from "./connection-registry.ts";

/* Checks before a client may follow events, while a refusal can still be an HTTP response. */

/** Throws `origin-refused` if pages of the origin may not connect. Without a list, all may. */
export function checkOrigin(origin: string | undefined, allowedOrigins: readonly string[] | undefined): void {
  // Only browsers send an origin.
  if (origin === undefined || allowedOrigins === undefined) return;
  if (allowedOrigins.includes("*") || allowedOrigins.includes(origin)) return;
  throw new FlarewireError("origin-refused", `pages of ${quote(origin)} may not connect`, {
    field: "Origin",
  });
}

/** Sets a random `Retry-After`, if none is set, for `over-capacity`, `draining` and `not-ready`. */
export function setRetryAfter(reply: FastifyReply, code: ErrorCode, random = Math.random): void {
  if (reply.hasHeader("retry-after")) return;
  if (code === "over-capacity" || code === "draining" || code === "not-ready")
    reply.header("retry-after", retryAfterS(random));
}

/** Throws FlarewireError `draining` or `not-ready` if the hub accepts no clients. */
export function checkHub(hub: Hub): void {
  const { refusal } = hub;
  if (refusal === "not-ready") throw noDataYet(hub.freshness);
  if (refusal) throw new FlarewireError(refusal, "the server is stopping; connect again soon");
}

/** Returns the claimant for whom a request waits: its valid key, or else its address. */
export async function claimantOf(policy: AccessPolicy, request: FastifyRequest): Promise<Claimant> {
  const keyId = await policy.keyIdOf(request);
  if (keyId !== undefined) return { name: `key ${keyId}`, isKeyed: true };
  return { name: `address ${clientOf(request.ip)}`, isKeyed: false };
}

/**
 * Counts a poll toward the limits of connections. Throws `over-capacity` at a limit. `end`: ends
 * the poll when its key loses rights. Returns a function that releases the slot; call it only once.
 */
export function acquireSlot(
  registry: ConnectionRegistry,
  { ip }: FastifyRequest,
  { key }: Access,
  end: ConnectionHolder["end"],
): () => void {
  const holder: ConnectionHolder = { address: clientOf(ip), key, end };
  const full = registry.limiter.acquire(holder);
  if (full) throw overLimit(full);
  return () => registry.limiter.release(holder);
}

/**
 * Gives a connection a slot until it closes, replaces the client's previous one, redeems the
 * ticket, and logs the admission. Rejects with `invalid-parameter` for the client's id,
 * `over-capacity` at a limit or if the connection has closed, and `unauthorized` if the ticket is
 * no longer valid.
 */
export async function admitConnection(
  { registry, audit }: { readonly registry: ConnectionRegistry; readonly audit?: Audit | undefined },
  request: FastifyRequest,
  reply: FastifyReply,
  access: Access,
): Promise<void> {
  const { query, ip, raw } = request;
  const client = readClientId(query);
  // The close event of a destroyed socket has passed, so its slot would never be released.
  if (raw.socket.destroyed)
    throw new FlarewireError("over-capacity", "the connection closed before it was admitted");
  const refusal = await registry.admit(raw.socket, clientOf(ip), client, access);
  if (refusal === "spent") {
    reply.header("www-authenticate", CHALLENGE);
    throw new FlarewireError("unauthorized", TICKET_GONE, { field: "ticket" });
  }
  if (refusal) throw overLimit(refusal);
  audit?.admitted(request, access);
}

function overLimit({ bound, reason }: ReachedLimit): FlarewireError {
  return new FlarewireError("over-capacity", `too many open connections: ${bound}`, { bound, reason });
}
