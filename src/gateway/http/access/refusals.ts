import type { FastifyRequest } from "fastify";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { type ErrorCode, FlarewireError, type RefusalReason } from "../../../base/protocol/index.ts";
import type { AccessPolicy } from "./access.ts";

/** Problems that refuse a client rather than report an invalid request. */
const REFUSING: ReadonlySet<ErrorCode> = new Set([
  "rate-limited",
  "over-capacity",
  "draining",
  "not-ready",
  "unauthorized",
  "forbidden",
  "origin-refused",
  "host-refused",
]);

/** Whether an error refuses a client rather than reports an invalid request. */
export function isRefusal(error: unknown): error is FlarewireError {
  return error instanceof FlarewireError && REFUSING.has(error.code);
}

const LOG_EVERY_MS = 60_000;

/** Refusals of a server that starts or stops, which are not failures. */
const EXPECTED: ReadonlySet<RefusalReason | ErrorCode> = new Set(["not-ready", "draining"]);

/** Whether an error is the refusal of a server that starts or stops. */
function isExpected(error: unknown): boolean {
  return error instanceof FlarewireError && EXPECTED.has(error.code);
}

interface RefusalLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

interface Logged {
  readonly atMs: number;
  readonly count: number;
}

/**
 * Counts refusals by reason. Logs the first of each reason at once, and later ones at most once a
 * minute.
 */
export class Refusals {
  readonly counts: Partial<Record<RefusalReason | ErrorCode, number>> = {};
  readonly #clock: Clock;
  readonly #logger: RefusalLogger | undefined;
  readonly #logged = new Map<string, Logged>();

  constructor(clock: Clock, logger?: RefusalLogger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Counts a refusal, with the client's address if known. */
  count(reason: RefusalReason | ErrorCode, address?: string): void {
    const count = (this.counts[reason] ?? 0) + 1;
    this.counts[reason] = count;
    const nowMs = this.#clock.monotonic();
    const last = this.#logged.get(reason);
    if (last && nowMs - last.atMs < LOG_EVERY_MS) return;
    this.#logged.set(reason, { atMs: nowMs, count });
    const facts = { reason, refused: count - (last?.count ?? 0), latest: address };
    const level = EXPECTED.has(reason) ? "info" : "warn";
    this.#logger?.[level](facts, "refusing clients; logging each reason at most once a minute");
  }

  /** Counts a failed accept if a file descriptor was lacking. The client sees a reset. */
  countFailedAccept(error: Error & { code?: unknown }): void {
    if (error.code === "EMFILE" || error.code === "ENFILE") this.count("open-files");
  }

  /**
   * Counts and audits the error that ended a request if it is a refusal. Ignores health checks that
   * a starting or stopping server fails, because they repeat.
   */
  note(error: unknown, request: FastifyRequest, { audit }: Pick<AccessPolicy, "audit">): void {
    if (request.routeOptions.config.isHealthCheck && isExpected(error)) return;
    this.countError(error, request.ip);
    audit?.refused(request, error);
  }

  /** Counts the error that ended a request if it is a refusal. */
  countError(error: unknown, address: string): void {
    if (!isRefusal(error)) return;
    this.count(error.reason ?? error.code, address);
  }
}
