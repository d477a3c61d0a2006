import { BACK_OFF, backOffSpreadMs } from "../lib/time/back-off.ts";

/**
 * What a client does after a connection has ended. `resume`: reconnect at once, or after a delay if
 * the previous connection was not stable either. `backoff`: reconnect after a delay. `fallback`: if
 * the connection delivered nothing, try another transport; otherwise as `backoff`. `stop`: do not
 * reconnect, because the request would fail again.
 */
export type ReconnectAction = "resume" | "backoff" | "fallback" | "stop";

/** Actions by close code or HTTP status, or by its hundreds: 40 stands for 4000 to 4099. */
const ACTIONS: Readonly<Record<number, ReconnectAction>> = {
  4: "stop",
  5: "backoff",
  40: "stop",
  41: "backoff",
  42: "resume",
  408: "backoff",
  410: "resume",
  429: "backoff",
  1001: "backoff",
};

/** Longest delay accepted from a server: enough for a drain of ten minutes, but not endless. */
const MAX_ASKED_MS = 900_000;

/** Returns what to do after this close code or HTTP status (PROTOCOL.md, W26). */
export function actionAfter(code: number): ReconnectAction {
  return ACTIONS[code] ?? ACTIONS[Math.floor(code / 100)] ?? "fallback";
}

/** A random delay: `minMs` plus a random part of `spreadMs`. */
export interface RetryDelay {
  readonly minMs: number;
  readonly spreadMs: number;
}

/**
 * Returns the delay after a failure that `failures` others immediately preceded. It is at least a
 * second, and at least what the server asked for, up to 15 minutes.
 */
export function retryDelay(failures: number, askedMs?: number): RetryDelay {
  return {
    minMs: Math.max(BACK_OFF.floorMs, boundAsked(askedMs)),
    spreadMs: backOffSpreadMs(failures + 1),
  };
}

/** Limits a duration that a server states to 15 minutes; 0 if it is invalid. */
export function boundAsked(ms = 0): number {
  return ms > 0 ? Math.min(ms, MAX_ASKED_MS) : 0;
}
