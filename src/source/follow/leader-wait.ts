import { CLOSE_CODES, closeAction } from "../../protocol/index.ts";

/** How a connection to the leader ended. */
export type LeaderEnd =
  /** It was open, and got this close code; 1006 when it just broke. */
  | { readonly kind: "closed"; readonly code: number }
  /** The leader said that this is the moment to come back. */
  | { readonly kind: "moved" }
  /** Nothing was heard for as long as it allows. */
  | { readonly kind: "silent"; readonly afterMs: number }
  /** The request for a connection was answered with an HTTP status. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly detail: string;
      readonly retryAfterMs: number;
    }
  /** There was no answer at all. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** It says what no Flarewire says that this version can follow. */
  | { readonly kind: "unfit"; readonly reason: string }
  /** What it sends does not lead on from what this side has. */
  | { readonly kind: "misfit"; readonly reason: string };

/** Waits in milliseconds. */
export const LEADER_WAIT = { leastMs: 1_000, mostMs: 30_000, stopMs: 30_000, mostAskedMs: 300_000 } as const;

/**
 * Milliseconds until the next try. None where the leader asks for that (4200–4299, or its slot of `goaway`) or fell silent, unless the try before
 * failed, too. Else by full jitter: at least a second, and on top up to a bound that doubles with each of the `failures` in a row. What will
 * hardly get better by itself (4000–4099, 4xx, another program) is tried twice a minute at most: nobody else would notice that it did.
 */
export function leaderWaitMs(end: LeaderEnd, failures: number, random: () => number): number {
  const { leastMs, mostMs, stopMs, mostAskedMs } = LEADER_WAIT;
  const backOff = (least: number = leastMs) =>
    least + random() * Math.min(mostMs, 1_000 * 2 ** Math.min(failures, 10));
  const later = () => stopMs + random() * stopMs;
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
      return isTemporary ? backOff(Math.min(mostAskedMs, Math.max(leastMs, end.retryAfterMs))) : later();
    }
    case "unfit":
      return later();
    case "unreachable":
    case "misfit":
      return backOff();
  }
}

/** What happened, in words that follow "the leader". */
export function leaderTrouble(end: LeaderEnd): string {
  switch (end.kind) {
    case "closed": {
      const known = Object.entries(CLOSE_CODES).find(([, { code }]) => code === end.code);
      if (known) return `closed the connection: ${known[0]}, ${known[1].meaning}`;
      return end.code === 1006 ? "broke off the connection" : `closed the connection with ${end.code}`;
    }
    case "moved":
      return "is being replaced";
    case "silent":
      return `said nothing for ${end.afterMs} ms`;
    case "refused":
      return `refused the connection with HTTP ${end.status}${end.detail === "" ? "" : `: ${end.detail}`}`;
    case "unreachable":
      return `cannot be reached: ${end.reason}`;
    case "unfit":
      return `cannot be followed: ${end.reason}`;
    case "misfit":
      return `does not go on from where it was: ${end.reason}`;
  }
}
