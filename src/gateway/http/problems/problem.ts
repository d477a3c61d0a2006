import { ERROR_CODES, type ErrorCode, FlarewireError } from "../../../base/protocol/index.ts";
import { hideSecrets } from "../../keys/secret.ts";
import { PROBLEM_TYPE_PREFIX, type Problem } from "../rest/responses.ts";

/** Content type of every problem. It has no charset parameter. */
export const PROBLEM_TYPE = "application/problem+json";

/** `Retry-After` in seconds for lack of readiness or capacity, if nothing better is known. */
export const RETRY_AFTER_S = 5;

/** Minimum random `Retry-After`, and the number of seconds in its range. */
const MIN_STREAM_RETRY_S = 3;
const STREAM_RETRY_SPREAD_S = 10;

/**
 * Returns `Retry-After` for a refused stream, poll or connection: 3 to 12 s at random after
 * `waitMs`, so that thousands do not return at once. `random` returns [0, 1).
 */
export function retryAfterS(random: () => number = Math.random, waitMs = 0): string {
  const seconds = MIN_STREAM_RETRY_S + Math.floor(random() * STREAM_RETRY_SPREAD_S);
  return String(Math.ceil(waitMs / 1_000) + seconds);
}

/** Maximum characters of the framework's message that a problem repeats. */
const MAX_MESSAGE = 200;

/** Codes of the framework's errors by status. All others are malformed requests. */
const CODE_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  404: "not-found",
  405: "method-not-allowed",
  408: "request-timeout",
  413: "content-too-large",
  414: "address-too-long",
  415: "unsupported-media-type",
  431: "headers-too-large",
};

/** Converts an error to its problem; `instance`: the request's id. */
export function problemOf(error: FlarewireError, instance: string): Problem {
  const { status, meaning } = ERROR_CODES[error.code];
  return {
    type: `${PROBLEM_TYPE_PREFIX}${error.code}`,
    title: meaning,
    status,
    // The message repeats input, and clients log it.
    detail: hideSecrets(error.message),
    instance: `urn:flarewire:request:${instance}`,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.bound === undefined ? {} : { bound: error.bound }),
    ...(error.lost === undefined ? {} : { lost: error.lost }),
    ...(error.parts === undefined ? {} : { parts: [...error.parts] }),
  };
}

/** Returns the public form of an error. Unknown ones are internal, with the error as `cause`. */
export function toFlarewireError(error: unknown): FlarewireError {
  if (error instanceof FlarewireError) return error;
  const status = refusalStatus(error);
  if (status === undefined || !(error instanceof Error)) {
    const text = "internal error; the server's log has the cause under this instance";
    return new FlarewireError("internal", text, { cause: error });
  }
  const message =
    "code" in error && error.code === "FST_ERR_BAD_URL"
      ? "the request target must be a valid path or an absolute URL with a host"
      : shorten(error.message);
  return new FlarewireError(CODE_BY_STATUS[status] ?? "invalid-request", message, { cause: error });
}

/** Shortens Fastify's message, which may repeat the whole URL. */
function shorten(message: string): string {
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE)}…`;
}

/** Returns the 4xx status of an error of Fastify, or of a client that left while sending a body. */
function refusalStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("statusCode" in error)) return undefined;
  const { code, statusCode } = error;
  if (typeof code !== "string" || typeof statusCode !== "number") return undefined;
  // Fastify also gives a status to the error of a connection that ends during the body.
  if (!code.startsWith("FST_") && code !== "ECONNRESET") return undefined;
  return statusCode >= 400 && statusCode < 500 ? statusCode : undefined;
}
