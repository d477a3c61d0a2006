import type { Freshness } from "../protocol/messages.ts";
import type { LineMessage } from "./transport/transport.ts";

/** How old the data is. The age grows while nothing is heard, whatever the reason. */
export interface DataFreshness {
  /** As the server said last. */
  readonly state: Freshness["state"];
  /** Why it is not `live`; empty where there is nothing to say. */
  readonly reason: string;
  /** Milliseconds since the server's source was last heard of, as far as is known here. */
  readonly ageMs: number;
  /** Event time of the newest data, as ISO 8601; `null` before the first. */
  readonly observedAt: string | null;
}

/** Follows what the messages say of it; `now` of the platform. */
export function createFreshness(nowMs: () => number) {
  let said: Freshness | undefined;
  let atMs = 0;
  return {
    take(message: LineMessage): void {
      let given = "freshness" in message ? message.freshness : undefined;
      // An event is news too, unless it is no newer than what is known, as in a backlog.
      if (said && message.type === "event" && message.observed_at > (said.observed_at ?? "")) {
        given = { ...said, observed_at: message.observed_at, data_age_ms: 0 };
      }
      if (!given) return;
      said = given;
      atMs = nowMs();
    },
    /** `undefined` before the server said anything. */
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
