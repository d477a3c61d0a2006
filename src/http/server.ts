import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController,
} from "fastify";
import type { Clock } from "../lib/time/clock.ts";
import type { Freshness, SourceInfo } from "../protocol/index.ts";
import { type AccessPolicy, allowAll } from "./access/access.ts";
import { createHostCheck } from "./access/host-check.ts";
import { Refusals } from "./access/refusals.ts";
import { createRequestGuard } from "./access/request-guard.ts";
import { Visitors } from "./access/visitors.ts";
import { createCommonHeaders } from "./common-headers.ts";
import { createOrderHook } from "./connections/answer-in-order.ts";
import { boundClosing } from "./connections/close-connections.ts";
import { boundConnections } from "./connections/connection-bounds.ts";
import type { HeadLike } from "./connections/head-like.ts";
import { addDocumentRoutes } from "./docs/document-routes.ts";
import { addHealthRoutes } from "./health-routes.ts";
import { completeHttpSettings, type HttpSettings } from "./http-settings.ts";
import { readBuiltPages, readBuiltWidget } from "./pages/built-pages.ts";
import { addDashboardRoutes } from "./pages/dashboard-routes.ts";
import { addWidgetRoutes } from "./pages/widget-routes.ts";
import { AllowedMethods } from "./problems/allowed-methods.ts";
import { createClientErrorHandler } from "./problems/client-error.ts";
import { unknownParameter } from "./problems/known-parameters.ts";
import { sendProblem } from "./problems/send-problem.ts";
import { QuickPath } from "./rest/quick-path.ts";
import { addResourceRoutes } from "./rest/resource-routes.ts";

/** What the HTTP side serves, and with what. */
export interface HttpServerOptions {
  readonly head: HeadLike;
  /** How the source fares now; asked at each request. */
  readonly freshness: () => Freshness;
  readonly info: () => SourceInfo;
  readonly clock: Clock;
  /** What is absent has its default. */
  readonly settings?: Partial<HttpSettings>;
  /** Decides who may read, and what; default: everybody, everything. */
  readonly door?: AccessPolicy | undefined;
  /** False once the server is about to stop, or for any other reason wants no more clients: `/readyz` says so. Default: always true. */
  readonly ready?: () => boolean;
  /** Where faults of the server are logged; `false` (default): nowhere. Requests that went well are not logged. */
  readonly logger?: FastifyBaseLogger | false;
  /** Counts what is refused; default: nothing does. */
  readonly refusals?: Refusals | undefined;
  /** Adds further routes, such as the WebSocket's, below the base path. What they throw becomes a problem, and their methods stand in `Allow`. */
  readonly register?: (app: FastifyInstance) => void | Promise<void>;
}

