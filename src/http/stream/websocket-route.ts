import type { IncomingMessage, ServerResponse } from "node:http";
import websocket from "@fastify/websocket";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { createDeflateFraming, type Framing, type Hub, websocketFraming } from "../../hub/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { FlarewireError } from "../../protocol/index.ts";
import { type AccessPolicy, allowAll } from "../access/access.ts";
import { ConnectionLimiter } from "../access/connection-limiter.ts";
import { admitConnection, checkHub, claimantOf, setRetryAfter } from "../connections/admission.ts";
import { AdmissionQueue } from "../connections/admission-queue.ts";
import { ConnectionRegistry } from "../connections/connection-registry.ts";
import { queryNames, STREAM_PARAMETERS } from "../contracts/parameters.ts";
import { streamUpgrades } from "./stream-upgrades.ts";
import { checkHandshake, readStreamQuery, SUBPROTOCOL } from "./websocket-admission.ts";
import { acceptExtensions } from "./websocket-extensions.ts";
import { WebSocketPings } from "./websocket-pings.ts";
import { StreamWebSocket, WebSocketSocket } from "./websocket-socket.ts";

export interface WebSocketLimits {
  readonly maxSockets: number;
  /** Maximum connections of one client, by address (see clientOf). Default 100. */
  readonly maxSocketsPerIp: number;
}

export interface WebSocketOptions {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly limits?: Partial<WebSocketLimits> | undefined;
  /** Slots shared with other transports. Default: an own registry with these `limits`. */
  readonly registry?: ConnectionRegistry | undefined;
  /** Queue of new connections. Default: an own one with the default limits. */
  readonly admissions?: AdmissionQueue | undefined;
  /** Decides who may connect and what to follow. Default: everyone may follow everything. */
  readonly policy?: AccessPolicy | undefined;
  /** Origins of pages that may connect; absent or `*`: all. Programs, without one, always may. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Whether clients that offer compression get it. Default true. */
  readonly compression?: boolean | undefined;
  /** Added before the path, after the instance's own prefix. Default: none. */
  readonly basePath?: string | undefined;
}

/** How long a closed connection may stay open. The hub's own grace is shorter. */
const CLOSE_TIMEOUT_MS = 10_000;

/** Options of `ws` that the plugin passes on, although neither declares them. */
const untypedOptions: object = {
  WebSocket: StreamWebSocket,
  closeTimeout: CLOSE_TIMEOUT_MS,
  // It would disconnect clients that send 60 pings at once. See WebSocketSocket.pinged.
  autoPong: false,
};

/** To inflate client messages, which are small, as {@link reduceOffers} accepted. */
const DEFLATE = { zlibInflateOptions: { chunkSize: 4_096 } };

/**
 * Serves `GET /api/v1/stream`. A refused handshake gets an HTTP problem. When the instance closes,
 * connections get `going-away`; call `hub.drain()` before for a graceful end.
 */
export async function registerWebSocket(app: FastifyInstance, options: WebSocketOptions): Promise<void> {
  const { hub, clock, compression = true } = options;
  const path = `${options.basePath ?? ""}/api/v1/stream`;
  const registry =
    options.registry ??
    new ConnectionRegistry(
      new ConnectionLimiter(options.limits?.maxSockets ?? 10_000, options.limits?.maxSocketsPerIp ?? 100),
    );
  const admissions = options.admissions ?? new AdmissionQueue({ hub, clock });
  const pings = new WebSocketPings(clock);
  const deflateFraming = createDeflateFraming(hub.counters);
  const responses = new WeakMap<IncomingMessage, ServerResponse>();
  app.server.on("connection", () => hub.turn.noteArrival());
  const upgrades: object = { server: streamUpgrades(app, `${app.prefix}${path}`) };
  // In its own context, because the plugin wraps every route that it sees.
  await app.register(async (scope) => {
    await scope.register(websocket, {
      errorHandler: () => {
        // Each socket has its own listener; without this one, the plugin would log and disconnect.
      },
      preClose: async () => {
        pings.stop();
        await hub.close();
      },
      options: {
        ...untypedOptions,
        ...upgrades,
        maxPayload: hub.limits.inboundBytes,
        perMessageDeflate: compression && DEFLATE,
        clientTracking: false,
        handleProtocols: () => SUBPROTOCOL,
      },
    });
    scope.route({
      method: "GET",
      exposeHeadRoute: false,
      url: path,
      config: { parameters: queryNames(STREAM_PARAMETERS), channels: [] },
      preValidation: async (request, reply) => {
        await admit(request, reply, { ...options, admissions, registry });
        responses.set(request.raw, reply.raw);
      },
      handler: async (_request, reply) => {
        reply.headers({ upgrade: "websocket", connection: "upgrade" });
        throw new FlarewireError(
          "upgrade-required",
          "this URL serves WebSocket only; send an upgrade request",
        );
      },
      wsHandler: (socket, request) =>
        connect(socket, request, { hub, pings, registry, deflateFraming, responses }),
    });
  });
}

