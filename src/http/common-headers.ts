import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpSettings } from "./http-settings.ts";

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
  /** Puts on every response what it needs whatever becomes of it: `nosniff`, and, for origins that may read it, the fields of CORS. */
  apply(request: FastifyRequest, reply: FastifyReply): void;
  /** Answers OPTIONS: 204 with `Allow`, and what a preflight of an allowed origin asks for. */
  answerOptions(request: FastifyRequest, reply: FastifyReply, allow: string): void;
}

/** The common fields for these origins. With a list, answers differ by origin, which `Vary` tells caches. */
export function createCommonHeaders({ corsOrigins }: Pick<HttpSettings, "corsOrigins">): CommonHeaders {
  const exposed = EXPOSED_HEADERS.join(", ");
  const allowed = corsOrigins === "*" ? undefined : new Set(corsOrigins);

  function grantedOrigin(request: FastifyRequest): string | undefined {
    if (!allowed) return "*";
    const { origin } = request.headers;
    return origin !== undefined && allowed.has(origin) ? origin : undefined;
  }

  return {
    apply(request, reply) {
      reply.header("x-content-type-options", "nosniff");
      if (allowed) reply.header("vary", "Origin");
      const origin = grantedOrigin(request);
      if (origin === undefined) return;
      reply.header("access-control-allow-origin", origin);
      reply.header("access-control-expose-headers", exposed);
    },
    answerOptions(request, reply, allow) {
      reply.header("allow", allow);
      const isPreflight =
        request.headers.origin !== undefined &&
        request.headers["access-control-request-method"] !== undefined;
      if (isPreflight && grantedOrigin(request) !== undefined) {
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
