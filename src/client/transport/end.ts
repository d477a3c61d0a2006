import { rangeAction } from "../../protocol/close-codes.ts";

/** How a line ended, and so what to do. */
export interface End {
  /**
   * `stop`, `backoff`, `resume`: as the server's close code or status says (PROTOCOL.md, W26). `cut`: without a word of the server's; if
   * there was none before either, the transport may not get through here. `silent`: nothing came for as long as may be. `away`: no answer to HTTP
   * at all, so that another transport would find nobody either.
   */
  readonly action: "stop" | "backoff" | "resume" | "cut" | "silent" | "away";
  /** For people. */
  readonly reason: string;
  /** The server asked for this pause at least. */
  readonly leastMs?: number | undefined;
}

/** An end of this kind. */
export function ended(action: End["action"], reason: string, leastMs?: number): End {
  return { action, reason, leastMs };
}

/** A close with this code. Those of the server's own say what to do; others come from whatever is in between, and say nothing. */
export function closed(code: number, reason: string): End {
  return ended(rangeAction(code) ?? "cut", `close code ${code} ${reason}`.trim());
}

/** What was thrown as an end: itself, or that what came is not of this protocol. */
export function endOf(thrown: unknown): End {
  return "action" in Object(thrown) ? (thrown as End) : ended("cut", `unreadable: ${thrown}`);
}
