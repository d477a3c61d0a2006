import {
  actionAfter,
  CLOSE_CODES,
  type ReconnectAction,
  type RetryDelay,
  retryDelay,
} from "../../base/protocol/index.ts";

/** How a connection to the leader ended. */
export type LeaderEnd =
  /** The open connection was closed with this code; 1006 if it broke without one. */
  | { readonly kind: "closed"; readonly code: number }
  /** The delay of the leader's `goaway` has passed. */
  | { readonly kind: "moved" }
  /** No message arrived within the leader's silence limit. */
  | { readonly kind: "silent"; readonly afterMs: number }
  /** The leader rejected the handshake with an HTTP status. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly detail: string;
      readonly retryAfterMs: number;
    }
  | { readonly kind: "unreachable"; readonly reason: string }
  /** The leader sent something that this version cannot follow. */
  | { readonly kind: "incompatible"; readonly reason: string }
  /** The leader's events do not continue this side's log. */
  | { readonly kind: "diverged"; readonly reason: string }
  /** This side could not store the leader's events. */
  | { readonly kind: "not-stored"; readonly reason: string };

/** A leader that refuses for good is retried after this delay, because it may be repaired. */
const AFTER_STOP: RetryDelay = { minMs: 30_000, spreadMs: 30_000 };

/** Returns the milliseconds until the next attempt. A mirror never gives up (PROTOCOL.md, F7). */
export function leaderWaitMs(end: LeaderEnd, failures: number, random: () => number): number {
  const action = actionOf(end);
  if (action === "resume" && failures === 0) return 0;
  const askedMs = end.kind === "refused" ? end.retryAfterMs : 0;
  const { minMs, spreadMs } = action === "stop" ? AFTER_STOP : retryDelay(failures, askedMs);
  return minMs + random() * spreadMs;
}

function actionOf(end: LeaderEnd): ReconnectAction {
  switch (end.kind) {
    case "closed":
      return actionAfter(end.code);
    case "moved":
    case "silent":
      return "resume";
    case "refused":
      return actionAfter(end.status) === "backoff" ? "backoff" : "stop";
    case "incompatible":
      return "stop";
    case "unreachable":
    case "diverged":
    case "not-stored":
      return "backoff";
  }
}

/** Describes the end in words that follow "the leader". */
export function describeLeaderEnd(end: LeaderEnd): string {
  switch (end.kind) {
    case "closed": {
      const known = Object.entries(CLOSE_CODES).find(([, { code }]) => code === end.code);
      if (known) return `closed the connection: ${known[0]}, ${known[1].meaning}`;
      return end.code === 1006 ? "dropped the connection" : `closed the connection with ${end.code}`;
    }
    case "moved":
      return "is shutting down";
    case "silent":
      return `sent nothing for ${end.afterMs} ms`;
    case "refused":
      return `rejected the connection with HTTP ${end.status}${end.detail === "" ? "" : `: ${end.detail}`}`;
    case "unreachable":
      return `is unreachable: ${end.reason}`;
    case "incompatible":
      return `cannot be mirrored: ${end.reason}`;
    case "diverged":
      return `does not continue the local log: ${end.reason}`;
    case "not-stored":
      return `sent events that could not be stored here: ${end.reason}`;
  }
}
