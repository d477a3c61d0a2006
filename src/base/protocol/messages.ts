import { z } from "zod";
import {
  byForm,
  Candles,
  ChainFlares,
  Charts,
  ExchangeFlares,
  Explanations,
  Flares,
  flaresOfOthers,
  Leaderboards,
  Newest,
  Outcomes,
  Timestamp,
} from "../model/index.ts";
import { CLOSE_CODES, type CloseReason } from "./close-codes.ts";
import { ERROR_CODES, type ErrorCode } from "./errors.ts";
import { ChannelSchema, EventBody, SourceState } from "./event.ts";
import { Filter } from "./filter.ts";
import { MarksText } from "./marks-text.ts";
import { PLANS } from "./plans.ts";

/*
 * Messages, discriminated by `type`: each is the JSON of a WebSocket's text frame or of a
 * server-sent event. Clients ignore unknown fields; the server rejects them.
 */

export const CursorText = z
  .string()
  .max(64)
  .describe("A client's position in the log. Opaque: send it back unchanged.");

export const CommandId = z
  .union([z.string().max(64), z.int()], {
    error: "it must be a text of at most 64 characters or a whole number of at most 2^53 - 1",
  })
  .describe(
    "A command's id, chosen by the client and repeated in the response. Numbers must survive JSON unchanged.",
  );
export type CommandId = z.infer<typeof CommandId>;

const Reason = z
  .string()
  .describe("Why it is not `live`, or what is wrong although it is; empty if there is nothing to report.");

export const FreshnessPart = z
  .object({
    name: z.string(),
    state: SourceState.describe(
      "`live`: the part is in use. `stale`: the market continues without it for now. `down`: it failed permanently.",
    ),
    reason: Reason,
    observed_at: Timestamp.nullable().describe(
      "Event time up to which it has reported; `null` before the first report.",
    ),
    data_age_ms: z
      .int()
      .min(0)
      .describe(
        "Milliseconds since `observed_at` last advanced, or since the server's start. Of a market that catches up after a restart: the age of `observed_at`.",
      ),
    filling: z
      .object({ read_ms: z.int().min(0), of_ms: z.int().min(0) })
      .optional()
      .describe(
        "Progress of reading its past, in milliseconds of event time; absent once all is read. Until then its counts and usual values cover less time.",
      ),
  })
  .describe("State of one part of a market that combines several.");
export type FreshnessPart = z.infer<typeof FreshnessPart>;

export const Freshness = z
  .object({
    state: SourceState,
    reason: Reason,
    observed_at: Timestamp.nullable().describe("Event time of the latest data; `null` before the first."),
    last_success_at: Timestamp.nullable().describe(
      "Wall-clock time from which `data_age_ms` counts; `null` before the source's first response.",
    ),
    data_age_ms: z
      .int()
      .min(0)
      .describe(
        "Age of the data in milliseconds: since the source's latest response, plus the age that an upstream stated in it; before the first, since the server's start. While the market catches up after a restart: the age of `observed_at`.",
      ),
    parts: z
      .array(FreshnessPart)
      .optional()
      .describe("State of each part, if the market combines several, such as several chains."),
  })
  .describe("Freshness of the data. Ages are wall-clock time; `observed_at` is event time.");
export type Freshness = z.infer<typeof Freshness>;

export const SourceInfo = z
  .object({
    name: z.string(),
    origin: z.enum(["live", "recorded", "simulated"]),
    facts: z
      .object({
        trades: z.boolean(),
        liquidity: z.boolean(),
        listings: z.boolean(),
        profiles: z.boolean(),
      })
      .describe(
        "Facts that the source supports. Fields for other facts have the specification's neutral value.",
      ),
  })
  .describe("The kind of market served, and the facts that its feed supports.");
export type SourceInfo = z.infer<typeof SourceInfo>;

export const Limits = z
  .object({
    inbound_bytes: z.int(),
    commands_per_second: z.number(),
    commands_burst: z.int(),
    subscriptions: z.int(),
    first_command_within_ms: z.int(),
  })
  .describe("Limits of a connection.");
export type Limits = z.infer<typeof Limits>;

export const Hello = z
  .object({
    type: z.literal("hello"),
    protocol: z.literal("flarewire.v1"),
    server: z.string(),
    server_time: Timestamp,
    epoch: z.string(),
    cursor: CursorText.describe("The server's position; it does not move the client's cursor."),
    heartbeat_interval_ms: z.int(),
    silence_limit_ms: z.int().describe("Reconnect with the cursor after this long without a frame."),
    plan: z.enum(PLANS).optional().describe("The connection's plan. Absent if the server uses no keys."),
    limits: Limits,
    source: SourceInfo,
    freshness: Freshness,
  })
  .describe("Server → client: the first frame of every connection.");
