import { BACK_OFF, backOffSpreadMs } from "../lib/time/back-off.ts";

/**
 * What a client does after a connection has ended. `resume`: reconnect at once, or later if the one
 * before was not stable either; `backoff`: later; `fallback`: the same, and leave a transport that
 * never delivered; `stop`: the request would fail again.
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

/** A delay with full jitter: `minMs` plus a random part of `spreadMs`. */
export interface RetryDelay {
  readonly minMs: number;
  readonly spreadMs: number;
}

/** Returns the delay after `failures` consecutive failures, at least what the server asked for. */
export function retryDelay(failures: number, askedMs?: number): RetryDelay {
  return {
    minMs: Math.max(BACK_OFF.floorMs, boundAsked(askedMs)),
    spreadMs: backOffSpreadMs(failures + 1),
  };
}

/** Limits a delay requested by a server; 0 if it is invalid. */
export function boundAsked(ms = 0): number {
  return ms > 0 ? Math.min(ms, MAX_ASKED_MS) : 0;
}
