import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { FlarewireError } from "../../../base/protocol/index.ts";
import { type Access, type AccessPolicy, allowAll } from "../access/access.ts";
import { admitConnection, claimantOf, setRetryAfter } from "../connections/admission.ts";
import type { AdmissionQueue } from "../connections/admission-queue.ts";
import type { ConnectionRegistry } from "../connections/connection-registry.ts";
import { checkHandshake } from "./websocket-admission.ts";
import type { WebSocketPings } from "./websocket-pings.ts";
import { type SocketSession, StreamWebSocket, WebSocketSocket } from "./websocket-socket.ts";

/* Turns a handshake into a connection, in the same way for every kind of WebSocket. */

export interface UpgradeContext {
  readonly pings: WebSocketPings;
  readonly registry: ConnectionRegistry;
  readonly admissions: AdmissionQueue;
  readonly policy?: AccessPolicy | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Responses of accepted handshakes, by request. */
  readonly responses: WeakMap<IncomingMessage, ServerResponse>;
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
  const { allowedOrigins, policy = allowAll, admissions, registry, responses } = context;
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
  responses.set(request.raw, reply.raw);
}

/** Opens an admitted connection. `begin` returns the session that the socket notifies. */
export function openConnection(
  ws: WebSocket,
  request: FastifyRequest,
  { pings, registry, responses }: UpgradeContext,
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
  releaseHandshake(ws, request, responses.get(request.raw));
  socket.attach(session, pings);
  slot.attach(session);
}

/** Refuses requests without an upgrade at a WebSocket path. */
export async function requireUpgrade(): Promise<never> {
  throw new FlarewireError("upgrade-required", "this URL serves WebSocket only; send an upgrade request");
}

/**
 * Releases the handshake's response, request and reply. The socket and the plugin's listener would
 * hold them while the connection is open, and they take more memory than the connection itself.
 */
function releaseHandshake(
  ws: WebSocket,
  { raw }: FastifyRequest,
  response: ServerResponse | undefined,
): void {
  const { socket } = raw;
  response?.detachSocket(socket);
  // Only the plugin's listener is there yet. It would hold the request and the reply.
  ws.removeAllListeners();
  // The socket's list of `close` listeners was longer, and V8 keeps its capacity: twenty places for
  // two listeners. Removing and adding them again creates a shorter list.
  const [, ...others] = socket.rawListeners("close");
  for (const listener of others) socket.off("close", listener);
  for (const listener of others) socket.on("close", listener);
}