export type Hello = z.infer<typeof Hello>;

export const ViewSchema = z
  .object({
    flares: Flares.partial().optional(),
    ...flaresOfOthers(
      byForm(
        Flares.partial().optional(),
        ExchangeFlares.partial().optional(),
        ChainFlares.partial().optional(),
      ),
    ),
    newest: Newest.partial().optional(),
    charts: Charts.partial().optional(),
    leaderboards: Leaderboards.partial().optional(),
    explanations: Explanations,
    outcomes: Outcomes.optional().describe("Present with a channel of finished flares."),
  })
  .describe("The part of the snapshot that belongs to the subscribed channels.");

export const Lost = z
  .object({
    reason: z.enum(["epoch-changed", "expired", "ahead"]),
    events: z.int().min(0).nullable(),
  })
  .describe("Why a cursor cannot be resumed, and how many events were missed: `null` if unknown.");
export type Lost = z.infer<typeof Lost>;

const Positions = z
  .record(z.string(), z.int().min(0))
  .describe("Seq of the latest event of each channel; 0 if it had none in this epoch.");

export const MirrorBase = z
  .object({
    observed_at: Timestamp.describe("Event time of the snapshot, as in REST."),
    positions: Positions,
    marks: MarksText.describe(
      "Earlier values of items since they entered their lists, for filters: see MarksText.",
    ),
    candles: Candles.optional().describe("The state of the channel `candles`."),
  })
  .describe("The state that a mirror needs besides the snapshot.");
export type MirrorBase = z.infer<typeof MirrorBase>;

export const Part = z
  .object({ type: z.literal("part"), snapshot: ViewSchema })
  .describe(
    "Server → client, to a client that set `max_message`: a part of the snapshot of the next `subscribed` or `conflated`, which completes it. Has no cursor: do not act on it before.",
  );
export type Part = z.infer<typeof Part>;

const Parts = z
  .int()
  .min(1)
  .optional()
  .describe("How many messages `part` belong to `snapshot` and came before; absent if it is whole.");

export const Subscribed = z
  .object({
    type: z.literal("subscribed"),
    id: CommandId,
    channels: z.array(ChannelSchema),
    filter: Filter.optional().describe("The filter in force, in normalized form; absent if there is none."),
    cursor: CursorText,
    resumed: z.enum(["full", "reset"]),
    lost: Lost.optional(),
    base: MirrorBase.optional(),
    parts: Parts,
    snapshot: ViewSchema.optional(),
  })
  .describe(
    'Server → client: the response to `subscribe`. `resumed: "full"`: every event after the given ' +
      'cursor follows. `"reset"`: a snapshot taken exactly at `cursor` is included instead; `lost` ' +
      "says what was missed if a cursor was given.",
  );
export type Subscribed = z.infer<typeof Subscribed>;

export const Unsubscribed = z
  .object({ type: z.literal("unsubscribed"), id: CommandId, cursor: CursorText })
  .describe("Server → client: the response to `unsubscribe`.");
export type Unsubscribed = z.infer<typeof Unsubscribed>;

/** Fields that the log adds to an event: its position and when it was appended. */
const appended = { type: z.literal("event"), cursor: CursorText, seq: z.int().min(1), emitted_at: Timestamp };

const EventPosition = z.object({
  ...appended,
  prev: z.int().min(0),
  batch: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Seq of the last event in the same batch. Only after that event are the lists a state that REST serves.",
    ),
});

export const EventMessage: z.ZodIntersection<typeof EventPosition, typeof EventBody> = z
  .intersection(EventPosition, EventBody)
  .describe(
    "Server → client. No event of the subscription lies between `prev` and `seq`. A client whose position is `prev` or later has missed nothing; one whose position is `seq` or later already has this event.",
  );
export type EventMessage = z.infer<typeof EventMessage>;

export const Heartbeat = z
  .object({
    type: z.literal("heartbeat"),
    cursor: CursorText,
    server_time: Timestamp,
    positions: Positions,
    freshness: Freshness,
  })
  .describe(
    "Server → client, every `heartbeat_interval_ms` after the first `subscribed`. Everything of the subscription up to `cursor` was sent.",
  );
export type Heartbeat = z.infer<typeof Heartbeat>;

export const Pong = z
  .object({ type: z.literal("pong"), id: CommandId.optional(), server_time: Timestamp })
  .describe("Server → client: the response to `ping`.");
export type Pong = z.infer<typeof Pong>;

