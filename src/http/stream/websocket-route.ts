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
import { ConnectionRegistry, type SlotAllocator } from "../connections/connection-registry.ts";
import { queryNames, STREAM_PARAMETERS } from "../contracts/parameters.ts";
import { streamUpgrades } from "./stream-upgrades.ts";
import { checkHandshake, readStreamQuery, SUBPROTOCOL } from "./websocket-admission.ts";
import { acceptExtensions } from "./websocket-extensions.ts";
import { WebSocketPings } from "./websocket-pings.ts";
import { StreamWebSocket, WebSocketSocket } from "./websocket-socket.ts";

/** How many connections are taken. */
export interface WebSocketLimits {
  /** Connections in all; default 10,000. */
  readonly maxSockets: number;
  /** Connections of one client, by the address that Fastify's `request.ip` tells (see clientOf); default 100. */
  readonly maxSocketsPerIp: number;
}

/** What the stream is served with. */
export interface WebSocketOptions {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly limits?: Partial<WebSocketLimits> | undefined;
  /** The places that other transports give too; default: places of its own, as many as `limits` says. */
  readonly places?: SlotAllocator | undefined;
  /** In which those wait who come; default: one of its own, with the default limits. */
  readonly admissions?: AdmissionQueue | undefined;
  /** Decides who may connect, and what to follow; default: everybody, everything. */
  readonly door?: AccessPolicy | undefined;
  /** Origins of pages that may connect, such as `https://example.com`; all when left out, or with `*`. Programs, which send no origin, always may. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Whether clients that offer to have messages compressed get it; default true. */
  readonly compression?: boolean | undefined;
  /** Put before the path, in addition to the instance's own prefix; default none. */
  readonly basePath?: string | undefined;
}

/** How long a connection that either side has closed may stay open; the hub's grace, which is shorter, is for those that it closed. */
const CLOSE_TIMEOUT_MS = 10_000;

/** Options of `ws` that the plugin passes on, and that the types of neither let through. */
const untypedOptions: object = {
  WebSocket: StreamWebSocket,
  closeTimeout: CLOSE_TIMEOUT_MS,
  // It would cut off whoever sends 60 pings at once. See WebSocketSocket.pinged.
  autoPong: false,
};

/** What `ws` does of compression: it inflates what clients send, which is small. How, the offer says that {@link settleExtensions} leaves. */
const DEFLATE = { zlibInflateOptions: { chunkSize: 4_096 } };

/**
 * Serves the stream on `GET /api/v1/stream`. What cannot become a connection is refused in HTTP, by a FlarewireError that the
 * instance's error handler has to turn into a problem. When the instance closes, connections that are still there are told
 * `going-away`; a graceful end is `hub.drain()` before.
 */
