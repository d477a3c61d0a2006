import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { PLANS, permittedChannels } from "../../base/protocol/index.ts";
import {
  type Access,
  BYTES_PER_REQUEST,
  clientOf,
  FRESHNESS_HEADERS,
  KEY_HEADERS,
  type RouteContract,
  type RouteScope,
  stateFields,
  type Use,
} from "../../gateway/http/index.ts";
import type { ExtensionContext } from "../../gateway/start/index.ts";

const Rate = z.object({ limit: z.int(), used: z.int(), reset_s: z.int() }).nullable();

const MeResponse = z
  .object({
    plan: z.enum(PLANS).nullable().describe("`null`: the server has no keys."),
    key: z
      .object({ id: z.string(), name: z.string().optional(), expires_at: z.string().optional() })
      .nullable(),
    channels: z.array(z.string()),
    requests_per_minute: Rate,
    bytes_per_request: z.int().nullable().describe("More bytes count as further requests."),
    new_streams_per_minute: Rate,
    connections: z.object({ limit: z.int(), used: z.int() }),
    subscriptions: z.int().describe("Limit per connection."),
  })
  .describe(
    "Limits and their use, of the key or else of the address; `null`: none. `connections`: streams and waiting polls. `reset_s`: seconds until none is used.",
  );
type MeResponse = z.infer<typeof MeResponse>;

export const ME_ROUTE: RouteContract = {
  name: "me",
  path: "/api/v1/me",
  method: "GET",
  tag: "resources",
  summary: "Your plan, channels and limits, and how much of them you use.",
  query: {},
  channels: [],
  responses: {
    200: {
      description: "The visitor's access.",
      headers: ["Flarewire-Cursor", "Cache-Control", ...FRESHNESS_HEADERS, ...KEY_HEADERS],
      content: {
        "application/json": {
          schema: MeResponse,
          example: {
            plan: "pro",
            key: { id: "1f0c9a3b", name: "desk" },
            channels: ["flares.pro"],
            requests_per_minute: { limit: 600, used: 3, reset_s: 1 },
            bytes_per_request: null,
            new_streams_per_minute: null,
            connections: { limit: 10, used: 1 },
            subscriptions: 64,
          } satisfies MeResponse,
        },
      },
    },
  },
  problems: ["invalid-parameter", "unauthorized", "not-ready"],
};

type Context = Pick<ExtensionContext, "policy" | "limiter" | "hub" | "head" | "freshness" | "info">;

/** Adds the route, which counts as a request like any other. */
export function addMeRoute({ app, visitors }: Pick<RouteScope, "app" | "visitors">, context: Context): void {
  const { policy, head, freshness, info } = context;
  app.route({
    method: ["GET", "HEAD"],
    url: ME_ROUTE.path,
    config: { contract: ME_ROUTE },
    handler: async (request, reply) => {
      const access = policy.admit(request, reply);
      reply.headers({
        ...stateFields(head.cursor, freshness(), info()),
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-store",
      });
      return reply.send(JSON.stringify(describe(request, access, visitors, context)));
    },
  });
}

function describe(
  { ip }: FastifyRequest,
  access: Access,
  visitors: RouteScope["visitors"],
  { policy, limiter, hub }: Context,
): MeResponse {
  const { plan, key } = access;
  // The limits of addresses do not apply to keys.
  const { requests, streams } = key ? { requests: policy.useOf(access) } : visitors.useOf(ip);
  return {
    plan: plan ?? null,
    key: key ? { id: key.id, name: key.name, expires_at: key.expires_at } : null,
    channels: [...permittedChannels(access)],
    requests_per_minute: shown(requests),
    bytes_per_request: key || !requests ? null : BYTES_PER_REQUEST,
    new_streams_per_minute: shown(streams),
    connections: limiter.useOf({ address: clientOf(ip), key }),
    subscriptions: hub.limits.subscriptions,
  };
}

function shown(use: Use | undefined) {
  return use ? { limit: use.limit, used: use.used, reset_s: Math.ceil(use.resetMs / 1_000) } : null;
}
