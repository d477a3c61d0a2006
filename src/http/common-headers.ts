import type { FastifyReply, FastifyRequest } from "fastify";
import { ENDPOINTS } from "./endpoints.ts";
import type { HttpSettings } from "./http-settings.ts";
import { METRICS_PATH } from "./metrics-route.ts";
import { type ReadyFields, readyFields } from "./rest/ready-fields.ts";

/** Response fields that scripts of other origins may read, beside those that any page may. */
export const EXPOSED_HEADERS = [
  "ETag",
  "Link",
  "Retry-After",
  "Flarewire-Cursor",
  "Flarewire-Data-Age",
  "Flarewire-Observed-At",
  "Flarewire-Source-State",
  "Flarewire-Origin",
  "Flarewire-Facts",
  "Flarewire-Plan",
  "RateLimit",
  "RateLimit-Policy",
] as const;

/** Request fields that scripts of other origins may send, beside those that any page may. */
export const ALLOWED_HEADERS = ["Authorization", "If-None-Match", "Last-Event-ID"] as const;

/** Seconds for which a browser may remember a preflight's answer: a day, of which browsers take what they like. */
const PREFLIGHT_MAX_AGE_S = 86_400;

/** Header fields that do not depend on what is served. */
export interface CommonHeaders {
  /** Puts on every response what it needs whatever becomes of it: `nosniff`, and, for origins that may read it, the fields of CORS; none of these on health and metrics. */
  apply(request: FastifyRequest, reply: FastifyReply): void;
  /** The same but `Vary`, for an answer that tells by itself what it varies by. */
  readyFor(origin: string | undefined): ReadyFields;
  /** Answers OPTIONS: 204 with `Allow`, and what a preflight of an allowed origin asks for. */
  answerOptions(request: FastifyRequest, reply: FastifyReply, allow: string): void;
}

/** How the server fares is its operator's affair: no page of another origin reads these. */
const OPERATORS_PATHS: readonly string[] = [ENDPOINTS.healthz.path, ENDPOINTS.readyz.path, METRICS_PATH];

/** The common fields for these origins. With a list, answers differ by origin, which `Vary` tells caches. */
export function createCommonHeaders({
  basePath,
  corsOrigins,
}: Pick<HttpSettings, "basePath" | "corsOrigins">): CommonHeaders {
  const operators = new Set([...OPERATORS_PATHS, ...OPERATORS_PATHS.map((path) => basePath + path)]);
  // The route's own path, which other spellings of the address lead to as well.
  const isOperators = ({ is404, routeOptions, raw }: FastifyRequest) =>
    operators.has((is404 ? raw.url?.split("?", 1)[0] : routeOptions.url) ?? "");
  const everybodys = { "x-content-type-options": "nosniff" };
  const exposed = EXPOSED_HEADERS.join(", ");
  const granted = (origin: string) =>
    readyFields({
      ...everybodys,
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposed,
    });
  const ungranted = readyFields(everybodys);
  const anybody = corsOrigins === "*" ? granted("*") : undefined;
  const byOrigin = new Map(corsOrigins === "*" ? [] : corsOrigins.map((origin) => [origin, granted(origin)]));

  const readyFor = (origin: string | undefined) =>
    anybody ?? (origin === undefined ? undefined : byOrigin.get(origin)) ?? ungranted;

  return {
    readyFor,
    apply(request, reply) {
      if (!anybody) reply.header("vary", "Origin");
      reply.headers((isOperators(request) ? ungranted : readyFor(request.headers.origin)).fields);
    },
    answerOptions(request, reply, allow) {
      reply.header("allow", allow);
      const isPreflight =
        request.headers.origin !== undefined &&
        request.headers["access-control-request-method"] !== undefined;
      if (isPreflight && !isOperators(request) && readyFor(request.headers.origin) !== ungranted) {
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
