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

/*
 * The bodies of REST that are not resources of the specification.
 */

/** `GET /api/v1/snapshot`: everything at one instant. A stream that goes on after `cursor` continues it without a gap. */
export const SnapshotResponse = z.object({
  cursor: CursorText,
  /** Event time at which this state was seen. It stands while nothing changes; how old the data is, the header fields say. */
  observed_at: Timestamp,
  ...Snapshot.shape,
});
export type SnapshotResponse = z.infer<typeof SnapshotResponse>;

/** `GET /api/v1/events`: the events behind the cursor that was given, each as a WebSocket brings it, in order. */
export const EventsResponse = z.object({
  /** To be given as `after` next time: everything that was asked for up to here is in the answer. */
  cursor: CursorText,
  /** The filter in force: what was asked for, in one form. Absent: none. */
  filter: Filter.optional(),
  events: z.array(EventMessage),
  /** There is more in the log, perhaps nothing of what was asked for: ask again at once. */
  more: z.boolean(),
  /** The lists at `cursor`, where they were asked for. */
  snapshot: ViewSchema.optional(),
});
export type EventsResponse = z.infer<typeof EventsResponse>;

/** `POST /api/v1/tickets`: what opens one connection, given as `?ticket=`. */
export const TicketResponse = z.object({
  ticket: z.string(),
  /** From then on it opens nothing; at most 60 seconds ahead. */
  expires_at: Timestamp,
});
export type TicketResponse = z.infer<typeof TicketResponse>;

/** `GET /healthz`: the process lives. Says nothing about the data. */
export const HealthResponse = z.object({
  status: z.literal("ok"),
  version: z.string(),
  /** Whole seconds since the server was made. */
  uptime_s: z.int().min(0),
});
export type HealthResponse = z.infer<typeof HealthResponse>;

/** `GET /readyz`: fresh data is served. Where that is not so the answer is a problem with status 503. */
export const ReadyResponse = z.object({ status: z.literal("ready"), ...Freshness.shape });
export type ReadyResponse = z.infer<typeof ReadyResponse>;

/** What every problem's `type` begins with; the error's code follows. A name, not an address: there is nothing to fetch. */
export const PROBLEM_TYPE_PREFIX = "urn:flarewire:problem:";

const CODES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** Every answer with a status of 400 or above: `application/problem+json` of RFC 9457. */
export const Problem = z.object({
  /** Which kind of error; stable. */
  type: z.templateLiteral([PROBLEM_TYPE_PREFIX, z.enum(CODES)]),
  /** The kind in words; the same for every problem of this type. */
  title: z.string(),
  /** That of the response. */
  status: z.int().min(400).max(599),
  /** What was wrong this time. */
  detail: z.string(),
  /** Names this one occurrence, as the server's log does. */
  instance: z.string().regex(/^urn:flarewire:request:[0-9a-z-]+$/),
  /** The parameter, header field or setting that was wrong. */
  field: z.string().optional(),
  /** What would have been right. */
  bound: z.string().optional(),
  /** Of `cursor-gone`: why, and how much was missed. */
  lost: Lost.optional(),
  /** Of `not-ready`: how each part of the market fares, where it is made of several. */
  parts: z.array(FreshnessPart).optional(),
});
export type Problem = z.infer<typeof Problem>;
