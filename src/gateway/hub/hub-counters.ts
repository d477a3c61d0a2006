import { CLOSE_CODES, type CloseReason, type Lost } from "../../base/protocol/index.ts";
import { DurationHistogram } from "../metrics/duration-histogram.ts";
import type { DeflateCounts } from "./delivery/deflate-cache.ts";
import type { Framing } from "./delivery/framing.ts";

/**
 * `refused`: refused after the wait. `full`: the queue was full. `late`: the request waited too
 * long. `gone`: the client left while waiting.
 */
type AdmissionOutcome = "admitted" | "refused" | "full" | "late" | "gone";

/** Monotonic counters and gauges of one hub. Cheap to update on the hot path, read on demand. */
export interface HubCounters extends DeflateCounts {
  /** Accepted connections, by transport. */
  readonly opened: Record<string, number>;
  /** Currently open connections, by transport. */
  readonly open: Record<string, number>;
  /** Open connections that negotiated compression. */
  openDeflated: number;
  /**
   * Closed connections, by the server's close reason; `client` if the server did not close them.
   */
  readonly closed: Record<CloseReason | "client", number>;
  /** Resumes that continued from the client's cursor. */
  resumed: number;
  /** Resumes that could not continue, by the reason reported to the client. Polls do not count. */
  readonly resets: Record<Lost["reason"], number>;
  /** Events written to sockets: one event to a thousand clients counts a thousand. */
  deliveries: number;
  /** Framed bytes of these deliveries. */
  deliveredBytes: number;
  /** Time from `emitted_at` to the write, for live deliveries only, not for catching up. */
  readonly delays: DurationHistogram;
  readonly admissions: Record<AdmissionOutcome, number>;
  /** Requests currently waiting for admission. */
  admissionsWaiting: number;
  /** Backlogs replaced by the state at the head (PROTOCOL.md, W34). */
  conflations: number;
}

export function createHubCounters(): HubCounters {
  return {
    opened: { websocket: 0, sse: 0 },
    open: { websocket: 0, sse: 0 },
    openDeflated: 0,
    closed: noneClosed(),
    resumed: 0,
    resets: { "epoch-changed": 0, expired: 0, ahead: 0 },
    deliveries: 0,
    deliveredBytes: 0,
    delays: new DurationHistogram(),
    admissions: { admitted: 0, refused: 0, full: 0, late: 0, gone: 0 },
    admissionsWaiting: 0,
    conflations: 0,
    deflatedTexts: 0,
    deflatedFromBytes: 0,
    deflatedToBytes: 0,
  };
}

function noneClosed(): HubCounters["closed"] {
  const reasons = [...Object.keys(CLOSE_CODES), "client"];
  return Object.fromEntries(reasons.map((reason) => [reason, 0])) as HubCounters["closed"];
}

export function countOpened(counters: HubCounters, { transport, isDeflated }: Framing): void {
  counters.opened[transport] = (counters.opened[transport] ?? 0) + 1;
  counters.open[transport] = (counters.open[transport] ?? 0) + 1;
  if (isDeflated) counters.openDeflated += 1;
}

export function countGone(counters: HubCounters, { transport, isDeflated }: Framing): void {
  counters.open[transport] = (counters.open[transport] ?? 1) - 1;
  if (isDeflated) counters.openDeflated -= 1;
}
