import type { FastifyInstance } from "fastify";
import type { AccessPolicy } from "../access/access.ts";
import { checkOrigin } from "../connections/admission.ts";
import { KEY_HEADERS } from "../contract/response-headers.ts";
import type { RouteContract } from "../contract/route-contract.ts";
import type { WebSocketOptions } from "../stream/websocket-route.ts";
import { TicketResponse } from "./responses.ts";

export const TICKETS_ROUTE: RouteContract = {
  name: "tickets",
  path: "/api/v1/tickets",
  method: "POST",
  tag: "events",
  summary: "Creates a ticket, which opens one connection with the rights of a key.",
  description:
    "For an `EventSource` or a browser's `WebSocket`, which cannot send the key: `?ticket=` opens one stream.",
  query: {},
  channels: [],
  responses: {
    201: {
      description: "The ticket.",
      headers: ["Cache-Control", ...KEY_HEADERS],
      content: {
        "application/json": {
          schema: TicketResponse,
          example: {
            ticket: "0123456789abcdef0123456789abcdef",
            expires_at: "2026-11-21T08:01:01.000Z",
          } satisfies TicketResponse,
        },
      },
    },
  },
  problems: [
    ...(["invalid-parameter", "unauthorized", "origin-refused"] as const),
    ...(["not-found", "over-capacity", "not-ready"] as const),
  ],
};

/** Serves `POST /api/v1/tickets`: tickets for connections that cannot send header fields. */
export async function registerTickets(
  app: FastifyInstance,
  { policy, allowedOrigins }: Pick<WebSocketOptions, "allowedOrigins"> & { readonly policy: AccessPolicy },
): Promise<void> {
  await app.register(async (scope) => {
    // No body is expected; a body of any type is ignored.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _body, done) => done(null, undefined));
    scope.route({
      method: "POST",
      url: TICKETS_ROUTE.path,
      config: { contract: TICKETS_ROUTE },
      handler: async (request, reply) => {
        checkOrigin(request.headers.origin, allowedOrigins);
        const { text, expiresAtMs } = await policy.issueTicket(request, reply);
        const body: TicketResponse = { ticket: text, expires_at: new Date(expiresAtMs).toISOString() };
        // Text, because hooks and serializers of a host would change an object.
        reply
          .code(201)
          .headers({ "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
        return reply.send(JSON.stringify(body));
      },
    });
  });
}
