import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";

const NOTHING = Buffer.alloc(0);

/**
 * Detaches a request's connection from Node's HTTP, so that an endless response does not hold three
 * times the memory of a WebSocket.
 *
 * Node has an event for this but no call: before `connect`, as before `upgrade`, it frees the
 * parser, removes its listeners from the socket, and drops its timeouts. It checks the kind of
 * request after each chunk of input. So this marks the request as one, and passes an empty chunk to
 * the parser.
 *
 * Returns true if the socket is the caller's. It does not flow, and nothing handles its errors or
 * its end. The response can still write to it and must be detached.
 *
 * Returns false if nothing has changed: the client sent another request behind this one, or the
 * connection is not Node's own HTTP/1.
 */
export function leaveHttp(request: IncomingMessage): boolean {
  const { socket, method } = request;
  // The server of this connection; an app can have several. Node looks for it here too.
  const server: unknown = Reflect.get(socket, "server");
  const canLeave =
    request.complete &&
    request.httpVersionMajor === 1 &&
    server instanceof EventEmitter &&
    server.listenerCount("connect") === 0 &&
    socket.listenerCount("data") === 1;
  if (!canLeave) return false;
  let hasLeft = false;
  const take = (left: IncomingMessage) => {
    hasLeft = left === request;
  };
  server.once("connect", take);
  Object.assign(request, { method: "CONNECT", upgrade: true });
  try {
    socket.emit("data", NOTHING);
  } finally {
    Object.assign(request, { method, upgrade: false });
    server.off("connect", take);
  }
  return hasLeft;
}
