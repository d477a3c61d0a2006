import { EventEmitter } from "node:events";
import { IncomingMessage, type Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";

/*
 * All uses of undocumented parts of Node and ws. Each checks what it finds and falls back to
 * documented behavior, which is slower or needs more memory.
 */

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

/** Names the parts that this version of Node or ws lacks. Checked when a server starts. */
export function missingInternals(): readonly string[] {
  return Object.entries(CHECKS).flatMap(([name, isThere]) => (isThere() ? [] : [name]));
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
 * Sets the text of a response's head. Node's `writeHead` checks each field of each response again,
 * which for twenty fields takes a third of the total time. This stores the text that it would
 * produce where it would store it.
 */
export function setHead(response: ServerResponse, head: string): boolean {
  return Reflect.set(response, "_header", head);
}

/**
 * Returns the bytes of the current write that the kernel has not taken yet. `writableLength` counts
 * the write completely until it is done, so a slow reader of a large snapshot would look frozen.
 * Node uses this number for `setTimeout`. If it is missing, returns `undefined`: then only complete
 * writes count as progress.
 */
export function unsentBytes(raw: Duplex): number | undefined {
  const bytes = partOf(partOf(raw, "_handle"), "writeQueueSize");
  return typeof bytes === "number" ? bytes : undefined;
}

/** Whether a response on this connection has begun and is not finished. */
export function isResponding(socket: Socket): boolean {
  return partOf(partOf(socket, "_httpMessage"), "headersSent") === true;
}

/** Closes connections between requests, but not `spared` ones, whose first may be on its way. */
export function closeIdleConnections(server: Server, spared: Iterable<Socket>): void {
  const held = [...spared].filter((socket) => !partOf(socket, "_httpMessage"));
  for (const socket of held) Reflect.set(socket, "_httpMessage", UNFINISHED);
  server.closeIdleConnections();
  for (const socket of held) Reflect.set(socket, "_httpMessage", null);
}

/**
 * Releases the inflater of a client message: about 15 KiB that `ws` would hold until the connection
 * ends. Without context takeover nothing of it is needed, and most clients send few messages. Call
 * it after a complete message.
 */
export function releaseInflater(socket: WebSocket): void {
  const deflate = partOf(partOf(socket, "_extensions"), "permessage-deflate");
  const cleanup = partOf(deflate, "cleanup");
  if (typeof cleanup === "function") cleanup.call(deflate);
}

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
