import { z } from "zod";
import { Snapshot, Timestamp } from "../../model/index.ts";
import {
  CursorText,
  ERROR_CODES,
  type ErrorCode,
  EventMessage,
  Filter,
  Freshness,
  FreshnessPart,
  Lost,
  ViewSchema,
} from "../../protocol/index.ts";

/* Bodies of REST that are not resources of the specification. */

/**
 * `GET /api/v1/snapshot`: the complete state at one moment. A stream after `cursor` continues it
 * without a gap.
 */
export const SnapshotResponse = z.object({
  cursor: CursorText,
  /**
   * Event time of this state. It stays while nothing changes; the header fields give the age of the
   * data.
   */
  observed_at: Timestamp,
  ...Snapshot.shape,
});
export type SnapshotResponse = z.infer<typeof SnapshotResponse>;

/**
 * `GET /api/v1/events`: the events after the given cursor, in order, each as a WebSocket delivers
 * it.
 */
export const EventsResponse = z.object({
  /** Pass it as `after` next time: the response has every requested event up to here. */
  cursor: CursorText,
  /** The filter in force, in normalized form. Absent: none. */
  filter: Filter.optional(),
  events: z.array(EventMessage),
  /** The log has more events, though perhaps none that match: send the next request at once. */
  more: z.boolean(),
  /** The lists at `cursor`, if requested. */
  snapshot: ViewSchema.optional(),
});
export type EventsResponse = z.infer<typeof EventsResponse>;

/** `POST /api/v1/tickets`: a ticket that opens one connection, as `?ticket=`. */
export const TicketResponse = z.object({
  ticket: z.string(),
  /** The ticket is invalid from then on; at most 60 seconds ahead. */
  expires_at: Timestamp,
});
export type TicketResponse = z.infer<typeof TicketResponse>;

/** `GET /healthz`: the process responds. Says nothing about the data. */
export const HealthResponse = z.object({
  status: z.literal("ok"),
  version: z.string(),
  /** Whole seconds since the server was created. */
  uptime_s: z.int().min(0),
});
export type HealthResponse = z.infer<typeof HealthResponse>;

/** `GET /readyz`: fresh data is served. Otherwise the response is a problem with status 503. */
export const ReadyResponse = z.object({ status: z.literal("ready"), ...Freshness.shape });
export type ReadyResponse = z.infer<typeof ReadyResponse>;

/**
 * Prefix of every problem's `type`, before the error's code. It is a name, not a URL: there is
 * nothing to fetch.
 */
export const PROBLEM_TYPE_PREFIX = "urn:flarewire:problem:";

const CODES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** Every response with a status of 400 or above: `application/problem+json` of RFC 9457. */
export const Problem = z.object({
  /** The kind of error; stable. */
  type: z.templateLiteral([PROBLEM_TYPE_PREFIX, z.enum(CODES)]),
  /** The kind in words; the same for every problem of this type. */
  title: z.string(),
  /** Status of the response. */
  status: z.int().min(400).max(599),
  /** What was wrong in this case. */
  detail: z.string(),
  /** Identifies this occurrence, also in the server's log. */
  instance: z.string().regex(/^urn:flarewire:request:[0-9a-z-]+$/),
  /** The invalid parameter, header field or setting. */
  field: z.string().optional(),
  /** What would be valid. */
  bound: z.string().optional(),
  /** For `cursor-gone`: why, and how much was missed. */
  lost: Lost.optional(),
  /** For `not-ready`: the state of each part of a market that has several. */
  parts: z.array(FreshnessPart).optional(),
});
export type Problem = z.infer<typeof Problem>;
