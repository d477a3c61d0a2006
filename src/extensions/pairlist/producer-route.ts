import type { FastifyInstance, FastifyRequest } from "fastify";
import { allowAll } from "../../gateway/http/access/access.ts";
import { checkHub } from "../../gateway/http/connections/admission.ts";
import { PRODUCER_PATH } from "../../gateway/http/endpoints.ts";
import { PRODUCER_PARAMETERS, queryNames } from "../../gateway/http/parameters.ts";
import {
  admitUpgrade,
  openConnection,
  requireUpgrade,
  type UpgradeParts,
} from "../../gateway/http/stream/websocket-connection.ts";
import type { Hub } from "../../gateway/hub/index.ts";
import type { Consumers } from "./consumers.ts";
import { channelsOfQuery, checkPlan, readPairQuery } from "./pair-query.ts";

/**
 * Serves the WebSocket of a freqtrade producer, so that a stock `external_message_consumer` gets
 * each change of the pairs immediately. Sends only the list of pairs, never candles.
 */
export function addProducerRoute(
  scope: FastifyInstance,
  consumers: Consumers,
  { hub, ...parts }: UpgradeParts & { readonly hub: Hub },
): void {
  const { policy = allowAll } = parts;
  scope.route({
    method: "GET",
    exposeHeadRoute: false,
    url: PRODUCER_PATH,
    config: { parameters: queryNames(PRODUCER_PARAMETERS), keyParameter: "token", channels: channelsOfQuery },
    preValidation: async (request, reply) => {
      // Compression would save little: messages are small and rare.
      delete request.headers["sec-websocket-extensions"];
      if (policy.isKeyed) useToken(request);
      await admitUpgrade(request, reply, parts, ({ plan }) => {
        checkPlan(readPairQuery(request.query), plan);
        checkHub(hub);
      });
    },
    handler: requireUpgrade,
    wsHandler: (ws, request) =>
      openConnection(ws, request, parts, (socket) => consumers.connect(socket, readPairQuery(request.query))),
  });
}

/** Accepts the key from the URL, the only place where freqtrade can send it. */
function useToken({ headers, query }: FastifyRequest): void {
  const { token }: { readonly token?: unknown } = Object(query);
  if (typeof token === "string" && token !== "") headers.authorization ??= `Bearer ${token}`;
}
