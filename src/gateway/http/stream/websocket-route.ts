import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import websocket from "@fastify/websocket";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { createDeflateFraming, type Hub, websocketFraming } from "../../hub/index.ts";
import type { AccessPolicy } from "../access/access.ts";
import { checkHub } from "../connections/admission.ts";
import { AdmissionQueue } from "../connections/admission-queue.ts";
import type { ConnectionRegistry } from "../connections/connection-registry.ts";
import { hasResponse } from "../connections/node-internals.ts";
import { STREAM_PATH } from "../contract/paths.ts";
import type { RouteContract } from "../contract/route-contract.ts";
import { pathOf } from "../problems/allowed-methods.ts";
import { readStreamQuery, STREAM_QUERY } from "./stream-query.ts";
import { SUBPROTOCOL, UPGRADE_PROBLEMS } from "./websocket-admission.ts";
import { admitUpgrade, openConnection, requireUpgrade, type UpgradeContext } from "./websocket-connection.ts";
import { reduceOffers } from "./websocket-extensions.ts";
import { WebSocketPings } from "./websocket-pings.ts";
import { StreamWebSocket } from "./websocket-socket.ts";

export interface WebSocketOptions {
  readonly hub: Hub;
  readonly clock: Clock;
  /** Counts open connections for the limits. All transports share it. */
  readonly registry: ConnectionRegistry;
  /** Queue of new connections. Default: a new one with the default limits. */
  readonly admissions?: AdmissionQueue | undefined;
  /** Grants access. Default: everyone may follow everything. */
  readonly policy?: AccessPolicy | undefined;
  /**
   * Origins of pages that may connect; absent or `*`: all. Requests without `Origin` are always
   * allowed.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Whether clients that offer compression get it. Default true. */
  readonly compression?: boolean | undefined;
  /** Further WebSockets. Default: none. */
  readonly sockets?: readonly SocketRoute[] | undefined;
}

/** A WebSocket beside the stream, under the same limits. */
export interface SocketRoute {
  /** Relative to the base path. */
  readonly path: string;
  /** Adds the route. Its handshakes pass `admitUpgrade`, its connections `openConnection`. */
  add(scope: FastifyInstance, context: UpgradeContext & { readonly hub: Hub }): void;
  /** Called when the server closes, before the hub disconnects its clients. */
  stop(): void;
}

/** How long `ws` waits for the closing handshake. The hub ends its own sessions sooner. */
const CLOSE_TIMEOUT_MS = 10_000;

/** Options of `ws` that the plugin passes on. The types of `ws` lack `closeTimeout`. */
const untypedOptions: object = {
  WebSocket: StreamWebSocket,
  closeTimeout: CLOSE_TIMEOUT_MS,
  // If true, `ws` terminates a client that sends a ping while 60 pongs to it are still unsent. See
  // WebSocketSocket.pinged.
  autoPong: false,
};

/**
 * For inflating client messages, which are small. {@link reduceOffers} settles the other
 * parameters.
 */
const DEFLATE_OPTIONS = { zlibInflateOptions: { chunkSize: 4_096 } };

export const STREAM_ROUTE: RouteContract<typeof STREAM_QUERY> = {
  name: "stream",
  path: STREAM_PATH,
  method: "GET",
  tag: "events",
  summary: "The WebSocket: events after a snapshot or after a cursor.",
  description:
    "Messages and close codes are in `/asyncapi.json`. The subprotocol is `flarewire.v1`; offering none means the same.",
  query: STREAM_QUERY,
  channels: [],
  responses: {
    101: {
      description: "The connection becomes a WebSocket; the server first sends `hello`.",
      headers: ["Upgrade"],
    },
  },
  problems: UPGRADE_PROBLEMS,
};

/**
 * Serves `GET /api/v1/stream` and the further WebSockets. A refused handshake gets an HTTP error.
 * When the instance closes, streams get `going-away`; for a graceful end, call `hub.drain()` first.
 */
