import { actionAfter, type ReconnectAction } from "../../protocol/reconnect.ts";

/** How a connection ended, and what to do next. */
export interface End {
  /** By close code or status. `silent`: no message for too long; `away`: no HTTP answer either. */
  readonly action: ReconnectAction | "silent" | "away";
  readonly reason: string;
  /** Close code or HTTP status, if there was one. */
  readonly code?: number | undefined;
  /** Minimum delay requested by the server. */
  readonly minMs?: number | undefined;
}

export function ended(action: End["action"], reason: string, code?: number, minMs?: number): End {
  return { action, reason, code, minMs };
}

export function closed(code: number, reason: string): End {
  return ended(actionAfter(code), `close code ${code} ${reason}`.trim(), code);
}

/** Converts a thrown value: an End is returned, anything else means invalid data or a cut. */
export function endOf(thrown: unknown): End {
  return "action" in Object(thrown) ? (thrown as End) : ended("fallback", `failed: ${thrown}`);
}
