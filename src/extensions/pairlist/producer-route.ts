import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import {
  admitUpgrade,
  allowAll,
  checkHub,
  openConnection,
  type RouteContract,
  requireUpgrade,
  UPGRADE_PROBLEMS,
  type UpgradeContext,
} from "../../gateway/http/index.ts";
import type { Hub } from "../../gateway/hub/index.ts";
import type { Consumers } from "./consumers.ts";
import { channelsOfQuery, checkPlan, PAIR_QUERY, readPairQuery } from "./pair-query.ts";

export const PRODUCER_ROUTE: RouteContract = {
  name: "producer",
  // freqtrade sets the path.
  path: "/api/v1/message/ws",
  method: "GET",
  tag: "events",
  summary: "The WebSocket of a freqtrade producer: the pairs, at every change.",
  description:
    'For freqtrade\'s `external_message_consumer`. A client sends `{"type":"subscribe","data":["whitelist"]}` for the pairs at every change, and `{"type":"whitelist"}` for the current pairs. They arrive as `{"type":"whitelist","data":["BTC/USDT"]}`; if there are none, as `["NONE/NONE"]`.',
  query: {
    token: {
      schema: z.string(),
      description: "The key, if the server requires one. It is in the URL, because freqtrade sends it there.",
      example: "KEY",
    },
    ...PAIR_QUERY,
  },
  keyParameter: "token",
  channels: channelsOfQuery,
  responses: {
    101: {
      description: "The connection becomes a WebSocket; the server waits for requests.",
      headers: ["Upgrade"],
    },
  },
  problems: UPGRADE_PROBLEMS,
};

/**
 * Serves the WebSocket of a freqtrade producer, so that a stock `external_message_consumer` gets
 * each change of the pairs immediately. Sends only the list of pairs, never candles.
 */
export function addProducerRoute(
  scope: FastifyInstance,
  consumers: Consumers,
  { hub, ...dependencies }: UpgradeContext & { readonly hub: Hub },
): void {
  const { policy = allowAll } = dependencies;
  scope.route({
    method: "GET",
    exposeHeadRoute: false,
    url: PRODUCER_ROUTE.path,
    config: { contract: PRODUCER_ROUTE },
    preValidation: async (request, reply) => {
      // Compression would save little: messages are small and rare.
      delete request.headers["sec-websocket-extensions"];
      if (policy.isKeyed) useToken(request);
      await admitUpgrade(request, reply, dependencies, ({ plan }) => {
        checkPlan(readPairQuery(request.query), plan);
        checkHub(hub);
      });
    },
    handler: requireUpgrade,
    wsHandler: (ws, request) =>
      openConnection(ws, request, dependencies, (socket) =>
        consumers.connect(socket, readPairQuery(request.query)),
      ),
  });
}

/** Accepts the key from the URL, the only place where freqtrade can send it. */
function useToken({ headers, query }: FastifyRequest): void {
  const { token }: { readonly token?: unknown } = Object(query);
  if (typeof token === "string" && token !== "") headers.authorization ??= `Bearer ${token}`;
}