/**
 * The gateway's HTTP server, ready but not listening: the caller listens, and closes. Throws FlarewireError
 * `invalid-setting` when a setting is outside its bound.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const settings = completeHttpSettings(options.settings ?? {});
  const nextId = createRequestIds();
  const common = createCommonHeaders(settings);
  const { clock, door = allowAll } = options;
  const logger = options.logger || undefined;
  const refusals = options.refusals ?? new Refusals(clock);
  const visitors = new Visitors({ settings, door, clock, logger });
  const logOf = ({ id, log }: FastifyRequest) => logger?.child({ reqId: id }) ?? log;
  const app = fastify({
    ...limits(settings),
    // Not as the framework's logger: it would make a child of it for each request, which few ever write to, and time each.
    ...(logger ? { childLoggerFactory: () => logger } : {}),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: typeof settings.trustProxy === "boolean" ? settings.trustProxy : [...settings.trustProxy],
    genReqId: nextId,
    exposeHeadRoutes: false,
    // Its 503 would not be a problem; what still arrives while the server closes is answered as always.
    return503OnClosing: false,
    clientErrorHandler: createClientErrorHandler(options.clock, nextId),
    frameworkErrors: (error, request, reply) => {
      common.apply(request, reply);
      sendProblem(error, request, reply, logOf);
    },
  });
  // A server may ignore expectations that it does not know; refusing them, Node would answer without a body.
  app.server.on("checkExpectation", app.routing);
  boundConnections(app.server, settings, { clock, refusals, isTrusted: visitors.isTrusted });
  app.setErrorHandler((error, request, reply) => {
    refusals.countError(error, request.ip);
    return sendProblem(error, request, reply, logOf);
  });
  limitIdleness(app.server, settings.idleTimeoutMs);
  boundClosing(app, options.clock, settings.closeGraceMs);
  const checkHost = createHostCheck(settings);
  const quick = new QuickPath(app, common.readyFor, checkHost, visitors, options.ready);
  app.addHook(
    "onRequest",
    createOrderHook(({ ip }) => refusals.count("requests-ahead", ip)),
  );
  app.addHook(
    "onRequest",
    createRequestGuard(settings, common, new AllowedMethods(app), checkHost, visitors),
  );
  if (settings.basePath !== "") addHealthRoutes(app, { ready: () => true, ...options });
  await app.register((scope) => addRoutes(scope, options, settings, visitors, quick), {
    prefix: settings.basePath,
  });
  await app.ready();
  return app;
}

/** What is served below the base path, on whatever server; `quick`: of a server of our own. */
export async function addRoutes(
  scope: FastifyInstance,
  options: HttpServerOptions,
  settings: HttpSettings,
  visitors: Visitors,
  quick?: QuickPath,
): Promise<void> {
  const { ready = () => true } = options;
  scope.addHook("onSend", async (request, reply, payload) => {
    const { raw } = request;
    if (typeof payload === "string" || payload instanceof Uint8Array)
      visitors.charge(request, payload.length);
    // Whoever keeps a connection, as HTTP clients do, would otherwise go on asking here, and not where others are welcome.
    if (raw.httpVersionMajor !== 1 || (ready() && reply.raw.shouldKeepAlive)) return;
    // A field that is set by hand takes Node's own word that this is the last answer from it.
    reply.header("connection", reply.getHeader("connection") === "upgrade" ? "upgrade, close" : "close");
  });
  // Not sooner: @fastify/websocket ends the connection of a refused upgrade only once it has seen the request.
  scope.addHook("preValidation", (request, _reply, done) => done(unknownParameter(request)));
  addHealthRoutes(scope, { ...options, ready });
  addResourceRoutes(scope, { ...options, settings, quick });
  addDocumentRoutes(scope, settings);
  const pages = readBuiltPages();
  addDashboardRoutes(scope, settings, pages);
  addWidgetRoutes(scope, settings, pages, readBuiltWidget());
  await options.register?.(scope);
}

function limits(settings: HttpSettings): FastifyHttpOptions<Server> {
  return {
    bodyLimit: settings.bodyLimitBytes,
    requestTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    routerOptions: { maxParamLength: 128 },
    http: {
      maxHeaderSize: settings.headersLimitBytes,
      headersTimeout: settings.requestTimeoutMs,
      requestTimeout: settings.requestTimeoutMs,
      connectionsCheckingInterval: settings.checkIntervalMs,
      // The request guard asks for it, with a better answer.
      requireHostHeader: false,
    },
  };
}

/**
 * Gives a connection its limit with its first request. Not Node's `connectionTimeout`, which gives one to every connection: a WebSocket would never
 * lose that timer again, and each write to it would put the timer, switched off as it is, to the end of Node's list of them.
 */
function limitIdleness(server: Server, idleTimeoutMs: number): void {
  const limit = ({ socket }: IncomingMessage) => {
    // When the connection is kept for another request, Node sets it to its own default.
    if (socket.timeout !== idleTimeoutMs) socket.setTimeout(idleTimeoutMs);
  };
  server.prependListener("request", limit);
  server.prependListener("checkExpectation", limit);
}

/** Ids that no other process and no other run gives: a few random digits, and a count. */
function createRequestIds(): () => string {
  const run = randomBytes(5).toString("hex");
  let count = 0;
  return () => `${run}-${(++count).toString(36)}`;
}
