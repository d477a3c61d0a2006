import { rangeAction } from "../../protocol/close-codes.ts";

/** How a connection ended, and what to do next. */
export interface End {
  /**
   * `stop`, `backoff`, `resume`: according to the server's close code or status (PROTOCOL.md, W26).
   * `cut`: no reason from the server; without any earlier message, the transport may be blocked.
   * `silent`: no message for too long. `away`: no response to HTTP either, so another transport
   * would fail too.
   */
  readonly action: "stop" | "backoff" | "resume" | "cut" | "silent" | "away";
  /** For people. */
  readonly reason: string;
  /** Minimum delay requested by the server. */
  readonly leastMs?: number | undefined;
}

export function ended(action: End["action"], reason: string, leastMs?: number): End {
  return { action, reason, leastMs };
}

/**
 * Interprets a close code. Codes of the server state an action; others come from intermediaries.
 */
export function closed(code: number, reason: string): End {
  return ended(rangeAction(code) ?? "cut", `close code ${code} ${reason}`.trim());
}

/** Converts a thrown value: an End is returned, anything else means invalid data. */
export function endOf(thrown: unknown): End {
  return "action" in Object(thrown) ? (thrown as End) : ended("cut", `unreadable: ${thrown}`);
}
