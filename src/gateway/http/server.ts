import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController,
} from "fastify";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { Freshness, SourceInfo } from "../../base/protocol/index.ts";
import { type HeadLike, TurnBudget } from "../hub/index.ts";
import type { StageLag } from "../source/feed.ts";
import { type AccessPolicy, allowAll } from "./access/access.ts";
import { createHostCheck } from "./access/host-check.ts";
import { Refusals } from "./access/refusals.ts";
import { type AnswerUnknown, addGuard } from "./access/request-guard.ts";
import { Visitors } from "./access/visitors.ts";
import { createCommonHeaders } from "./common-headers.ts";
import { claimantOf } from "./connections/admission.ts";
import { boundClosing } from "./connections/close-connections.ts";
import { boundConnections } from "./connections/connection-bounds.ts";
import { missingInternals } from "./connections/node-internals.ts";
import { costOf } from "./contract/route-contract.ts";
import { addHealthRoutes } from "./health-routes.ts";
import { completeHttpSettings, type HttpSettings, MAX_PATH_PART } from "./http-settings.ts";
import { createClientErrorHandler } from "./problems/client-error.ts";
import { unknownParameter } from "./problems/known-parameters.ts";
import { sendProblem } from "./problems/send-problem.ts";
import { ResponseCounts } from "./response-counts.ts";
import type { PastStates } from "./rest/past-states.ts";
import { createPreparedRoutes, type PreparedRoute } from "./rest/prepared-routes.ts";
import { QuickPath } from "./rest/quick-path.ts";
import { addResourceRoutes } from "./rest/resource-routes.ts";

export interface HttpServerOptions {
  readonly head: HeadLike;
  /** Returns the state of the source; called at each request. */
  readonly freshness: () => Freshness;
  readonly info: () => SourceInfo;
  readonly clock: Clock;
  readonly settings?: Partial<HttpSettings>;
  /** How far the head lags behind the market, for `/readyz`. Default: not reported. */
  readonly lag?: (() => readonly StageLag[]) | undefined;
  /** Grants access. Default: everyone may read everything. */
  readonly policy?: AccessPolicy | undefined;
  /** Past states. Default: resources have no parameter `at`. */
  readonly past?: PastStates | undefined;
  /** Answers requests for unknown paths before a problem does. Default: a problem answers all. */
  readonly answerUnknown?: AnswerUnknown | undefined;
  /**
   * Returns false when the server accepts no more clients: `/readyz` then fails, and each response
   * closes its connection. Default: always true.
   */
  readonly ready?: () => boolean;
  /** How many accepted connections may be served in a turn. Default: always 4. */
  readonly perTurn?: () => number;
  /**
   * Whether `/readyz` succeeds with stale data. A cluster's nodes become stale at the same time,
   * and a load balancer must not remove all of them. Default: no.
   */
  readonly isStaleReady?: () => boolean;
  /**
   * Logs internal errors and warnings; `false` (default) logs nothing. Successful requests are not
   * logged.
   */
  readonly logger?: FastifyBaseLogger | false;
  /** Counts refusals, for metrics. Default: they are not reported. */
  readonly refusals?: Refusals | undefined;
  /** Counts responses, for metrics. Default: they are not reported. */
  readonly responses?: ResponseCounts | undefined;
  /**
   * Adds routes below the base path. Their errors become problems, and `Allow` lists their methods.
   */
  readonly register?: (scope: RouteScope) => void | Promise<void>;
}

/** Where routes are added below the base path. */
export interface RouteScope {
  readonly app: FastifyInstance;
  readonly settings: HttpSettings;
  readonly visitors: Pick<Visitors, "useOf">;
  /** Adds a route whose body is prepared once per plan and URL. */
  readonly add: (route: PreparedRoute) => void;
}

