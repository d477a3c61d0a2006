import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FlarewireError } from "../../../base/protocol/index.ts";
import type { CommonHeaders } from "../common-headers.ts";
import { collectContracts } from "../contract/route-contract.ts";
import type { HttpSettings } from "../http-settings.ts";
import { AllowedMethods } from "../problems/allowed-methods.ts";
import type { AccessPolicy } from "./access.ts";
import type { HostCheck } from "./host-check.ts";
import type { Refusals } from "./refusals.ts";
import { sanitizeForwardedFor } from "./trusted-peers.ts";
import type { Visitors } from "./visitors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Replaces the setting of that name for the route, whose `bodyLimit` must be the same. */
    bodyLimitBytes?: number;
  }
}

interface GuardOptions {
  readonly settings: HttpSettings;
  readonly policy: Pick<AccessPolicy, "verify">;
  readonly common: CommonHeaders;
  readonly checkHost: HostCheck;
  readonly visitors: Visitors;
  readonly refusals: Refusals;
  /** Answers requests for unknown paths; returns false if it does not. Default: none does. */
  readonly answerUnknown?: AnswerUnknown | undefined;
}

/**
 * Answers a request for an unknown path. Returns false, without an answer, to let the server
 * respond with a problem.
 */
export type AnswerUnknown = (request: FastifyRequest, reply: FastifyReply, basePath: string) => boolean;

/** Maximum characters of an untrusted URL that a message repeats. */
const MAX_REPEATED = 200;

/**
 * Adds the hooks that each request passes first. They wait for the previous responses, verify the
 * token, set common fields, refuse requests above limits or for other hosts, and answer OPTIONS,
 * methods that are not allowed and unknown paths. Collects the contracts of the routes. Call it
 * before the routes are added.
 */
export function addGuard(scope: FastifyInstance, options: GuardOptions): void {
  const { settings, policy, common, checkHost, visitors, refusals, answerUnknown } = options;
  const allowed = new AllowedMethods(scope);
  collectContracts(scope);
  scope.addHook(
    "onRequest",
    createOrderHook(({ ip }) => refusals.count("requests-ahead", ip)),
  );
  scope.addHook("onRequest", (request, _reply, done) => {
    const verified = policy.verify(request);
    if (verified) void verified.then(() => done());
    else done();
  });
  scope.addHook("onRequest", (request, reply, done) => {
    sanitizeForwardedFor(request.raw.headers);
    common.apply(request, reply);
    const refusal =
      visitors.check(request, reply) ?? checkHost(request.raw) ?? refuse(request, reply, settings);
    if (refusal) {
      // After an upgrade request, the connection is no longer HTTP, and nothing else closes it.
      if (request.headers.upgrade) reply.raw.once("finish", () => request.raw.socket.destroySoon());
      return done(refusal);
    }
    if (!request.is404) return done();
    const target = request.raw.url ?? "";
    const allow = allowed.of(target);
    if (allow === undefined) {
      if (!answerUnknown?.(request, reply, settings.basePath)) done(nothingAt(target));
      return;
    }
    if (request.method === "OPTIONS") return common.answerOptions(request, reply, allow);
    reply.header("allow", allow);
    const message = `${request.method} is not allowed for "${target.slice(0, MAX_REPEATED)}"`;
    done(new FlarewireError("method-not-allowed", message, { field: "method", bound: allow }));
  });
}

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  settings: HttpSettings,
): FlarewireError | undefined {
  const { headers, url = "" } = request.raw;
  if (url.length > settings.urlLimit) {
    const bound = `at most ${settings.urlLimit} characters`;
    const message = `the URL has ${url.length} characters; ${bound} are allowed`;
    return new FlarewireError("address-too-long", message, { field: "url", bound });
  }
  const length = Number(headers["content-length"] ?? 0);
  const most = request.routeOptions.config.bodyLimitBytes ?? settings.bodyLimitBytes;
  if (length > most) {
    // Otherwise the server would have to read the whole body to find the next request.
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

/** Maximum pipelined requests that wait; one more cuts the connection. Browsers send none. */
export const MAX_AHEAD = 16;

/**
 * Creates a hook that delays a pipelined request until the previous responses on its connection are
 * written, because Node would buffer them without bound. `onCut`: called for each connection cut.
 */
export function createOrderHook(
  onCut: (request: FastifyRequest) => void,
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  const ahead = new WeakMap<object, number>();
  return (request, reply, done) => {
    // Node assigns a response its socket once the previous response has been written.
    if (reply.raw.socket) return done();
    const { socket } = request.raw;
    const waiting = (ahead.get(socket) ?? 0) + 1;
    ahead.set(socket, waiting);
    if (waiting > MAX_AHEAD) {
      if (!socket.destroyed) onCut(request);
      socket.destroy();
      return;
    }
    reply.raw.once("socket", () => {
      ahead.set(socket, (ahead.get(socket) ?? 1) - 1);
      done();
    });
  };
}
