import type { FastifyReply, FastifyRequest } from "fastify";
import { HEALTH_PATH, METRICS_PATH, READY_PATH } from "./contract/paths.ts";
import { HEADERS } from "./contract/response-headers.ts";
import type { HttpSettings } from "./http-settings.ts";
import { type ReadyFields, readyFields } from "./rest/ready-fields.ts";

/** Response fields that scripts of other origins may read, besides the CORS-safelisted ones. */
export const EXPOSED_HEADERS = [
  "ETag",
  "Link",
  "Retry-After",
  ...Object.keys(HEADERS).filter((name) => /^(Flarewire|RateLimit)/.test(name)),
];

/** Request fields that scripts of other origins may send, besides the CORS-safelisted ones. */
export const ALLOWED_HEADERS = ["Authorization", "If-None-Match", "Last-Event-ID"] as const;

/** How long a browser may cache a preflight response. Browsers have their own maximum. */
const PREFLIGHT_MAX_AGE_S = 86_400;

export interface CommonHeaders {
  /** Sets `nosniff`, and CORS for allowed origins except on health and metrics. */
  apply(request: FastifyRequest, reply: FastifyReply): void;
  /**
   * Returns the fields for a path that is not an operator's, without `Vary`, which the response
   * sets.
   */
  readyFor(origin: string | undefined): ReadyFields;
  /** Answers OPTIONS with 204, `Allow`, and the fields for a preflight of an allowed origin. */
  answerOptions(request: FastifyRequest, reply: FastifyReply, allow: string): void;
}

/** Only operators read these paths; pages of other origins may not read them. */
const OPERATOR_PATHS: readonly string[] = [HEALTH_PATH, READY_PATH, METRICS_PATH];

/** Creates the fields. With a list of origins, responses differ by origin, as `Vary` states. */
export function createCommonHeaders({
  basePath,
  corsOrigins,
}: Pick<HttpSettings, "basePath" | "corsOrigins">): CommonHeaders {
  const operators = new Set([...OPERATOR_PATHS, ...OPERATOR_PATHS.map((path) => basePath + path)]);
  // The route's path, which other spellings of the URL match too.
  const isOperatorPath = ({ is404, routeOptions, raw }: FastifyRequest) =>
    operators.has((is404 ? raw.url?.split("?", 1)[0] : routeOptions.url) ?? "");
  const always = { "x-content-type-options": "nosniff" };
  const exposed = EXPOSED_HEADERS.join(", ");
  const withCors = (origin: string) =>
    readyFields({
      ...always,
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposed,
    });
  const withoutCors = readyFields(always);
  const forAny = corsOrigins === "*" ? withCors("*") : undefined;
  const byOrigin = new Map(
    corsOrigins === "*" ? [] : corsOrigins.map((origin) => [origin, withCors(origin)]),
  );

  const readyFor = (origin: string | undefined) =>
    forAny ?? (origin === undefined ? undefined : byOrigin.get(origin)) ?? withoutCors;

  return {
    readyFor,
    apply(request, reply) {
      if (!forAny) reply.header("vary", "Origin");
      reply.headers((isOperatorPath(request) ? withoutCors : readyFor(request.headers.origin)).fields);
    },
    answerOptions(request, reply, allow) {
      reply.header("allow", allow);
      const isPreflight =
        request.headers.origin !== undefined &&
        request.headers["access-control-request-method"] !== undefined;
      if (isPreflight && !isOperatorPath(request) && readyFor(request.headers.origin) !== withoutCors) {
        reply.headers({
          "access-control-allow-methods": allow,
          "access-control-allow-headers": ALLOWED_HEADERS.join(", "),
          "access-control-max-age": String(PREFLIGHT_MAX_AGE_S),
        });
      }
      reply.code(204).send();
    },
  };
}
