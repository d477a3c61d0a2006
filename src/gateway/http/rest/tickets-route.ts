import type { FastifyInstance } from "fastify";
import type { AccessPolicy } from "../access/access.ts";
import { checkOrigin } from "../connections/admission.ts";
import { TICKETS_ENDPOINT } from "../endpoints.ts";
import type { WebSocketOptions } from "../stream/websocket-route.ts";
import type { TicketResponse } from "./responses.ts";

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
      url: TICKETS_ENDPOINT.path,
      config: { parameters: [], channels: [] },
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
