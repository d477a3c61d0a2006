import { EXIT, type ExitCode } from "../../lib/io/shutdown.ts";
import { actionAfter, CLOSE_CODES } from "../../protocol/index.ts";
import { exitCodeOf } from "../exit-code.ts";
import { plainText } from "../terminal/plain-text.ts";

/** How a connection ended. */
export type ConnectionEnd =
  /** It was open and got this close code; 1006 when it just broke. */
  | { readonly kind: "closed"; readonly code: number; readonly reason: string; readonly subscribed: boolean }
  /** Nothing was heard for as long as the server's hello allows. */
  | { readonly kind: "silent"; readonly afterMs: number; readonly subscribed: boolean }
  /** An event says that one before it is missing; the cursor still stands before the hole. */
  | { readonly kind: "hole" }
  /** The server's head lies before the cursor `after`: what it would send was taken already. */
  | { readonly kind: "behind"; readonly cursor: string; readonly after: string }
  /** The server answered the request for an upgrade with an HTTP status. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly detail: string;
      readonly retryAfterMs: number | undefined;
    }
  /** There was no answer at all. */
  | { readonly kind: "unreachable"; readonly error: Error };

/** What to do next. */
type Plan =
  | { readonly kind: "give-up"; readonly exitCode: ExitCode; readonly message: string }
  | { readonly kind: "reconnect"; readonly afterMs: number; readonly message: string };

const MAX_WAIT_MS = 30_000;

/**
 * What a client does after a connection ended, by the close code's range. `failures` counts the connections in a row that did not get as
 * far as a subscription; `connectedBefore`: one did, ever. Waits have full jitter, so that a thousand clients do not return at once.
 */
export function planNext(
  end: ConnectionEnd,
  { failures, connectedBefore, random }: { failures: number; connectedBefore: boolean; random: () => number },
): Plan {
  const backoff = (message: string, leastMs = 1_000): Plan => {
    const spreadMs = Math.min(MAX_WAIT_MS, 1_000 * 2 ** Math.min(failures, 10));
    return { kind: "reconnect", afterMs: Math.round(leastMs + random() * spreadMs), message };
  };
  switch (end.kind) {
    case "closed": {
      const message = `closed: ${closeText(end.code, end.reason)}`;
      const action = actionAfter(end.code);
      if (action === "stop") return { kind: "give-up", exitCode: EXIT.usage, message };
      // A server that closes before it serves is not asked again without a pause, whatever its code says.
      return action === "resume" && end.subscribed
        ? { kind: "reconnect", afterMs: 0, message }
        : backoff(message);
    }
    case "silent": {
      const message = `nothing heard for ${Math.round(end.afterMs / 1_000)} s`;
      return end.subscribed ? { kind: "reconnect", afterMs: 0, message } : backoff(message);
    }
    case "hole":
      return backoff("an event is missing from the stream");
    case "behind":
      return backoff(`the server is at ${plainText(end.cursor)}, behind ${end.after}`);
    case "refused": {
      const message = `refused: HTTP ${end.status}${end.detail === "" ? "" : `: ${plainText(end.detail)}`}`;
      const temporary = end.status >= 500 || end.status === 429 || end.status === 408;
      if (!temporary) return { kind: "give-up", exitCode: EXIT.usage, message };
      return backoff(message, Math.max(1_000, end.retryAfterMs ?? 0));
    }
    case "unreachable": {
      const message = `no connection: ${plainText(end.error.message || end.error.name)}`;
      return connectedBefore
        ? backoff(message)
        : { kind: "give-up", exitCode: exitCodeOf(end.error), message };
    }
  }
}

/** `4200 draining: the server is being replaced`. */
function closeText(code: number, reason: string): string {
  const known = Object.entries(CLOSE_CODES).find(([, entry]) => entry.code === code);
  if (known) return `${code} ${known[0]}: ${known[1].meaning}`;
  return reason === "" ? `${code}` : `${code} ${plainText(reason)}`;
}
