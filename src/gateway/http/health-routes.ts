import type { FastifyInstance, FastifyReply } from "fastify";
import type { z } from "zod";
import { VERSION } from "../../base/lib/version.ts";
import { FlarewireError, type Freshness } from "../../base/protocol/index.ts";
import { MARKET } from "./contract/example-market.ts";
import { HEALTH_PATH, READY_PATH } from "./contract/paths.ts";
import { FRESHNESS_HEADERS, type HeaderName } from "./contract/response-headers.ts";
import type { RouteContract } from "./contract/route-contract.ts";
import { noDataYet, setFreshness } from "./rest/freshness-fields.ts";
import { HealthResponse, ReadyResponse } from "./rest/responses.ts";
import type { HttpServerOptions } from "./server.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Exempt from the request limit: a supervisor would take a refusal for a failure. */
    isHealthCheck?: true;
  }
}

interface HealthContext
  extends Pick<HttpServerOptions, "head" | "freshness" | "lag" | "info" | "isStaleReady" | "clock"> {
  /** Returns false once the server is about to stop; `/readyz` then fails. */
  readonly ready: () => boolean;
}

function probe(
  text: Pick<RouteContract, "name" | "path" | "summary" | "problems">,
  body: { readonly schema: z.ZodType; readonly example: unknown },
  headers: readonly HeaderName[] = [],
): RouteContract {
  return {
    ...text,
    method: "GET",
    tag: "probes",
    description: "With a base path, also served at the root.",
    responses: {
      200: {
        description: text.summary,
        headers: ["Cache-Control", ...headers],
        content: { "application/json": body },
      },
    },
  };
}

export const HEALTH_ROUTE = probe(
  { name: "healthz", path: HEALTH_PATH, summary: "Whether the process is running.", problems: [] },
  {
    schema: HealthResponse,
    example: { status: "ok", version: "0.1.0", uptime_s: 61 } satisfies HealthResponse,
  },
);

export const READY_ROUTE = probe(
  {
    name: "readyz",
    path: READY_PATH,
    summary: "Whether fresh data is served.",
    problems: ["not-ready", "draining"],
  },
  { schema: ReadyResponse, example: { status: "ready", ...MARKET.freshness } satisfies ReadyResponse },
  FRESHNESS_HEADERS,
);

/**
 * Adds `/healthz`, always 200, and `/readyz`, 200 while fresh data is served and 503 otherwise.
 * With `isStaleReady`, stale data is enough.
 */
export function addHealthRoutes(scope: FastifyInstance, context: HealthContext): void {
  const startedAt = context.clock.monotonic();
  add(scope, HEALTH_ROUTE, () => {
    const uptime_s = Math.floor((context.clock.monotonic() - startedAt) / 1_000);
    return { status: "ok", version: VERSION, uptime_s } satisfies HealthResponse;
  });
  add(scope, READY_ROUTE, (reply) => {
    const fresh = context.freshness();
    setFreshness(reply, fresh, context.info());
    if (!context.ready()) throw new FlarewireError("draining", "the server is stopping");
    if (fresh.state !== "live" && !context.isStaleReady?.()) {
      throw new FlarewireError("not-ready", reasonOf(fresh), {
        field: "state",
        bound: "live",
        parts: fresh.parts,
      });
    }
    if (!context.head.ready) throw noDataYet(fresh);
    return { status: "ready", ...fresh, ...lagOf(context) } satisfies ReadyResponse;
  });
}

function lagOf({ lag }: HealthContext): Pick<ReadyResponse, "lag"> {
  const rows = (lag?.() ?? []).flatMap(({ stage, part, recentMs }) => {
    if (!recentMs) return [];
    const [p50, p99] = recentMs;
    return { stage, ...(part && { part }), p50_ms: Math.round(p50), p99_ms: Math.round(p99) };
  });
  return rows.length === 0 ? {} : { lag: rows };
}

function add(scope: FastifyInstance, contract: RouteContract, answer: (reply: FastifyReply) => object): void {
  scope.route({
    method: ["GET", "HEAD"],
    url: contract.path,
    config: { contract, isHealthCheck: true },
    handler: (_request, reply) =>
      reply
        .headers({ "content-type": "application/json; charset=utf-8", "cache-control": "no-store" })
        // Text, because hooks and serializers of a host would change an object.
        .send(JSON.stringify(answer(reply))),
  });
}

function reasonOf({ state, reason }: Freshness): string {
  return reason === "" ? `the source is ${state}` : `the source is ${state}: ${reason}`;
}
