import type { FreshnessPart, Lost } from "./messages.ts";

/**
 * Every error that can leave the program: what it means, the HTTP status, whether trying again unchanged may help. The key is
 * the `code` in error messages and the last part of a problem's `type`.
 */
export const ERROR_CODES = {
  "invalid-message": {
    status: 400,
    retryable: false,
    meaning: "the frame is not a JSON object with a known form",
  },
  "unknown-command": {
    status: 400,
    retryable: false,
    meaning: "the command's type is not one of subscribe, unsubscribe, ping",
  },
  "invalid-parameter": {
    status: 400,
    retryable: false,
    meaning: "a parameter or field has a value outside its bound",
  },
  "unknown-channel": { status: 400, retryable: false, meaning: "a channel or pattern names no channel" },
  "unknown-subscription": { status: 404, retryable: false, meaning: "there is no subscription of that id" },
  "duplicate-subscription": {
    status: 409,
    retryable: false,
    meaning: "there is a subscription of that id already",
  },
  "too-many-subscriptions": {
    status: 409,
    retryable: false,
    meaning: "the connection has as many subscriptions as it may",
  },
  "cursor-conflict": {
    status: 409,
    retryable: false,
    meaning: "the connection has a cursor; `after` goes with its first subscription only",
  },
  "filter-conflict": {
    status: 409,
    retryable: false,
    meaning: "another subscription of the connection follows the channel with another filter",
  },
  "unsupported-version": {
    status: 400,
    retryable: false,
    meaning: "none of the offered subprotocols is spoken here",
  },
  "upgrade-required": { status: 426, retryable: false, meaning: "this address speaks WebSocket" },
  "rate-limited": {
    status: 429,
    retryable: true,
    meaning: "more commands a second, or requests a minute, than allowed",
  },
  unauthorized: {
    status: 401,
    retryable: false,
    meaning: "a key is needed, or the one that was given does not count",
  },
  forbidden: { status: 403, retryable: false, meaning: "the plan does not have what was asked for" },
  "not-found": { status: 404, retryable: false, meaning: "nothing is served at this address" },
  "method-not-allowed": { status: 405, retryable: false, meaning: "the address does not take this method" },
  "invalid-request": { status: 400, retryable: false, meaning: "the request is not well-formed HTTP" },
  "request-timeout": { status: 408, retryable: true, meaning: "the request did not arrive in time" },
  "content-too-large": {
    status: 413,
    retryable: false,
    meaning: "the request's body is larger than allowed",
  },
  "address-too-long": { status: 414, retryable: false, meaning: "the address is longer than allowed" },
  "unsupported-media-type": {
    status: 415,
    retryable: false,
    meaning: "the request's body is of a type that is not read here",
  },
  "headers-too-large": {
    status: 431,
    retryable: false,
    meaning: "the request's header fields are larger than allowed",
  },
  "cursor-gone": {
    status: 410,
    retryable: false,
    meaning: "the events after this cursor are no longer held",
  },
  "over-capacity": { status: 503, retryable: true, meaning: "as many connections as allowed are open" },
  "origin-refused": { status: 403, retryable: false, meaning: "pages of this origin may not connect" },
  "host-refused": { status: 421, retryable: false, meaning: "the server is not asked by this name" },
  "not-ready": { status: 503, retryable: true, meaning: "no fresh data can be served" },
  draining: { status: 503, retryable: true, meaning: "the server is stopping" },
  "invalid-setting": { status: 500, retryable: false, meaning: "a setting has a value outside its bound" },
  "invalid-input": { status: 500, retryable: false, meaning: "a file or an upstream answer cannot be read" },
  "upstream-failed": {
    status: 502,
    retryable: true,
    meaning: "the upstream service did not answer as it should",
  },
  internal: { status: 500, retryable: true, meaning: "a fault of the server" },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** What a refusal is counted under where the code alone says too little. */
export type RefusalReason =
  | "connections"
  | "connections-of-address"
  | "open-files"
  | "requests-ahead"
  | "requests-of-address"
  | "requests-of-key"
  | "streams"
  | "streams-of-address"
  | "streams-of-key"
  | "queue-full"
  | "queue-late"
  | "no-worker";

/**
 * The one error of the program. `field` names what was wrong and `bound` what would have been right, where there is such a thing; `reason`, of a refusal, what it is counted under;
 * `lost`, of `cursor-gone`, what cannot be had any more.
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
    details: {
      field?: string;
      bound?: string;
      reason?: RefusalReason | undefined;
      lost?: Lost;
      parts?: readonly FreshnessPart[] | undefined;
      cause?: unknown;
    } = {},
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
