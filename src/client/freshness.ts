import type { Freshness } from "../protocol/messages.ts";
import type { LineMessage } from "./transport/transport.ts";

/** Age of the data. It grows while no message arrives, whatever the reason. */
export interface DataFreshness {
  /** The server's latest report. */
  readonly state: Freshness["state"];
  /** Why it is not `live`; empty if there is nothing to report. */
  readonly reason: string;
  /** Milliseconds since the server's source last responded, as far as known. */
  readonly ageMs: number;
  /** Event time of the newest data in ISO 8601; `null` before the first. */
  readonly observedAt: string | null;
}

/** Tracks freshness from messages; `nowMs` is the platform's clock. */
export function createFreshness(nowMs: () => number) {
  let said: Freshness | undefined;
  let atMs = 0;
  return {
    take(message: LineMessage): void {
      let given = "freshness" in message ? message.freshness : undefined;
      // An event counts as fresh data unless it is older than known data, as in a backlog.
      if (said && message.type === "event" && message.observed_at > (said.observed_at ?? "")) {
        given = { ...said, observed_at: message.observed_at, data_age_ms: 0 };
      }
      if (!given) return;
      said = given;
      atMs = nowMs();
    },
    /** Returns the freshness; `undefined` before the first report. */
    now(): DataFreshness | undefined {
      return (
        said && {
          state: said.state,
          reason: said.reason,
          observedAt: said.observed_at,
          ageMs: nowMs() - atMs + said.data_age_ms,
        }
      );
    },
  };
}
