import { CLOSE_CODES, closeAction } from "../../protocol/index.ts";

/** How a connection to the leader ended. */
export type LeaderEnd =
  /** It was open and got this close code; 1006 if it broke without one. */
  | { readonly kind: "closed"; readonly code: number }
  /** The delay of the leader's `goaway` has passed. */
  | { readonly kind: "moved" }
  /** No message arrived for the leader's silence limit. */
  | { readonly kind: "silent"; readonly afterMs: number }
  /** The leader rejected the handshake with an HTTP status. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly detail: string;
      readonly retryAfterMs: number;
    }
  /** The leader did not respond. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** The leader sent something that this version cannot follow. */
  | { readonly kind: "incompatible"; readonly reason: string }
  /** The leader's events do not continue this side's log. */
  | { readonly kind: "diverged"; readonly reason: string };

/** Limits in milliseconds. */
const LEADER_WAIT = {
  minMs: 1_000,
  maxMs: 30_000,
  permanentMs: 30_000,
  maxRequestedMs: 300_000,
} as const;

/**
 * Returns the milliseconds until the next attempt.
 *
 * Zero after `resume` codes (4200–4299), `goaway` or silence, unless the previous attempt failed
 * too. Otherwise at least a second plus full jitter, up to a bound that doubles with each
 * consecutive failure. Permanent errors (4000–4099, 4xx, another program) are retried at most twice
 * a minute, because nothing else would notice a recovery.
 */
export function leaderWaitMs(end: LeaderEnd, failures: number, random: () => number): number {
  const { minMs, maxMs, permanentMs, maxRequestedMs } = LEADER_WAIT;
  const backOff = (floorMs: number = minMs) =>
    floorMs + random() * Math.min(maxMs, 1_000 * 2 ** Math.min(failures, 10));
  const later = () => permanentMs + random() * permanentMs;
  switch (end.kind) {
    case "closed": {
      const action = closeAction(end.code);
      if (action === "stop") return later();
      return action === "resume" && failures === 0 ? 0 : backOff();
    }
    case "moved":
    case "silent":
      return failures === 0 ? 0 : backOff();
    case "refused": {
      const isTemporary = end.status >= 500 || end.status === 429 || end.status === 408;
      return isTemporary ? backOff(Math.min(maxRequestedMs, Math.max(minMs, end.retryAfterMs))) : later();
    }
    case "incompatible":
      return later();
    case "unreachable":
    case "diverged":
      return backOff();
  }
}

/** Describes the end in words that follow "the leader". */
export function leaderTrouble(end: LeaderEnd): string {
  switch (end.kind) {
    case "closed": {
      const known = Object.entries(CLOSE_CODES).find(([, { code }]) => code === end.code);
      if (known) return `closed the connection: ${known[0]}, ${known[1].meaning}`;
      return end.code === 1006 ? "dropped the connection" : `closed the connection with ${end.code}`;
    }
    case "moved":
      return "is being replaced";
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
  }
}
