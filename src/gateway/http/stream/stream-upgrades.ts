import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { hasResponse } from "../connections/node-internals.ts";
import { pathOf } from "../problems/allowed-methods.ts";

/**
 * Returns an emitter of the WebSocket handshakes at `paths`. Leaves all other upgrades, such as
 * `h2c`, which Java's client requests, to HTTP or to other listeners. Node before 24.9 cannot leave
 * them to HTTP: with an `upgrade` listener, it takes every request with an `Upgrade` field out of
 * HTTP. On those versions, the emitter also emits the upgrade requests that no other listener would
 * answer.
 *
 * A handshake whose method is not GET, or that arrives before the end of the previous response, is
 * left to HTTP. If Node has already taken it out of HTTP, its connection is destroyed, because
 * nothing else would close it.
 */
export function streamUpgrades(app: FastifyInstance, paths: readonly string[]): EventEmitter {
  const { server } = app;
  const upgrades = new EventEmitter();
  const isWebSocket = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === "websocket";
  const isStream = (request: IncomingMessage) =>
    request.method === "GET" && isWebSocket(request) && paths.includes(pathOf(request.url ?? ""));
  const isOnlyListener = () => server.listenerCount("upgrade") === 1;
  const previous: unknown = Reflect.get(server, "shouldUpgradeCallback");
  const shouldUpgradeCallback = (request: IncomingMessage) =>
    (isStream(request) && !hasResponse(request.socket)) ||
    (!isOnlyListener() && (typeof previous !== "function" || previous.call(server, request)));
  Object.assign(server, { shouldUpgradeCallback });
  server.on("upgrade", (request, socket, head) => {
    // Without another listener, any request that Node took out of HTTP must be answered here.
    if (!isStream(request) && !isOnlyListener()) return;
    if (hasResponse(socket) || (isWebSocket(request) && request.method !== "GET")) socket.destroy();
    else upgrades.emit("upgrade", request, socket, head);
  });
  return upgrades;
}
