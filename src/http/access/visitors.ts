import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../lib/time/clock.ts";
import type { FlarewireError } from "../../protocol/index.ts";
import type { HttpSettings } from "../http-settings.ts";
import type { AccessPolicy } from "./access.ts";
import { RequestLimit } from "./request-limit.ts";
import { createAddressReader, createTrust } from "./trusted-peers.ts";

interface VisitorParts {
  readonly settings: Pick<HttpSettings, "anonymousRequests" | "trustProxy">;
  readonly policy: AccessPolicy;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void } | undefined;
}

export class Visitors {
  readonly isTrusted: (address: string) => boolean;
  readonly #addressOf: (request: IncomingMessage) => string | undefined;
  readonly #limit: RequestLimit | undefined;
  readonly #policy: AccessPolicy;
  readonly #logger: VisitorParts["logger"];
  #hasWarned = false;

  constructor({ settings, policy, clock, logger }: VisitorParts) {
    const { anonymousRequests, trustProxy } = settings;
    this.isTrusted = createTrust(trustProxy);
    this.#addressOf = createAddressReader(this.isTrusted);
    this.#limit =
      anonymousRequests === Number.POSITIVE_INFINITY ? undefined : new RequestLimit(anonymousRequests, clock);
    this.#policy = policy;
    this.#logger = logger;
  }

  /** Counts an anonymous request that `bytes` answer at once; false if {@link check} decides. */
  takes(request: IncomingMessage, bytes: number): boolean {
    const address = this.#addressOf(request);
    return address !== undefined && (this.#limit?.take(address, bytes) ?? true);
  }

  /** Counts a request without key, except health checks. Returns why it is refused, if so. */
  check(request: FastifyRequest, reply: FastifyReply): FlarewireError | undefined {
    this.#warnOfProxy(request);
    const { authorization } = request.headers;
    if (!this.#limit || request.routeOptions.config.isHealthCheck) return undefined;
    if (authorization !== undefined && this.#policy.keyIdIn(authorization) !== undefined) return undefined;
    return this.#limit.admit(request, reply);
  }

  /** Counts the bytes of a response if its request was counted. */
  charge(request: FastifyRequest, bytes: number): void {
    this.#limit?.charge(request, bytes);
  }

  /** Behind an untrusted proxy, all clients have one address and share its limits. */
  #warnOfProxy({ headers, ips = [], socket }: FastifyRequest): void {
    // Fastify lists only the peer if it does not trust it.
    if (this.#hasWarned || headers["x-forwarded-for"] === undefined || ips.length > 1) return;
    this.#hasWarned = true;
    this.#logger?.warn(
      { peer: socket.remoteAddress },
      "ignoring X-Forwarded-For of a peer that is not in trustProxy: all clients behind it count as one address; if it is your proxy, name it with --trust-proxy",
    );
  }
}
