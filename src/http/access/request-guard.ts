import type { FastifyReply, FastifyRequest } from "fastify";
import { FlarewireError } from "../../protocol/index.ts";
import type { CommonHeaders } from "../common-headers.ts";
import type { HttpSettings } from "../http-settings.ts";
import type { AllowedMethods } from "../problems/allowed-methods.ts";
import { tidyForwardedFor } from "./forwarded-for.ts";
import type { HostCheck } from "./host-check.ts";
import type { Visitors } from "./visitors.ts";

/** As much of a stranger's address as a message repeats. */
const MAX_REPEATED = 200;

/**
 * The hook that every request passes first, before any body is read: sets the common fields, refuses what breaks a bound, and
 * settles what has no route of its own: OPTIONS, a method that the address does not take, an address at which there is nothing.
 */
export function createRequestGuard(
  settings: HttpSettings,
  common: CommonHeaders,
  allowed: AllowedMethods,
  checkHost: HostCheck,
  visitors: Visitors,
): (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void {
  return (request, reply, done) => {
    tidyForwardedFor(request.raw.headers);
    common.apply(request, reply);
    const refusal =
      visitors.check(request, reply) ?? checkHost(request.raw) ?? refuse(request, reply, settings);
    if (refusal) {
      // An upgrade is no longer HTTP, so nothing else would end its connection.
      if (request.headers.upgrade) reply.raw.once("finish", () => request.raw.socket.destroySoon());
      return done(refusal);
    }
    if (!request.is404) return done();
    const target = request.raw.url ?? "";
    const allow = allowed.of(target);
    if (allow === undefined) return done(nothingAt(target));
    if (request.method === "OPTIONS") return common.answerOptions(request, reply, allow);
    reply.header("allow", allow);
    const message = `${request.method} is not taken by "${target.slice(0, MAX_REPEATED)}"`;
    done(new FlarewireError("method-not-allowed", message, { field: "method", bound: allow }));
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
      `the address has ${url.length} characters; ${bound} are read`,
      {
        field: "url",
        bound,
      },
    );
  }
  const length = Number(headers["content-length"] ?? 0);
  if (length > settings.bodyLimitBytes) {
    // The rest of the body would have to be read to find the next request behind it.
    reply.header("connection", "close");
    const bound = `at most ${settings.bodyLimitBytes} bytes`;
    return new FlarewireError("content-too-large", `the body has ${length} bytes; ${bound} are read`, {
      field: "Content-Length",
      bound,
    });
  }
  return undefined;
}

function nothingAt(target: string): FlarewireError {
  return new FlarewireError("not-found", `nothing is served at "${target.slice(0, MAX_REPEATED)}"`);
}