/** Creates the server. The caller starts and closes it. */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const settings = completeHttpSettings(options.settings ?? {});
  const nextId = createRequestIds();
  const common = createCommonHeaders(settings);
  const { clock, policy = allowAll, responses = new ResponseCounts(), perTurn = () => 4 } = options;
  const logger = options.logger || undefined;
  const missing = missingInternals();
  if (missing.length > 0) logger?.warn({ missing }, "this version of Node or ws needs the slower fallbacks");
  const refusals = options.refusals ?? new Refusals(clock);
  const visitors = new Visitors({ settings, policy, clock, logger });
  const logOf = ({ id, log }: FastifyRequest) => logger?.child({ reqId: id }) ?? log;
  const app = fastify({
    ...limits(settings),
    // Not as the framework's logger, which would create a child logger and a timer per request.
    ...(logger ? { childLoggerFactory: () => logger } : {}),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: typeof settings.trustProxy === "boolean" ? settings.trustProxy : [...settings.trustProxy],
    genReqId: nextId,
    exposeHeadRoutes: false,
    // Fastify's 503 is not a problem document. While closing, requests are answered as usual.
    return503OnClosing: false,
    clientErrorHandler: createClientErrorHandler(options.clock, nextId),
    frameworkErrors: (error, request, reply) => {
      common.apply(request, reply);
      sendProblem(error, request, reply, logOf);
    },
  });
  // A server may ignore unknown expectations. If Node refused them, it would send no body.
  app.server.on("checkExpectation", app.routing);
  const unheard = new Map<Socket, number>();
  const { isTrusted } = visitors;
  boundConnections(app.server, settings, { clock, refusals, isTrusted, perTurn, unheard });
  app.setErrorHandler((error, request, reply) => {
    refusals.note(error, request, policy);
    return sendProblem(error, request, reply, logOf);
  });
  limitIdleness(app.server, settings.idleTimeoutMs);
  boundClosing(app, options.clock, settings.closeGraceMs, unheard);
  const checkHost = createHostCheck(settings);
  const quick = new QuickPath(app, common.readyFor, checkHost, visitors, responses, options.ready);
  responses.watch(app);
  const { answerUnknown } = options;
  addGuard(app, { settings, policy, common, checkHost, visitors, refusals, answerUnknown });
  if (settings.basePath !== "") addHealthRoutes(app, { ready: () => true, ...options });
  await app.register((scope) => addRoutes(scope, options, settings, visitors, quick), {
    prefix: settings.basePath,
  });
  await app.ready();
  return app;
}

/** Adds the routes below the base path, on any server. `quick`: set for our own server only. */
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
    if (reply.statusCode < 400) options.policy?.audit?.answered(request);
    // While not ready, ends kept-alive connections, so that clients find another server. The
    // connection of a refused upgrade ends too, because nothing would read a further request from
    // it.
    const isKept = reply.raw.shouldKeepAlive && raw.headers.upgrade === undefined;
    if (raw.httpVersionMajor !== 1 || (ready() && isKept)) return;
    // A field that is set by hand replaces Node's own announcement that this is the last response.
    reply.header("connection", reply.getHeader("connection") === "upgrade" ? "upgrade, close" : "close");
  });
  // Not earlier: @fastify/websocket closes a refused upgrade only once it has seen the request.
  scope.addHook("preValidation", (request, _reply, done) => done(unknownParameter(request)));
  // Dear requests begin in turns of their own, in which others are served. The hub does the same
  // for those of events.
  const turn = new TurnBudget(() => options.clock.monotonic());
  scope.addHook("preHandler", (request, _reply, done) => {
    const { contract = {} } = request.routeOptions.config;
    const isHubs = "tag" in contract && contract.tag === "events";
    if (isHubs || costOf(contract, request.query) === 1) return done();
    void claimantOf(options.policy ?? allowAll, request).then((by) => turn.run(done, by), done);
  });
  addHealthRoutes(scope, { ...options, ready });
  const add = createPreparedRoutes(scope, { ...options, settings, quick });
  addResourceRoutes(add, options.head);
  await options.register?.({ app: scope, settings, visitors, add });
}

function limits(settings: HttpSettings): FastifyHttpOptions<Server> {
  return {
    bodyLimit: settings.bodyLimitBytes,
    requestTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    routerOptions: { maxParamLength: MAX_PATH_PART },
    http: {
      maxHeaderSize: settings.headersLimitBytes,
      headersTimeout: settings.requestTimeoutMs,
      requestTimeout: settings.requestTimeoutMs,
      connectionsCheckingInterval: settings.checkIntervalMs,
      // The request guard checks it, with a better response.
      requireHostHeader: false,
    },
  };
}

/**
 * Sets a connection's idle timeout at each request. Node's `connectionTimeout` would leave a timer
 * on every WebSocket, which each write would move to the end of Node's list.
 */
function limitIdleness(server: Server, idleTimeoutMs: number): void {
  const limit = ({ socket }: IncomingMessage) => {
    // Node resets it to its own default when the connection is kept for another request.
    if (socket.timeout !== idleTimeoutMs) socket.setTimeout(idleTimeoutMs);
  };
  server.prependListener("request", limit);
  server.prependListener("checkExpectation", limit);
}

/**
 * Returns a function that creates request ids. No other process or run creates the same: each id is
 * the run's random digits and a count.
 */
function createRequestIds(): () => string {
  const run = randomBytes(5).toString("hex");
  let count = 0;
  return () => `${run}-${(++count).toString(36)}`;
}