export async function registerWebSocket(app: FastifyInstance, options: WebSocketOptions): Promise<void> {
  const { hub, clock, compression = true, sockets = [] } = options;
  const admissions = options.admissions ?? new AdmissionQueue({ hub, clock });
  const pings = new WebSocketPings(clock);
  const context = { ...options, admissions, pings };
  const deflateFraming = createDeflateFraming(hub.counters);
  app.server.on("connection", () => hub.turn.noteArrival());
  const paths = [STREAM_ROUTE, ...sockets].map(({ path }) => `${app.prefix}${path}`);
  const upgrades: object = { server: streamUpgrades(app, paths) };
  // In its own context, because the plugin wraps every route that it sees.
  await app.register(async (scope) => {
    await scope.register(websocket, {
      preClose: async () => {
        pings.stop();
        for (const socket of sockets) socket.stop();
        await hub.close();
      },
      options: {
        ...untypedOptions,
        ...upgrades,
        maxPayload: hub.limits.inboundBytes,
        perMessageDeflate: compression && DEFLATE_OPTIONS,
        clientTracking: false,
        handleProtocols: () => SUBPROTOCOL,
      },
    });
    // Writes the handshake's answer and the first messages in one system call.
    scope.websocketServer.on("headers", (_fields, { socket }) => {
      socket.cork();
      process.nextTick(() => socket.uncork());
    });
    scope.route({
      method: "GET",
      exposeHeadRoute: false,
      url: STREAM_ROUTE.path,
      config: { contract: STREAM_ROUTE },
      preValidation: async (request, reply) => {
        if (compression) replaceOffers(request);
        await admitUpgrade(request, reply, context, (access) => {
          const query = readStreamQuery(request.query, access);
          checkHub(hub);
          if (query.mirror) hub.checkMirror(access);
        });
      },
      handler: requireUpgrade,
      wsHandler: (ws, request) =>
        openConnection(ws, request, context, (socket, access) => {
          const framing = ws.extensions === "" ? websocketFraming : deflateFraming;
          return hub.connect(socket, framing, readStreamQuery(request.query, access), access);
        }),
    });
    for (const socket of sockets) socket.add(scope, context);
  });
}

/** Leaves only the accepted offer: `ws` would also accept context takeover. */
function replaceOffers({ raw: { headers } }: FastifyRequest): void {
  const offered = headers["sec-websocket-extensions"];
  if (offered === undefined) return;
  const accepted = reduceOffers(offered);
  if (accepted === undefined) delete headers["sec-websocket-extensions"];
  else headers["sec-websocket-extensions"] = accepted;
}

/**
 * Returns an emitter of the WebSocket handshakes at `paths`. Leaves all other upgrades, such as
 * `h2c`, which Java's client requests, to HTTP or to other listeners. Node before 24.9 cannot leave
 * them to HTTP: with an `upgrade` listener, it takes every request with an `Upgrade` field out of
 * HTTP. On those versions, the emitter also emits the upgrade requests that no other listener would
 * answer.
 *
 * A handshake whose method is not GET, or that arrives before the end of the previous response, is
 * left to HTTP. If Node has already taken it out of HTTP, its connection is destroyed, because
 * nothing else would close it.
 */
export function streamUpgrades(app: FastifyInstance, paths: readonly string[]): EventEmitter {
  const { server } = app;
  const upgrades = new EventEmitter();
  const isWebSocket = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === "websocket";
  const isStream = (request: IncomingMessage) =>
    request.method === "GET" && isWebSocket(request) && paths.includes(pathOf(request.url ?? ""));
  const isOnlyListener = () => server.listenerCount("upgrade") === 1;
  const previous: unknown = Reflect.get(server, "shouldUpgradeCallback");
  const shouldUpgradeCallback = (request: IncomingMessage) =>
    (isStream(request) && !hasResponse(request.socket)) ||
    (!isOnlyListener() && (typeof previous !== "function" || previous.call(server, request)));
  Object.assign(server, { shouldUpgradeCallback });
  server.on("upgrade", (request, socket, head) => {
    // Without another listener, any request that Node took out of HTTP must be answered here.
    if (!isStream(request) && !isOnlyListener()) return;
    if (hasResponse(socket) || (isWebSocket(request) && request.method !== "GET")) socket.destroy();
    else upgrades.emit("upgrade", request, socket, head);
  });
  return upgrades;
}
