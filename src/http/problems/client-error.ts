import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../lib/time/clock.ts";
import { ERROR_CODES, type ErrorCode, FlarewireError } from "../../protocol/index.ts";
import { PROBLEM_TYPE, problemOf } from "./problem.ts";

/** How long a refused connection may go on sending before it is cut: cut at once, it would lose the answer to a reset. */
const LINGER_MS = 500;

/** The parser's errors that have a status of their own; all others are malformed requests. */
const CODE_BY_PARSER_ERROR: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "request-timeout",
  HPE_HEADER_OVERFLOW: "headers-too-large",
};

const DETAILS: Readonly<Partial<Record<ErrorCode, string>>> = {
  "request-timeout": "the request was not whole when its time was up",
  "headers-too-large": "the request line and the header fields together are too large",
};

/**
 * Answers bytes that are no request, for which there is neither a request nor a response object: writes the problem straight to the
 * socket and ends it. Where an answer is already on its way the socket is only closed behind what is written of it.
 */
export function createClientErrorHandler(
  clock: Clock,
  nextId: () => string,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (socket.destroyed || !socket.writable) return;
    if (error.code === "ECONNRESET") return void socket.destroy();
    // What the answer wrote in this turn of the event loop reaches the socket at its end.
    if (answerIsOnItsWay(socket)) return void setImmediate(() => socket.destroySoon());
    const code = CODE_BY_PARSER_ERROR[error.code ?? ""] ?? "invalid-request";
    socket.end(rawProblem(new FlarewireError(code, DETAILS[code] ?? ERROR_CODES[code].meaning), nextId()));
    const closed = new AbortController();
    socket.once("close", () => closed.abort());
    clock.sleep(LINGER_MS, closed.signal).then(
      () => socket.destroy(),
      () => {},
    );
  };
}

/** The whole response as bytes of HTTP/1.1, behind which the connection is to end; `id` is the request's. `fields`: further header fields, as lines. */
export function rawProblem(failure: FlarewireError, id: string, fields: readonly string[] = []): string {
  const { status } = ERROR_CODES[failure.code];
  const body = JSON.stringify(problemOf(failure, id));
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

/** Node keeps the response being written under this name; it tells of it in no other way. */
function answerIsOnItsWay(socket: Socket): boolean {
  const response: unknown = Reflect.get(socket, "_httpMessage");
  return (
    typeof response === "object" &&
    response !== null &&
    "headersSent" in response &&
    response.headersSent === true
  );
}
