import { type FastifyInstance, fastify } from "fastify";
import { z } from "zod";
import { FlarewireError } from "../../base/protocol/index.ts";
import { createHostCheck } from "./access/host-check.ts";
import type { Refusals } from "./access/refusals.ts";
import { METRICS_PATH } from "./contract/paths.ts";
import type { RouteContract } from "./contract/route-contract.ts";
import type { HttpSettings } from "./http-settings.ts";
import { sendProblem } from "./problems/send-problem.ts";

export const METRICS_ROUTE: RouteContract = {
  name: "metrics",
  path: METRICS_PATH,
  method: "GET",
  tag: "probes",
  summary: "The gateway's metrics for Prometheus, unless turned off.",
  responses: {
    200: {
      description: "The metrics.",
      headers: ["Cache-Control"],
      content: { "text/plain": { schema: z.string() } },
    },
  },
  problems: [],
};

/**
 * Maximum connections of the metrics' own server. Prometheus uses one or two, and each takes a file
 * descriptor that clients may need.
 */
export const MAX_METRICS_CONNECTIONS = 32;

/** The text format of Prometheus. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export interface MetricsText {
  /** Returns the current values in the text format. */
  text(): string;
}

/** Serves `GET /metrics` for Prometheus. Never cached. */
export function registerMetrics(app: FastifyInstance, metrics: MetricsText): void {
  app.route({
    method: ["GET", "HEAD"],
    url: METRICS_PATH,
    config: { contract: METRICS_ROUTE },
    handler: async (_request, reply) => {
      reply.headers({ "content-type": METRICS_TYPE, "cache-control": "no-store" });
      return metrics.text();
    },
  });
}

/** Creates a server that has only `/metrics`. The caller starts and closes it. */
export function createMetricsServer(
  settings: Pick<HttpSettings, "host" | "allowedHosts">,
  metrics: MetricsText,
  refusals: Pick<Refusals, "countError">,
): FastifyInstance {
  const app = fastify({ forceCloseConnections: true, exposeHeadRoutes: false, requestTimeout: 10_000 });
  app.server.maxConnections = MAX_METRICS_CONNECTIONS;
  const checkHost = createHostCheck(settings);
  app.addHook("onRequest", (request, _reply, done) => done(checkHost(request.raw)));
  app.setErrorHandler((error, request, reply) => {
    refusals.countError(error, request.ip);
    return sendProblem(error, request, reply);
  });
  app.setNotFoundHandler((request, reply) =>
    sendProblem(new FlarewireError("not-found", `only ${METRICS_PATH} is served here`), request, reply),
  );
  registerMetrics(app, metrics);
  return app;
}
