import { hideSecrets } from "../../keys/index.ts";
import { ERROR_CODES, type ErrorCode, FlarewireError } from "../../protocol/index.ts";
import { PROBLEM_TYPE_PREFIX, type Problem } from "../rest/responses.ts";

/** Content type of every problem. It takes no charset parameter. */
export const PROBLEM_TYPE = "application/problem+json";

/** Seconds after which to try again what failed for want of readiness or capacity: `Retry-After` of 429 and 503 where nothing better is known. */
export const RETRY_AFTER_S = 5;

/** Seconds that somebody who wanted to stay is told to wait at least, and by how many the longest wait is more. */
const COME_BACK_FROM_S = 3;
const COME_BACK_SPREAD_S = 10;

/**
 * `Retry-After` for who wanted to follow events and is refused: whole seconds from 3 to 12, by chance (`random`, from 0 up to 1), because thousands may be refused in one moment, and would else
 * all be back in one.
 */
export function comeBackAfterS(random: () => number = Math.random): string {
  return String(COME_BACK_FROM_S + Math.floor(random() * COME_BACK_SPREAD_S));
}

/** The framework's own errors by the status that it gives them; those that are not here are malformed requests. */
const CODE_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  404: "not-found",
  405: "method-not-allowed",
  408: "request-timeout",
  413: "content-too-large",
  414: "address-too-long",
  415: "unsupported-media-type",
  431: "headers-too-large",
};

/** The problem that tells of `failure`. `instance` is the request's id. */
export function problemOf(failure: FlarewireError, instance: string): Problem {
  const { status, meaning } = ERROR_CODES[failure.code];
  return {
    type: `${PROBLEM_TYPE_PREFIX}${failure.code}`,
    title: meaning,
    status,
    // It repeats what was given, and whoever is refused writes it down.
    detail: hideSecrets(failure.message),
    instance: `urn:flarewire:request:${instance}`,
    ...(failure.field === undefined ? {} : { field: failure.field }),
    ...(failure.bound === undefined ? {} : { bound: failure.bound }),
    ...(failure.lost === undefined ? {} : { lost: failure.lost }),
    ...(failure.parts === undefined ? {} : { parts: [...failure.parts] }),
  };
}

/**
 * What may be told of an error that ended a request. Ours goes as it is, and the framework's refusals by their status; of anything
 * else, which is a fault of the server, the message stays inside as `cause`: it may hold what is nobody's business.
 */
export function toFlarewireError(error: unknown): FlarewireError {
  if (error instanceof FlarewireError) return error;
  const status = refusalStatus(error);
  if (status === undefined || !(error instanceof Error)) {
    return new FlarewireError("internal", "the server failed; its log tells why under this instance", {
      cause: error,
    });
  }
  return new FlarewireError(CODE_BY_STATUS[status] ?? "invalid-request", error.message, { cause: error });
}

/** The 4xx status of an error of Fastify itself. */
function refusalStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("statusCode" in error)) return undefined;
  const { code, statusCode } = error;
  if (typeof code !== "string" || !code.startsWith("FST_") || typeof statusCode !== "number")
    return undefined;
  return statusCode >= 400 && statusCode < 500 ? statusCode : undefined;
}
