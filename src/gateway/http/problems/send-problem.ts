import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { ERROR_CODES } from "../../../base/protocol/index.ts";
import { PROBLEM_TYPE, problemOf, RETRY_AFTER_S, toFlarewireError } from "./problem.ts";

/** Fields that a handler may have set before it failed and that do not apply to the problem. */
const NOT_FOR_PROBLEMS = ["etag", "content-encoding", "content-length", "last-modified"] as const;

/**
 * Sends an error's problem. Leaves `Allow`, `Retry-After` and `Link` as set, and adds a missing
 * `Retry-After` to 503 and 429. Logs errors with status 500 or 502 to `logOf`; default: the
 * framework's log.
 */
export function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logOf: (request: FastifyRequest) => FastifyBaseLogger = ({ log }) => log,
): FastifyReply {
  const known = toFlarewireError(error);
  const { status } = ERROR_CODES[known.code];
  if (status === 500 || status === 502) {
    logOf(request).error({ err: error, code: known.code, path: pathOf(request.url) }, "request failed");
  }
  for (const field of NOT_FOR_PROBLEMS) reply.removeHeader(field);
  if ((status === 503 || status === 429) && !reply.hasHeader("retry-after")) {
    reply.header("retry-after", String(RETRY_AFTER_S));
  }
  // The response names the upgrade (RFC 9110, 15.5.22).
  if (status === 426) reply.headers({ upgrade: "websocket", connection: "upgrade" });
  // A Buffer, because the framework would add a charset to a string.
  const body = Buffer.from(JSON.stringify(problemOf(known, request.id)));
  return reply.code(status).headers({ "content-type": PROBLEM_TYPE, "cache-control": "no-store" }).send(body);
}

/** Returns the URL without its query, which may hold a secret. */
function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
