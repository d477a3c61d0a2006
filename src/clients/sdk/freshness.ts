import type { Freshness } from "../../base/protocol/messages.ts";
import type { TransportMessage } from "./transport/transport.ts";

/** State and age of the data. The age grows while no message arrives, whatever the reason. */
export interface DataFreshness {
  /** The server's latest report. */
  readonly state: Freshness["state"];
  /** Why it is not `live`; empty if there is nothing to report. */
  readonly reason: string;
  /**
   * Age of the data in milliseconds. For a live source, this is the time since its last event.
   * Otherwise it is the age that the server reported, plus the time since then.
   */
  readonly ageMs: number;
  /** Event time of the newest data in ISO 8601; `null` before the first. */
  readonly observedAt: string | null;
  /** State of each part of the market, if there are several or one is still reading past data. */
  readonly parts?: Freshness["parts"] | undefined;
}

/** Tracks freshness from messages. `nowMs` is the platform's monotonic clock. */
export function createFreshness(nowMs: () => number) {
  let reported: Freshness | undefined;
  /** When the data had an age of 0. */
  let freshAtMs = 0;
  return {
    note(message: TransportMessage): void {
      const knownAt = reported?.observed_at ?? "";
      if ("freshness" in message) {
        reported = message.freshness;
        freshAtMs = nowMs() - reported.data_age_ms;
        // An event older than known data says nothing about the present: it comes from a backlog.
      } else if (reported && message.type === "event" && message.observed_at >= knownAt) {
        const status = message.name === "source-status" && message.data;
        reported = { ...reported, observed_at: message.observed_at, ...status };
        // An event of a source that is not live may be old, too: the source catches up.
        if (reported.state === "live" && (status || message.observed_at > knownAt)) freshAtMs = nowMs();
      }
    },
    /** Returns the freshness; `undefined` before the first report. */
    now: (): DataFreshness | undefined =>
      reported && {
        state: reported.state,
        reason: reported.reason,
        observedAt: reported.observed_at,
        ageMs: nowMs() - freshAtMs,
        parts: reported.parts,
      },
  };
}