export async function registerWebSocket(app: FastifyInstance, options: WebSocketOptions): Promise<void> {
  const { hub, clock, compression = true } = options;
  const path = `${options.basePath ?? ""}/api/v1/stream`;
  const places =
    options.places ??
    new ConnectionRegistry(
      new ConnectionLimiter(options.limits?.maxSockets ?? 10_000, options.limits?.maxSocketsPerIp ?? 100),
    );
  const admissions = options.admissions ?? new AdmissionQueue({ hub, clock });
  const pings = new WebSocketPings(clock);
  const deflateFraming = createDeflateFraming(hub.counters);
  const responses = new WeakMap<IncomingMessage, ServerResponse>();
  app.server.on("connection", () => hub.turn.noteArrival());
  const upgrades: object = { server: streamUpgrades(app, `${app.prefix}${path}`) };
  // In a context of its own: the plugin wraps every route that it sees, and this is the only one that needs it.
  await app.register(async (scope) => {
    await scope.register(websocket, {
      errorHandler: () => {
        // Each socket has its own listener; without this one the plugin would log and cut.
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
      config: { parameters: queryNames(STREAM_PARAMETERS) },
      preValidation: async (request, reply) => {
        await admit(request, reply, { ...options, admissions, places });
        responses.set(request.raw, reply.raw);
      },
      handler: async (_request, reply) => {
        reply.headers({ upgrade: "websocket", connection: "upgrade" });
        throw new FlarewireError(
          "upgrade-required",
          "this address speaks WebSocket; ask for it with an upgrade",
        );
      },
      wsHandler: (socket, request) =>
        connect(socket, request, { hub, pings, places, deflateFraming, responses }),
    });
  });
}

async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  options: WebSocketOptions & { readonly admissions: AdmissionQueue; readonly places: SlotAllocator },
): Promise<void> {
  if (!request.ws) return;
  const { hub, allowedOrigins, door = allowAll, compression = true, admissions, places } = options;
  try {
    checkHandshake(request.raw, allowedOrigins);
    if (compression) settleExtensions(request);
    const by = await claimantOf(door, request);
    // Before anything is decided that may be otherwise when its turn has come.
    await admissions.admit({ by, socket: request.raw.socket, isUpgraded: true }, async () => {
      const access = await door.admitStream(request, reply);
      const query = readStreamQuery(request.query, access.plan);
      checkHub(hub);
      if (query.mirror) hub.checkMirror(access.plan);
      await admitConnection(places, request, reply, access);
    });
  } catch (error) {
    if (error instanceof FlarewireError) explain(reply, error);
    throw error;
  }
}

/** Leaves of the client's offers the one that is accepted, as it is: `ws` refuses a handshake of whose offers it can meet none. */
function settleExtensions({ raw: { headers } }: FastifyRequest): void {
  const offered = headers["sec-websocket-extensions"];
  if (offered === undefined) return;
  const accepted = acceptExtensions(offered);
  if (accepted === undefined) delete headers["sec-websocket-extensions"];
  else headers["sec-websocket-extensions"] = accepted;
}

function explain(reply: FastifyReply, { code }: FlarewireError): void {
  setRetryAfter(reply, code);
  // RFC 9110, 15.5.22: this status says what to upgrade to; RFC 6455, 4.4: and in which version.
  if (code === "upgrade-required") {
    reply.headers({ upgrade: "websocket", connection: "upgrade", "sec-websocket-version": "13" });
  }
}

/**
 * Lets go of the handshake: of what it held, the socket would hold on to the response, and the plugin's listener, which does nothing here, to the request and the reply,
 * for as long as the connection lasts; together they are larger than the connection itself.
 */
function closeGradually(ws: WebSocket, { raw }: FastifyRequest, response: ServerResponse | undefined): void {
  const { socket } = raw;
  response?.detachSocket(socket);
  // It is the only one yet. Taken off by name, it would leave a larger table behind.
  ws.removeAllListeners();
  // A list that once was longer keeps room for eighteen more; of the two that are left, a new one has none.
  const [, ...others] = socket.rawListeners("close");
  for (const listener of others) socket.off("close", listener);
  for (const listener of others) socket.on("close", listener);
}

interface Parts {
  readonly hub: Hub;
  readonly pings: WebSocketPings;
  readonly places: SlotAllocator;
  /** For connections that negotiated compression. */
  readonly deflateFraming: Framing;
  /** Of the handshakes that were let pass, by their requests. */
  readonly responses: WeakMap<IncomingMessage, ServerResponse>;
}

function connect(ws: WebSocket, request: FastifyRequest, parts: Parts): void {
  const { hub, pings, places, deflateFraming, responses } = parts;
  const { socket: raw } = request.raw;
  const place = places.slotOf(raw);
  // Nobody comes this far without; what it may have would not be known.
  if (!place || !(ws instanceof StreamWebSocket)) {
    ws.terminate();
    return;
  }
  const { plan } = place.access;
  const socket = new WebSocketSocket(ws, raw);
  const framing = ws.extensions === "" ? websocketFraming : deflateFraming;
  const session = hub.connect(socket, framing, readStreamQuery(request.query, plan), plan);
  closeGradually(ws, request, responses.get(request.raw));
  socket.attach(session, pings);
  place.taken(session);
}
