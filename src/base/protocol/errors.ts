import type { FreshnessPart, Lost } from "./messages.ts";

/** All public error codes. By the HTTP status, a client decides what to do (`actionAfter`). */
export const ERROR_CODES = {
  "invalid-message": { status: 400, meaning: "the frame is not a JSON object of a known form" },
  "unknown-command": { status: 400, meaning: "the command's type is not subscribe, unsubscribe or ping" },
  "invalid-parameter": { status: 400, meaning: "a parameter or field is invalid or out of range" },
  "unknown-channel": { status: 400, meaning: "a name or pattern matches no channel" },
  "unknown-subscription": { status: 404, meaning: "no subscription has this id" },
  "duplicate-subscription": { status: 409, meaning: "a subscription with this id already exists" },
  "too-many-subscriptions": {
    status: 409,
    meaning: "the connection has the maximum number of subscriptions",
  },
  "cursor-conflict": {
    status: 409,
    meaning: "the connection already has a cursor; send `after` with its first subscription only",
  },
  "filter-conflict": {
    status: 409,
    meaning: "another subscription of the connection follows the channel with another filter",
  },
  "unsupported-version": { status: 400, meaning: "the server supports none of the offered subprotocols" },
  "upgrade-required": { status: 426, meaning: "this address requires WebSocket" },
  "rate-limited": { status: 429, meaning: "too many commands per second or requests per minute" },
  unauthorized: { status: 401, meaning: "missing or invalid API key" },
  forbidden: { status: 403, meaning: "the plan or the key does not include this" },
  "not-found": { status: 404, meaning: "no resource has this address" },
  "method-not-allowed": { status: 405, meaning: "the address does not support this method" },
  "invalid-request": { status: 400, meaning: "the request is not well-formed HTTP" },
  "request-timeout": { status: 408, meaning: "the request did not arrive in time" },
  "content-too-large": { status: 413, meaning: "the request body is too large" },
  "address-too-long": { status: 414, meaning: "the address is too long" },
  "unsupported-media-type": { status: 415, meaning: "the type of the request body is not supported" },
  "headers-too-large": { status: 431, meaning: "the request headers are too large" },
  "cursor-gone": { status: 410, meaning: "the events after this cursor are no longer stored" },
  "time-gone": { status: 410, meaning: "the state of this time is no longer stored, or never was" },
  "over-capacity": { status: 503, meaning: "a limit of connections, or of pictures in progress, is reached" },
  "origin-refused": { status: 403, meaning: "pages of this origin may not connect" },
  "host-refused": { status: 421, meaning: "the server does not accept this host name" },
  "not-ready": { status: 503, meaning: "the server is not ready; the detail says why" },
  draining: { status: 503, meaning: "the server is shutting down" },
  "invalid-setting": { status: 500, meaning: "a setting is invalid or out of range" },
  "invalid-input": { status: 500, meaning: "a file or an upstream response is unreadable" },
  "upstream-failed": { status: 502, meaning: "the upstream service failed" },
  internal: { status: 500, meaning: "an internal error" },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Reasons for a refusal in metrics, where the code alone is too coarse. */
export type RefusalReason =
  | "connections"
  | "connections-of-address"
  | "new-streams-of-address"
  | "handshakes"
  | "open-files"
  | "requests-ahead"
  | "requests-of-address"
  | "requests-of-key"
  | "streams"
  | "streams-of-address"
  | "streams-of-key"
  | "queue-full"
  | "queue-late";

/**
 * An error with a public code. `field`: what is invalid; `bound`: what it must be; `reason`: for
 * metrics; `lost`: if a cursor cannot be resumed; `parts`: if the market has no fresh data.
 */
export class FlarewireError extends Error {
  override readonly name = "FlarewireError";
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly bound: string | undefined;
  readonly reason: RefusalReason | undefined;
  readonly lost: Lost | undefined;
  readonly parts: readonly FreshnessPart[] | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: Partial<
      Pick<FlarewireError, "field" | "bound" | "reason" | "lost" | "parts"> & { readonly cause: unknown }
    > = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.field = details.field;
    this.bound = details.bound;
    this.reason = details.reason;
    this.lost = details.lost;
    this.parts = details.parts;
  }
}
