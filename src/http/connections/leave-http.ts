import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";

const NOTHING = Buffer.alloc(0);

/**
 * Has Node's HTTP let go of the connection on which a request came that is still to be answered, so that an answer without end does not hold three times
 * what a WebSocket does. There is no call for that, but an event: before `connect`, as before `upgrade`, Node gives back the parser, takes its listeners off the socket,
 * and forgets its time limits. It looks whether a request is of that kind behind each piece that came in; so this one is made one, and an empty piece given to the parser.
 *
 * True: the socket is the caller's. It does not flow, and nobody looks at its errors or its end. The response can still write to it, and has to be detached. False: nothing
 * has changed, and nothing is wrong: the client sent another request behind this one, or this is no HTTP/1 of Node's own.
 */
export function leaveHttp(request: IncomingMessage): boolean {
  const { socket, method } = request;
  // The one that the connection came in by: an app can have several. Node looks for it there too.
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
