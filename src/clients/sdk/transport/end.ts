import { actionAfter, type ReconnectAction } from "../../../base/protocol/reconnect.ts";

/** How a connection ended, and what to do next. */
export interface End {
  /**
   * `silent`: no message for too long. `away`: no HTTP response, or no key. For the others, see
   * {@link ReconnectAction}.
   */
  readonly action: ReconnectAction | "silent" | "away";
  readonly reason: string;
  /** Close code or HTTP status, if there was one. */
  readonly code?: number | undefined;
  /** Minimum delay requested by the server, in milliseconds. NaN if it is not a number. */
  readonly minMs?: number | undefined;
}

export function ended(action: End["action"], reason: string, code?: number, minMs?: number): End {
  return { action, reason: reason.trim(), code, minMs };
}

export function closed(code: number, reason: string): End {
  return ended(actionAfter(code), `close code ${code} ${reason}`, code);
}

/** Returns the End that was thrown. Anything else thrown means invalid or cut-off data. */
export function endOf(thrown: unknown): End {
  return "action" in Object(thrown) ? (thrown as End) : ended("fallback", `failed: ${thrown}`);
}