async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  options: WebSocketOptions & { readonly admissions: AdmissionQueue; readonly registry: ConnectionRegistry },
): Promise<void> {
  if (!request.ws) return;
  const { hub, allowedOrigins, policy = allowAll, compression = true, admissions, registry } = options;
  try {
    checkHandshake(request.raw, allowedOrigins);
    if (compression) reduceOffers(request);
    const by = await claimantOf(policy, request);
    // Wait first, because everything decided earlier may have changed by then.
    await admissions.admit({ by, socket: request.raw.socket, isUpgraded: true }, async () => {
      const access = await policy.admitStream(request, reply);
      const query = readStreamQuery(request.query, access);
      checkHub(hub);
      if (query.mirror) hub.checkMirror(access);
      await admitConnection({ registry, audit: policy.audit }, request, reply, access);
    });
  } catch (error) {
    if (error instanceof FlarewireError) explain(reply, error);
    throw error;
  }
}

/** Reduces the offers to the accepted one: `ws` refuses a handshake with an unmet one. */
function reduceOffers({ raw: { headers } }: FastifyRequest): void {
  const offered = headers["sec-websocket-extensions"];
  if (offered === undefined) return;
  const accepted = acceptExtensions(offered);
  if (accepted === undefined) delete headers["sec-websocket-extensions"];
  else headers["sec-websocket-extensions"] = accepted;
}

function explain(reply: FastifyReply, { code }: FlarewireError): void {
  setRetryAfter(reply, code);
  // RFC 9110, 15.5.22: the response names the upgrade; RFC 6455, 4.4: and its version.
  if (code === "upgrade-required") {
    reply.headers({ upgrade: "websocket", connection: "upgrade", "sec-websocket-version": "13" });
  }
}

/**
 * Releases the handshake's response, request and reply, which the socket and the plugin's listener
 * would hold for its lifetime: more than the connection itself.
 */
function closeGradually(ws: WebSocket, { raw }: FastifyRequest, response: ServerResponse | undefined): void {
  const { socket } = raw;
  response?.detachSocket(socket);
  // It is the only listener yet. Removing it by name would leave a larger table behind.
  ws.removeAllListeners();
  // A list that once was longer reserves room for eighteen more; a new one does not.
  const [, ...others] = socket.rawListeners("close");
  for (const listener of others) socket.off("close", listener);
  for (const listener of others) socket.on("close", listener);
}

interface Parts {
  readonly hub: Hub;
  readonly pings: WebSocketPings;
  readonly registry: ConnectionRegistry;
  /** For connections that negotiated compression. */
  readonly deflateFraming: Framing;
  /** Responses of accepted handshakes, by request. */
  readonly responses: WeakMap<IncomingMessage, ServerResponse>;
}

function connect(ws: WebSocket, request: FastifyRequest, parts: Parts): void {
  const { hub, pings, registry, deflateFraming, responses } = parts;
  const { socket: raw } = request.raw;
  const slot = registry.slotOf(raw);
  // Not reachable without a slot; the client's access would be unknown.
  if (!slot || !(ws instanceof StreamWebSocket)) {
    ws.terminate();
    return;
  }
  const socket = new WebSocketSocket(ws, raw);
  const framing = ws.extensions === "" ? websocketFraming : deflateFraming;
  const session = hub.connect(socket, framing, readStreamQuery(request.query, slot.access), slot.access);
  closeGradually(ws, request, responses.get(request.raw));
  socket.attach(session, pings);
  slot.taken(session);
}