export const ErrorMessage = z
  .object({
    type: z.literal("error"),
    id: CommandId.optional(),
    code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    field: z.string().optional(),
  })
  .describe(
    "Server → client: a command was rejected; the connection stays open. `id` is present if the command's was readable.",
  );
export type ErrorMessage = z.infer<typeof ErrorMessage>;

export const CloseMessage = z
  .object({
    type: z.literal("close"),
    reason: z.enum(Object.keys(CLOSE_CODES) as [CloseReason, ...CloseReason[]]),
    code: z.int().describe("The code in CLOSE_CODES."),
    action: z.enum(["stop", "backoff", "resume"]),
  })
  .describe(
    "Server → client, over server-sent events only: the last event before the server ends the stream. Corresponds to a WebSocket close frame.",
  );
export type CloseMessage = z.infer<typeof CloseMessage>;

const MissedPosition = z.object({ type: z.literal("missed"), seq: z.int().min(1), emitted_at: Timestamp });

export const Missed: z.ZodIntersection<typeof MissedPosition, typeof EventBody> = z
  .intersection(MissedPosition, EventBody)
  .describe(
    "Server → client, in mode `latest`: a start, finish or outcome of a flare, or a source status, that `conflated` skips. It changes no list and moves no cursor.",
  );
export type Missed = z.infer<typeof Missed>;

export const Conflated = z
  .object({
    type: z.literal("conflated"),
    cursor: CursorText,
    channels: z.array(ChannelSchema),
    parts: Parts,
    snapshot: ViewSchema,
  })
  .describe(
    "Server → client, in mode `latest`: replaces the backlog of a client that is slow or resumes. Contains the lists of these channels at `cursor`. Flare channels always come together, and `explanations` then replaces the previous ones.",
  );
export type Conflated = z.infer<typeof Conflated>;

export const Goaway = z
  .object({
    type: z.literal("goaway"),
    reason: z.enum(["draining"]),
    reconnect_after_ms: z.int().min(0),
    window_ms: z.int().min(0).describe("Shutdown window over which all connections are closed."),
  })
  .describe(
    "Server → client: the server is shutting down. After `reconnect_after_ms`, connect again with the cursor, here or elsewhere. The delay differs per client, so that they do not all return at once. The server then closes the connection if it is still open.",
  );
export type Goaway = z.infer<typeof Goaway>;

/** The type is written out: the declaration of an inferred type would repeat every message. */
export const ServerMessage: z.ZodUnion<
  readonly [
    typeof Hello,
    typeof Subscribed,
    typeof Unsubscribed,
    typeof EventMessage,
    typeof Heartbeat,
    typeof Pong,
    typeof ErrorMessage,
    typeof Goaway,
    typeof Missed,
    typeof Conflated,
    typeof Part,
  ]
> = z.union([
  Hello,
  Subscribed,
  Unsubscribed,
  EventMessage,
  Heartbeat,
  Pong,
  ErrorMessage,
  Goaway,
  Missed,
  Conflated,
  Part,
]);
export type ServerMessage = z.infer<typeof ServerMessage>;

export const Subscribe = z
  .strictObject({
    type: z.literal("subscribe"),
    id: CommandId,
    channels: z.array(z.string().max(64)).min(1).max(64),
    filter: Filter.optional(),
    mode: z.enum(["events", "latest"]).optional(),
    after: CursorText.optional(),
    snapshot: z.boolean().optional(),
    mirror: z.boolean().optional(),
    max_message: z.int().min(8_192).max(524_288).optional(),
  })
  .describe(
    "Client → server: subscribe to channels or patterns. `after`: continue after this cursor. `filter`: only these items and events. `mode`: `events` (default) sends every event, however late; `latest` may conflate them. `snapshot: false`: omit the lists, also if the cursor cannot be resumed. `mirror`: add `base` to the lists. `max_message`: send long lists in parts of at most so many bytes.",
  );
export type Subscribe = z.infer<typeof Subscribe>;

export const Unsubscribe = z
  .strictObject({ type: z.literal("unsubscribe"), id: CommandId })
  .describe("Client → server: end the subscription with this id.");
export type Unsubscribe = z.infer<typeof Unsubscribe>;

export const Ping = z
  .strictObject({ type: z.literal("ping"), id: CommandId.optional() })
  .describe("Client → server: request a `pong`.");
export type Ping = z.infer<typeof Ping>;

export const Command = z
  .discriminatedUnion("type", [Subscribe, Unsubscribe, Ping])
  .describe("Any command, discriminated by `type`.");
export type Command = z.infer<typeof Command>;
