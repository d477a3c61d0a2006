import type { CloseReason, Lost } from "../protocol/index.ts";
import type { DeflateCounts } from "./delivery/deflate-cache.ts";
import type { Framing } from "./delivery/framing.ts";

/**
 * What became of a request that wanted to be admitted. `refused`: it was its turn, and there was no room for it, or it may not have what it asked for; `full`: too many
 * waited; `late`: it waited for too long; `gone`: it left before.
 */
export type AdmissionOutcome = "admitted" | "refused" | "full" | "late" | "gone";

/** What a hub has done since its start, in plain counts that only grow: cheap to keep on the way to every client, and read when somebody asks. */
export interface HubCounters extends DeflateCounts {
  /** Connections taken, by transport. */
  readonly opened: Record<string, number>;
  /** Of those the ones that are not over. */
  readonly open: Record<string, number>;
  /** Of these the ones that negotiated compression. */
  openDeflated: number;
  /** Connections that are over, by the reason that the server gave; `client` where it gave none. */
  readonly closed: Record<CloseReason | "client", number>;
  /** Resumes that went on from the client's cursor. */
  resumed: number;
  /** Resumes that could not, by the reason that the client was told. */
  readonly resets: Record<Lost["reason"], number>;
  /** Events given to sockets: one event to a thousand clients counts a thousand. */
  deliveries: number;
  /** Their bytes, framed. */
  deliveredBytes: number;
  /** Requests that were to be let in, by what became of them. */
  readonly admissions: Record<AdmissionOutcome, number>;
  /** Requests that wait for their turn now. */
  admissionsWaiting: number;
  /** Backlogs that were left out for the state at the head: see W34. */
  conflations: number;
}

/** All counts at 0. */
export function createTally(): HubCounters {
  return {
    opened: { websocket: 0, sse: 0 },
    open: { websocket: 0, sse: 0 },
    openDeflated: 0,
    closed: {
      "going-away": 0,
      "bad-request": 0,
      "message-too-big": 0,
      "no-command": 0,
      unauthorized: 0,
      forbidden: 0,
      "rate-limited": 0,
      internal: 0,
      draining: 0,
      "slow-consumer": 0,
      "heartbeat-lost": 0,
      superseded: 0,
      reset: 0,
      client: 0,
    },
    resumed: 0,
    resets: { "epoch-changed": 0, expired: 0, ahead: 0 },
    deliveries: 0,
    deliveredBytes: 0,
    admissions: { admitted: 0, refused: 0, full: 0, late: 0, gone: 0 },
    admissionsWaiting: 0,
    conflations: 0,
    deflatedTexts: 0,
    deflatedFromBytes: 0,
    deflatedToBytes: 0,
  };
}

/** Counts a connection that was taken. */
export function countOpened(tally: HubCounters, { transport, isDeflated }: Framing): void {
  tally.opened[transport] = (tally.opened[transport] ?? 0) + 1;
  tally.open[transport] = (tally.open[transport] ?? 0) + 1;
  if (isDeflated) tally.openDeflated += 1;
}

/** Counts that it is over. */
export function countGone(tally: HubCounters, { transport, isDeflated }: Framing): void {
  tally.open[transport] = (tally.open[transport] ?? 1) - 1;
  if (isDeflated) tally.openDeflated -= 1;
}
