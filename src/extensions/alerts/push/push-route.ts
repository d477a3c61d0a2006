import type { FastifyInstance } from "fastify";
import { FlarewireError } from "../../../base/protocol/index.ts";
import {
  type AccessPolicy,
  checkOrigin,
  clientOf,
  type WebSocketOptions,
} from "../../../gateway/http/index.ts";

/** Only the dashboard uses this path. It is not part of the API. */
const PUSH_PATH = "/push";
/** A client that may read these channels may subscribe. */
export const PUSH_CHANNELS: readonly string[] = ["flares.*"];
/**
 * Maximum body: enough for a subscription with the maximum number of rules and tokens of a page.
 */
const MAX_BYTES = 65_536;
/** Checking a large subscription takes as much of the processor as this many small responses. */
const SUBSCRIPTION_COST = 8;

interface PushSubscriptions {
  readonly publicKey: string;
  subscribe(body: unknown, client: string, holder: string | undefined): Promise<void>;
  unsubscribe(endpoint: string): Promise<void>;
}

interface PushRouteOptions extends Pick<WebSocketOptions, "allowedOrigins"> {
  /** `undefined`: the setting `push` is off. */
  readonly push?: PushSubscriptions | undefined;
  readonly policy: AccessPolicy;
}

/**
 * Adds `/push`. GET returns the server's public key, or `null` if push is off. PUT creates or
 * replaces a subscription, and DELETE removes one.
 */
export function registerPush(app: FastifyInstance, { push, policy, allowedOrigins }: PushRouteOptions): void {
  // Larger bodies only where subscriptions exist.
  const limit = push ? { bodyLimitBytes: MAX_BYTES } : {};
  const shared = {
    url: PUSH_PATH,
    ...(push ? { bodyLimit: MAX_BYTES } : {}),
    config: { contract: { query: {} }, ...limit },
  };
  app.route({
    ...shared,
    method: "GET",
    handler: (_request, reply) =>
      reply.header("cache-control", "no-store").send({ public_key: push?.publicKey ?? null }),
  });
  app.route({
    ...shared,
    config: { contract: { query: {}, channels: PUSH_CHANNELS, cost: SUBSCRIPTION_COST }, ...limit },
    method: "PUT",
    handler: async (request, reply) => {
      checkOrigin(request.headers.origin, allowedOrigins);
      const holder = policy.holderOf(policy.admit(request, reply));
      await offered(push).subscribe(request.body, clientOf(request.ip), holder);
      return reply.code(204).send();
    },
  });
  app.route({
    ...shared,
    method: "DELETE",
    handler: async (request, reply) => {
      checkOrigin(request.headers.origin, allowedOrigins);
      await offered(push).unsubscribe(endpointIn(request.body));
      return reply.code(204).send();
    },
  });
}

function offered(push: PushSubscriptions | undefined): PushSubscriptions {
  if (push) return push;
  throw new FlarewireError("not-found", "this server does not push alerts; its setting push is off");
}

function endpointIn(body: unknown): string {
  if (typeof body === "object" && body !== null && "endpoint" in body && typeof body.endpoint === "string")
    return body.endpoint;
  throw new FlarewireError("invalid-parameter", "endpoint must be a string", { field: "endpoint" });
}
