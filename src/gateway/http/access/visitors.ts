import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../../base/lib/time/clock.ts";
import type { FlarewireError } from "../../../base/protocol/index.ts";
import { EVENTS_PATH } from "../contract/paths.ts";
import { costOf } from "../contract/route-contract.ts";
import type { HttpSettings } from "../http-settings.ts";
import { asksForSse } from "../stream/events-query.ts";
import type { AccessPolicy } from "./access.ts";
import { RequestLimit, STREAMS, type Use } from "./request-limit.ts";
import { createAddressReader, createTrust } from "./trusted-peers.ts";

interface VisitorOptions {
  readonly settings: Pick<HttpSettings, "anonymousRequests" | "anonymousStreams" | "trustProxy">;
  readonly policy: AccessPolicy;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void } | undefined;
}

/** Limits the requests and streams of clients without a key. */
export class Visitors {
  readonly isTrusted: (address: string) => boolean;
  readonly #addressOf: (request: IncomingMessage) => string | undefined;
  readonly #limit: RequestLimit | undefined;
  readonly #streams: RequestLimit | undefined;
  readonly #policy: AccessPolicy;
  readonly #logger: VisitorOptions["logger"];
  #hasWarned = false;

  constructor({ settings, policy, clock, logger }: VisitorOptions) {
    const { anonymousRequests, anonymousStreams, trustProxy } = settings;
    this.isTrusted = createTrust(trustProxy);
    this.#addressOf = createAddressReader(this.isTrusted);
    this.#limit =
      anonymousRequests === Number.POSITIVE_INFINITY ? undefined : new RequestLimit(anonymousRequests, clock);
    this.#streams = Number.isFinite(anonymousStreams)
      ? new RequestLimit(anonymousStreams, clock, STREAMS)
      : undefined;
    this.#policy = policy;
    this.#logger = logger;
  }

  /**
   * Counts a request with a ready response of `bytes`. Returns false, without counting, if the
   * request must pass {@link check}: above the limit, or through an untrusted proxy.
   */
  take(request: IncomingMessage, bytes: number): boolean {
    const address = this.#addressOf(request);
    return address !== undefined && (this.#limit?.take(address, bytes) ?? true);
  }

  /**
   * Counts a request without a valid key, except health checks. Returns an error above a limit.
   * Warns once of an untrusted proxy.
   */
  check(request: FastifyRequest, reply: FastifyReply): FlarewireError | undefined {
    this.#warnOfProxy(request);
    const { authorization } = request.headers;
    const { isHealthCheck, contract = {} } = request.routeOptions.config;
    if (isHealthCheck) return undefined;
    if (authorization !== undefined && this.#policy.keyIdIn(authorization) !== undefined) return undefined;
    return (
      this.#limit?.admit(request, reply, costOf(contract, request.query)) ??
      (isStream(request) ? this.#streams?.admit(request, reply) : undefined)
    );
  }

  /** Returns the use of the limits of an address; `undefined` without a limit. */
  useOf(address: string): { readonly requests: Use | undefined; readonly streams: Use | undefined } {
    return { requests: this.#limit?.useOf(address), streams: this.#streams?.useOf(address) };
  }

  /** Counts the bytes of a response if its request was counted. */
  charge(request: FastifyRequest, bytes: number): void {
    this.#limit?.charge(request, bytes);
  }

  /** Warns of an untrusted proxy: all clients behind it have one address and share its limits. */
  #warnOfProxy({ headers, ips = [], socket }: FastifyRequest): void {
    // Fastify lists only the peer if it does not trust it.
    if (this.#hasWarned || headers["x-forwarded-for"] === undefined || ips.length > 1) return;
    this.#hasWarned = true;
    this.#logger?.warn(
      { peer: socket.remoteAddress },
      "ignoring X-Forwarded-For from a peer that is not in trustProxy: all clients behind it count as one address; if it is your proxy, name it with --trust-proxy",
    );
  }
}

/** Whether a request opens a stream: a WebSocket handshake, or events over SSE. */
function isStream({ headers, routeOptions }: FastifyRequest): boolean {
  if (headers.upgrade !== undefined) return true;
  return routeOptions.url?.endsWith(EVENTS_PATH) === true && asksForSse(headers.accept);
}
