import { EventEmitter } from "node:events";
import { IncomingMessage, type Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";

/* All uses of undocumented parts of Node and ws. Each falls back to documented behavior. */

const NOTHING = Buffer.alloc(0);
/** Node does not close a connection whose response is not finished. */
const UNFINISHED = { finished: false };

const CHECKS = {
  head: canSetHead,
  handle: () => "_handle" in new Socket(),
  response: () => {
    const socket = new Socket();
    const response = new ServerResponse(new IncomingMessage(socket));
    response.assignSocket(socket);
    return Reflect.get(socket, "_httpMessage") === response;
  },
  extensions: () => "_extensions" in Reflect.construct(WebSocket, [null, undefined, {}]),
};

/** Returns the names of the {@link CHECKS} that fail in this version of Node or ws. */
export function missingInternals(): readonly string[] {
  return Object.entries(CHECKS).flatMap(([name, isPresent]) => (isPresent() ? [] : [name]));
}

function canSetHead(): boolean {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  return hasNoHead(response) && setHead(response, "HTTP/1.1 200 OK\r\n\r\n") && response.headersSent;
}

/** Whether {@link setHead} applies to this response: it is new, and stores its head as expected. */
export function hasNoHead(response: ServerResponse): boolean {
  return Reflect.get(response, "_header") === null;
}

/**
 * Stores the text of a response's head where Node's `writeHead` would, without checking each field
 * again: the checks take a third of the total time.
 */
export function setHead(response: ServerResponse, head: string): boolean {
  return Reflect.set(response, "_header", head);
}

/**
 * Returns how many bytes of the current write the kernel has not taken; `undefined` if unknown.
 * Node reads this for `setTimeout`. `writableLength` counts a write in full until it is done.
 */
export function unsentBytes(raw: Duplex): number | undefined {
  const bytes = partOf(partOf(raw, "_handle"), "writeQueueSize");
  return typeof bytes === "number" ? bytes : undefined;
}

/** Whether a response on this connection has begun and is not finished. */
export function isResponding(socket: Socket): boolean {
  return partOf(partOf(socket, "_httpMessage"), "headersSent") === true;
}

/** Whether a response on this connection, begun or not, is not finished. */
export function hasResponse(socket: Duplex): boolean {
  return Boolean(partOf(socket, "_httpMessage"));
}

/** Detaches the response of a handshake, which the connection would hold while it is open. */
export function detachResponse(socket: Socket): void {
  const response = partOf(socket, "_httpMessage");
  if (response instanceof ServerResponse) response.detachSocket(socket);
}

/** Closes idle connections, but not `spared` ones, whose first request may be on its way. */
export function closeIdleConnections(server: Server, spared: Iterable<Socket>): void {
  const held = [...spared].filter((socket) => !hasResponse(socket));
  for (const socket of held) Reflect.set(socket, "_httpMessage", UNFINISHED);
  server.closeIdleConnections();
  for (const socket of held) Reflect.set(socket, "_httpMessage", null);
}

/**
 * Releases the 15 KiB inflater that `ws` holds until a connection ends. Call it after a complete
 * message: without context takeover, the next one needs nothing from it.
 */
export function releaseInflater(socket: WebSocket): void {
  const deflate = partOf(partOf(socket, "_extensions"), "permessage-deflate");
  const cleanup = partOf(deflate, "cleanup");
  if (typeof cleanup === "function") cleanup.call(deflate);
}

/**
 * Detaches a request's connection from Node's HTTP, which would hold three times the memory of a
 * WebSocket. Node has no call for that, but before it emits `connect`, it frees the parser, its
 * listeners and timeouts. So this marks the request as a CONNECT, and passes an empty chunk to the
 * parser.
 *
 * Returns true if the caller now owns the socket, which is paused and has no listeners for errors
 * or its end. Returns false, without a change, if the request is incomplete, if another one
 * follows, or if the connection is not Node's HTTP/1.
 */
export function leaveHttp(request: IncomingMessage): boolean {
  const { socket, method } = request;
  // The server of this connection, because an app can have several. Node reads it here too.
  const server = partOf(socket, "server");
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

function partOf(object: unknown, name: string): unknown {
  return typeof object === "object" && object !== null ? Reflect.get(object, name) : undefined;
}
