import { z } from "zod";
import { AnyFlares, byGroup, flaresOfOthers, Snapshot, Timestamp } from "../../../base/model/index.ts";
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
} from "../../../base/protocol/index.ts";

/* Bodies of REST that are not resources of the model. */

export const SnapshotResponse = z
  .object({
    cursor: CursorText,
    observed_at: Timestamp.describe("Event time of this state. The header fields give the age of the data."),
    ...Snapshot.omit({ candles: true, ...flaresOfOthers(byGroup(() => true as const)) }).shape,
    flares: AnyFlares,
  })
  .describe(
    "`GET /api/v1/snapshot`: the complete state at one moment. A stream after `cursor` continues it without a gap.",
  );
export type SnapshotResponse = z.infer<typeof SnapshotResponse>;

export const EventsResponse = z
  .object({
    cursor: CursorText.describe(
      "Pass it as `after` next time: the response has every requested event up to here.",
    ),
    filter: Filter.optional().describe("The filter in force, in normalized form. Absent: none."),
    events: z.array(EventMessage),
    more: z
      .boolean()
      .describe("The log has more events, perhaps none that match: send the next request at once."),
    snapshot: ViewSchema.optional().describe("The lists at `cursor`, if requested."),
  })
  .describe(
    "`GET /api/v1/events`: the events after the given cursor, in order, each as a WebSocket delivers it.",
  );
export type EventsResponse = z.infer<typeof EventsResponse>;

export const HealthResponse = z
  .object({
    status: z.literal("ok"),
    version: z.string(),
    uptime_s: z.int().min(0).describe("Seconds since the server was created."),
  })
  .describe("`GET /healthz`: the process responds.");
export type HealthResponse = z.infer<typeof HealthResponse>;

const StageLag = z
  .object({
    stage: z.enum(["seen", "waited", "judged", "sent"]),
    part: z.string().optional(),
    p50_ms: z.int(),
    p99_ms: z.int(),
  })
  .describe("How long a stage of a live market's last 300 seconds took.");

export const ReadyResponse = z
  .object({ status: z.literal("ready"), ...Freshness.shape, lag: z.array(StageLag).optional() })
  .describe(
    "`GET /readyz`: fresh data is served, or the server is a node of a cluster, in any `state`. Otherwise a problem with status 503.",
  );
export type ReadyResponse = z.infer<typeof ReadyResponse>;

/** Prefix of a problem's `type`, before the code. It is only a name: there is nothing to fetch. */
export const PROBLEM_TYPE_PREFIX = "urn:flarewire:problem:";

const CODES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

export const Problem = z
  .object({
    type: z.templateLiteral([PROBLEM_TYPE_PREFIX, z.enum(CODES)]).describe("The kind of error; stable."),
    title: z.string().describe("The kind in words; the same for every problem of this type."),
    status: z.int().min(400).max(599).describe("Status of the response."),
    detail: z.string().describe("What was wrong in this case."),
    instance: z
      .string()
      .regex(/^urn:flarewire:request:[0-9a-z-]+$/)
      .describe("Identifies this occurrence, also in the server's log."),
    field: z.string().optional().describe("The invalid parameter, header field or setting."),
    bound: z.string().optional().describe("What would be valid."),
    lost: Lost.optional().describe("For `cursor-gone`: why, and how much was missed."),
    parts: z
      .array(FreshnessPart)
      .optional()
      .describe("For `not-ready`: the state of each part of a market that has several."),
  })
  .describe("Every response with a status of 400 or above: `application/problem+json` of RFC 9457.");
export type Problem = z.infer<typeof Problem>;
