import type { FastifyInstance } from "fastify";

/** Relative to the base path; served only if the setting is on. */
export const METRICS_PATH = "/metrics";

export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Serves `GET /metrics` for Prometheus. Never cached. */
export function registerMetrics(app: FastifyInstance, metrics: MetricsText): void {
  app.route({
    method: ["GET", "HEAD"],
    url: METRICS_PATH,
    handler: async (_request, reply) => {
      reply.headers({ "content-type": metrics.contentType, "cache-control": "no-store" });
      return metrics.text();
    },
  });
}
