import type { FastifyReply, FastifyRequest } from "fastify";
import { FlarewireError } from "../../protocol/index.ts";
import type { CommonHeaders } from "../common-headers.ts";
import type { HttpSettings } from "../http-settings.ts";
import { answerBrowser } from "../pages/missing-page.ts";
import type { AllowedMethods } from "../problems/allowed-methods.ts";
import type { AccessPolicy } from "./access.ts";
import { sanitizeForwardedFor } from "./forwarded-for.ts";
import type { HostCheck } from "./host-check.ts";
import type { Visitors } from "./visitors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Replaces the setting of that name for the route, whose `bodyLimit` must be the same. */
    bodyLimitBytes?: number;
  }
}

/** Maximum characters of an untrusted URL that a message repeats. */
const MAX_REPEATED = 200;

/**
 * Creates the hook that each request passes first: sets common fields, refuses requests above
 * limits, and answers OPTIONS, methods that are not allowed and unknown paths.
 */
export function createRequestGuard(
  settings: HttpSettings,
  common: CommonHeaders,
  allowed: AllowedMethods,
  checkHost: HostCheck,
  visitors: Visitors,
): (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void {
  return (request, reply, done) => {
    sanitizeForwardedFor(request.raw.headers);
    common.apply(request, reply);
    const refusal =
      visitors.check(request, reply) ?? checkHost(request.raw) ?? refuse(request, reply, settings);
    if (refusal) {
      // After an upgrade request the connection is no longer HTTP, so nothing else would close it.
      if (request.headers.upgrade) reply.raw.once("finish", () => request.raw.socket.destroySoon());
      return done(refusal);
    }
    if (!request.is404) return done();
    const target = request.raw.url ?? "";
    const allow = allowed.of(target);
    if (allow === undefined) {
      if (!answerBrowser(request, reply, settings.basePath)) done(nothingAt(target));
      return;
    }
    if (request.method === "OPTIONS") return common.answerOptions(request, reply, allow);
    reply.header("allow", allow);
    const message = `${request.method} is not allowed for "${target.slice(0, MAX_REPEATED)}"`;
    done(new FlarewireError("method-not-allowed", message, { field: "method", bound: allow }));
  };
}

/** Creates the hook before the guard that verifies a request's token asynchronously. */
export function createTokenHook(
  policy: Pick<AccessPolicy, "verify">,
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  return (request, _reply, done) => {
    const verified = policy.verify(request);
    if (verified) void verified.then(done);
    else done();
  };
}

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  settings: HttpSettings,
): FlarewireError | undefined {
  const { headers, url = "" } = request.raw;
  if (url.length > settings.urlLimit) {
    const bound = `at most ${settings.urlLimit} characters`;
    return new FlarewireError(
      "address-too-long",
      `the URL has ${url.length} characters; ${bound} are allowed`,
      {
        field: "url",
        bound,
      },
    );
  }
  const length = Number(headers["content-length"] ?? 0);
  const most = request.routeOptions.config.bodyLimitBytes ?? settings.bodyLimitBytes;
  if (length > most) {
    // To find the next request, the rest of the body would have to be read.
    reply.header("connection", "close");
    const bound = `at most ${most} bytes`;
    return new FlarewireError("content-too-large", `the body has ${length} bytes; ${bound} are allowed`, {
      field: "Content-Length",
      bound,
    });
  }
  return undefined;
}

function nothingAt(target: string): FlarewireError {
  return new FlarewireError("not-found", `nothing is served at "${target.slice(0, MAX_REPEATED)}"`);
}
