import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";

/**
 * Emits, as `upgrade`, the requests of the app's server for a WebSocket at `path`. Every other upgrade is left to the server's other listeners, and
 * where there are none to HTTP, as if it had not been asked for: Java's client, for one, offers `h2c` with its first request
 * anywhere, and with an upgrade listener present Node would take such a request out of HTTP. Node before 24.9 does so still.
 */
export function streamUpgrades(app: FastifyInstance, path: string): EventEmitter {
  const { server } = app;
  const upgrades = new EventEmitter();
  const isStream = ({ headers, url = "" }: IncomingMessage) =>
    headers.upgrade?.toLowerCase() === "websocket" && pathOf(url) === path;
  const isOnly = () => server.listenerCount("upgrade") === 1;
  const before: unknown = Reflect.get(server, "shouldUpgradeCallback");
  const shouldUpgradeCallback = (request: IncomingMessage) =>
    isStream(request) || (!isOnly() && (typeof before !== "function" || before.call(server, request)));
  Object.assign(server, { shouldUpgradeCallback });
  server.on("upgrade", (request, socket, head) => {
    // What nobody else would answer is answered all the same.
    if (isStream(request) || isOnly()) upgrades.emit("upgrade", request, socket, head);
  });
  return upgrades;
}

/** The path of a request's target as the router reads it: in absolute form too (RFC 9112, 3.2.2), and percent-encoded where it need not be. */
function pathOf(target: string): string | undefined {
  const [path = ""] = target.replace(/^https?:\/\/[^/?]*/i, "").split("?", 1);
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}
