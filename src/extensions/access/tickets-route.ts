import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { Timestamp } from "../../base/model/index.ts";
import {
  type AccessPolicy,
  checkOrigin,
  KEY_HEADERS,
  type RouteContract,
  TICKETS_PATH,
} from "../../gateway/http/index.ts";

const TicketResponse = z
  .object({
    ticket: z.string(),
    expires_at: Timestamp.describe("The ticket is invalid from this time on; at most 60 seconds ahead."),
  })
  .describe("`POST /api/v1/tickets`: a ticket that opens one connection, as `?ticket=`.");
type TicketResponse = z.infer<typeof TicketResponse>;

export const TICKETS_ROUTE: RouteContract = {
  name: "tickets",
  path: TICKETS_PATH,
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
    "invalid-parameter",
    "unauthorized",
    "origin-refused",
    "not-found",
    "over-capacity",
    "not-ready",
  ],
};

/** Serves `POST /api/v1/tickets`: tickets for connections that cannot send header fields. */
export async function addTicketsRoute(
  app: FastifyInstance,
  {
    policy,
    allowedOrigins,
  }: {
    readonly policy: AccessPolicy;
    readonly allowedOrigins?: readonly string[] | undefined;
  },
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
