import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { FlarewireError } from "../../../base/protocol/index.ts";
import { type Access, type AccessPolicy, allowAll } from "../access/access.ts";
import { admitConnection, claimantOf, setRetryAfter } from "../connections/admission.ts";
import type { AdmissionQueue } from "../connections/admission-queue.ts";
import type { ConnectionRegistry } from "../connections/connection-registry.ts";
import { detachResponse } from "../connections/node-internals.ts";
import { checkHandshake } from "./websocket-admission.ts";
import type { WebSocketPings } from "./websocket-pings.ts";
import {
  type EndListener,
  type SocketSession,
  StreamWebSocket,
  WebSocketSocket,
} from "./websocket-socket.ts";

/* Turns a handshake into a connection, in the same way for every kind of WebSocket. */

export interface UpgradeContext {
  readonly pings: WebSocketPings;
  readonly registry: ConnectionRegistry;
  readonly admissions: AdmissionQueue;
  readonly policy?: AccessPolicy | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

/**
 * Admits a handshake, or throws the error that refuses it. `check` throws if the query is invalid,
 * the client has no right to it or the hub is not ready. Ignores requests without an upgrade.
 */
export async function admitUpgrade(
  request: FastifyRequest,
  reply: FastifyReply,
  context: UpgradeContext,
  check: (access: Access) => void,
): Promise<void> {
  if (!request.ws) return;
  const { allowedOrigins, policy = allowAll, admissions, registry } = context;
  try {
    checkHandshake(request.raw, allowedOrigins);
    const by = await claimantOf(policy, request);
    // Decide after the wait in the queue: an earlier decision could be outdated by then.
    await admissions.admit({ by, socket: request.raw.socket, isUpgraded: true }, async () => {
      const access = await policy.admitStream(request, reply);
      check(access);
      await admitConnection({ registry, audit: policy.audit }, request, reply, access);
    });
  } catch (error) {
    if (error instanceof FlarewireError) setRetryAfter(reply, error.code);
    // The response names the supported version (RFC 6455, 4.4).
    if (error instanceof FlarewireError && error.code === "upgrade-required")
      reply.header("sec-websocket-version", "13");
    throw error;
  }
}

/** Opens an admitted connection. `begin` returns the session that the socket notifies. */
export function openConnection(
  ws: WebSocket,
  request: FastifyRequest,
  { pings, registry }: UpgradeContext,
  begin: (socket: WebSocketSocket, access: Access) => SocketSession,
): void {
  const { socket: raw } = request.raw;
  const slot = registry.slotOf(raw);
  // Should not happen: every admitted connection has a slot, which holds the client's access, and
  // `ws` creates sockets of this class.
  if (!slot || !(ws instanceof StreamWebSocket)) {
    ws.terminate();
    return;
  }
  const socket = new WebSocketSocket(ws, raw);
  const session = begin(socket, slot.access);
  // The socket and the plugin's listener would hold the handshake's response, request and reply,
  // which take more memory than the connection itself.
  detachResponse(raw);
  ws.removeAllListeners();
  socket.attach(session, pings, takeEndListeners(raw));
  slot.attach(session);
}

/** Refuses requests without an upgrade at a WebSocket path. */
export async function requireUpgrade(): Promise<never> {
  throw new FlarewireError("upgrade-required", "this URL serves WebSocket only; send an upgrade request");
}

/** The listeners of the last connection. Those of the next are the same functions. */
let shared: readonly EndListener[] = [];

/**
 * Removes the listeners of the socket's end except the last, which is that of `ws`. Node would
 * store several in a list of more than 100 bytes for each connection.
 */
function takeEndListeners(socket: Socket): readonly EndListener[] {
  const taken = socket.listeners("close").slice(0, -1);
  for (const listener of taken) socket.off("close", listener);
  const isShared = taken.length === shared.length && taken.every((one, at) => one === shared[at]);
  if (!isShared) shared = taken;
  return shared;
}
