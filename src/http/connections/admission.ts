import type { FastifyReply, FastifyRequest } from "fastify";
import type { Claimant, Hub } from "../../hub/index.ts";
import { type ErrorCode, FlarewireError } from "../../protocol/index.ts";
import { type Access, type AccessPolicy, CHALLENGE } from "../access/access.ts";
import { clientOf } from "../access/client-address.ts";
import type { ConnectionHolder } from "../access/connection-limiter.ts";
import { TICKET_GONE } from "../access/key-access-policy.ts";
import { comeBackAfterS } from "../problems/problem.ts";
import type { Refusal, SlotAllocator } from "./connection-registry.ts";

/*
 * What stands before every way to follow events, while a refusal is still an HTTP answer.
 */

/** Most of a client's value that is quoted back. */
const QUOTED = 64;
/** Long enough that it can be hard to guess; no more than RFC 3986's unreserved characters. */
const CLIENT_ID = /^[-.~\w]{8,64}$/;

const REFUSALS = {
  draining: "the server is stopping; another one will take its place",
  "not-ready": "there is no data yet",
} as const;

/** Throws FlarewireError `origin-refused` for a page of an origin that may not connect. Without a list all may. */
export function checkOrigin(origin: string | undefined, allowedOrigins: readonly string[] | undefined): void {
  // Only browsers send one, and only there it means something.
  if (origin === undefined || allowedOrigins === undefined) return;
  if (allowedOrigins.includes("*") || allowedOrigins.includes(origin)) return;
  throw new FlarewireError("origin-refused", `pages of ${quote(origin)} may not connect`, {
    field: "Origin",
  });
}

/** Says when to come back who wanted to follow events, and is refused for want of room, of data, or of time. `random`: from 0 up to 1. */
export function tellWhenToComeBack(reply: FastifyReply, code: ErrorCode, random = Math.random): void {
  if (code === "over-capacity" || code === "draining" || code === "not-ready")
    reply.header("retry-after", comeBackAfterS(random));
}

/** Throws FlarewireError `draining` or `not-ready` while the hub takes nobody. */
export function checkHub({ refusal }: Hub): void {
  if (refusal) throw new FlarewireError(refusal, REFUSALS[refusal]);
}

/** On whose behalf a request waits for its turn: its key, else its address. */
export async function claimantOf(door: AccessPolicy, request: FastifyRequest): Promise<Claimant> {
  const keyId = await door.keyIdOf(request);
  if (keyId !== undefined) return { name: `key ${keyId}`, isKeyed: true };
  return { name: `address ${clientOf(request.ip)}`, isKeyed: false };
}

/** Takes a seat for a request, which `end` is to end early, and resolves with how to give it back; rejects with FlarewireError `over-capacity` where there is none. */
export async function takeSeat(
  places: SlotAllocator,
  { ip }: FastifyRequest,
  { key }: Access,
  end: ConnectionHolder["end"],
): Promise<() => void> {
  const guest: ConnectionHolder = { address: clientOf(ip), key, end };
  mustHaveRoom(await places.sit(guest));
  return () => places.leave(guest);
}

/**
 * Takes a place for what follows on the request's connection, until that ends, in place of the client's connection before, and spends the ticket that it
 * came with. Rejects with FlarewireError `invalid-parameter` with the field, `over-capacity` where there is no seat, or `unauthorized` where the
 * ticket was used meanwhile.
 */
export async function takePlace(
  places: SlotAllocator,
  { query, ip, raw }: FastifyRequest,
  reply: FastifyReply,
  access: Access,
): Promise<void> {
  const client = readClientId(query);
  // Of an end that was told before, nobody would hear, and the place would be taken for ever.
  if (raw.socket.destroyed)
    throw new FlarewireError("over-capacity", "the connection ended before it had a place");
  const refusal = await places.seat(raw.socket, clientOf(ip), client, access);
  if (refusal && refusal.kind !== "full") reply.header("www-authenticate", CHALLENGE);
  mustHaveRoom(refusal);
}

function mustHaveRoom(refusal: Refusal | undefined): void {
  if (refusal === undefined) return;
  if (refusal.kind === "spent") throw new FlarewireError("unauthorized", TICKET_GONE, { field: "ticket" });
  if (refusal.kind === "ended")
    throw new FlarewireError("unauthorized", "the key was just revoked, or its plan lowered; ask again");
  const { bound, reason } = refusal;
  throw new FlarewireError("over-capacity", `as many connections are open as allowed: ${bound}`, {
    bound,
    reason,
  });
}

/** What the client calls itself, the same for each of its connections. Throws FlarewireError `invalid-parameter` with the field. */
export function readClientId(query: unknown): string | undefined {
  const client = typeof query === "object" && query !== null && "client" in query ? query.client : undefined;
  if (client === undefined || (typeof client === "string" && CLIENT_ID.test(client))) return client;
  throw invalid("client", client, "8 to 64 of A-Z, a-z, 0-9, - . _ ~");
}

/** FlarewireError `invalid-parameter` with the field, its value and what it has to be. */
export function invalid(field: string, value: unknown, bound: string): FlarewireError {
  return new FlarewireError("invalid-parameter", `${field} is ${quote(value)}; it has to be ${bound}`, {
    field,
    bound,
  });
}

/** A client's value, cut to a length that can be put into a message. */
export function quote(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(String(value).slice(0, QUOTED));
}
