import type { FastifyRequest } from "fastify";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import { TokenBucket } from "../../hub/index.ts";
import type { Access } from "../access/access.ts";
import { clientOf } from "../access/client-address.ts";
import { isRefusal } from "../access/refusals.ts";
import { EVENTS_PATH } from "../contract/paths.ts";
import { asksForSse } from "../stream/events-query.ts";

/** Lines per minute and address, and the size of a burst. */
export const LINES_PER_MINUTE = 30;
/** Lines per minute of all addresses together: at most about 250 MB of log a day. */
const ALL_LINES_PER_MINUTE = 600;
/** Size of a burst of all addresses together: thousands of clients may return at once. */
const ALL_BURST = 12_000;
/** Maximum addresses, and keys at an address, to remember. */
const MAX_REMEMBERED = 20_000;
/** A key that keeps reading REST from one address is logged once in this time. */
const READER_MS = MINUTE_MS;

interface Logger {
  info(facts: object, message: string): void;
}

interface Lines {
  readonly bucket: TokenBucket;
  /** Number of the address's lines omitted since the last written one. */
  suppressed: number;
}

/**
 * Logs admissions and refusals on a server with keys. Writes one line for each stream, each
 * refusal, and each minute in which a key reads REST from an address. Lines are limited per address
 * and in total, so that a flood of requests does not fill the disk. The next line of an address has
 * the number of its omitted ones.
 */
export class Audit {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #lines = new BoundedMap<string, Lines>(MAX_REMEMBERED);
  readonly #all: TokenBucket;
  readonly #readers = new BoundedMap<string, number>(MAX_REMEMBERED);
  readonly #granted = new WeakMap<FastifyRequest, Access>();

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
    this.#all = new TokenBucket(ALL_LINES_PER_MINUTE / 60, ALL_BURST, clock.monotonic());
  }

  /**
   * Stores the access that the request's key grants, for later lines. The request may still be
   * refused.
   */
  grant(request: FastifyRequest, access: Access): void {
    this.#granted.set(request, access);
  }

  /** Logs that a stream was admitted. */
  admitted(request: FastifyRequest, access: Access): void {
    this.#write(request, access, "admitted", {});
  }

  /**
   * Logs that a key read REST from this address, unless it has logged that within the last minute.
   */
  answered(request: FastifyRequest): void {
    const access = this.#granted.get(request);
    if (!access?.key) return;
    const reader = `${access.key.id} ${request.ip}`;
    const nowMs = this.#clock.monotonic();
    const lastMs = this.#readers.get(reader);
    if (lastMs !== undefined && nowMs - lastMs < READER_MS) return;
    this.#readers.set(reader, nowMs);
    this.#write(request, access, "admitted", {});
  }

  /** Logs the error that ended a request if it is a refusal. */
  refused(request: FastifyRequest, error: unknown): void {
    if (!isRefusal(error)) return;
    const { reason = error.code, message } = error;
    this.#write(request, this.#granted.get(request), "refused", { reason, detail: message });
  }

  #write(request: FastifyRequest, access: Access | undefined, audit: string, why: object): void {
    const nowMs = this.#clock.monotonic();
    const lines = this.#lines.ensure(clientOf(request.ip), () => ({
      bucket: new TokenBucket(LINES_PER_MINUTE / 60, LINES_PER_MINUTE, nowMs),
      suppressed: 0,
    }));
    if (!lines.bucket.take(nowMs) || !this.#all.take(nowMs)) {
      lines.suppressed += 1;
      return;
    }
    const { id, name } = access?.key ?? {};
    const { suppressed } = lines;
    lines.suppressed = 0;
    this.#logger.info(
      {
        audit,
        transport: transportOf(request),
        address: request.ip,
        keyId: id,
        name,
        plan: access?.plan,
        ...why,
        ...(suppressed > 0 && { suppressed }),
      },
      audit === "admitted" ? "admitted a client" : "refused a client",
    );
  }
}

function transportOf({ ws, headers, routeOptions }: FastifyRequest): string {
  if (ws) return "websocket";
  if (routeOptions.url?.endsWith(EVENTS_PATH) !== true) return "rest";
  return asksForSse(headers.accept) ? "sse" : "poll";
}
