import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { ERROR_CODES, type ErrorCode, FlarewireError } from "../../../base/protocol/index.ts";
import { ignore } from "../connections/intake.ts";
import { isResponding } from "../connections/node-internals.ts";
import { PROBLEM_TYPE, problemOf } from "./problem.ts";

/** How long a refused connection may keep sending: a reset would discard the response. */
const LINGER_MS = 500;

/** Parser errors with a status of their own. All others are malformed requests. */
const CODE_BY_PARSER_ERROR: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "request-timeout",
  HPE_HEADER_OVERFLOW: "headers-too-large",
};

const DETAILS: Readonly<Partial<Record<ErrorCode, string>>> = {
  "request-timeout": "the request did not arrive completely in time",
  "headers-too-large": "the request line and the header fields together are too large",
};

/** Answers an invalid request with a problem, unless a response is in progress, and closes. */
export function createClientErrorHandler(
  clock: Clock,
  nextId: () => string,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (socket.destroyed || !socket.writable) return;
    if (error.code === "ECONNRESET") return void socket.destroy();
    // Data that the response writes in this turn reaches the socket at the end of the turn.
    if (isResponding(socket)) return void setImmediate(() => socket.destroySoon());
    const code = CODE_BY_PARSER_ERROR[error.code ?? ""] ?? "invalid-request";
    socket.end(rawProblem(new FlarewireError(code, DETAILS[code] ?? ERROR_CODES[code].meaning), nextId()));
    destroyAfter(LINGER_MS, socket, clock);
  };
}

/** Destroys the socket unless it closes in time. A client that keeps sending gets no more time. */
export function destroyAfter(ms: number, socket: Socket, clock: Clock): void {
  // A destroyed socket may already have emitted `close`: waiting for it would delay an exit.
  if (socket.destroyed) return;
  const closed = new AbortController();
  socket.once("close", () => closed.abort());
  clock.sleep(ms, closed.signal).then(() => socket.destroy(), ignore);
}

/** Formats the complete response to request `id`; `fields`: further header lines. */
export function rawProblem(error: FlarewireError, id: string, fields: readonly string[] = []): string {
  const { status } = ERROR_CODES[error.code];
  const body = JSON.stringify(problemOf(error, id));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    ...fields,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}
