import { z } from "zod";
import { Charts, Explanations, Flares, Leaderboards, Newest, Timestamp } from "../model/index.ts";
import { CLOSE_CODES, type CloseReason } from "./close-codes.ts";
import { ERROR_CODES, type ErrorCode } from "./errors.ts";
import { ChannelSchema, EventBody, SourceState } from "./event.ts";
import { Filter } from "./filter.ts";
import { MarksText } from "./marks-text.ts";
import { PLANS } from "./plans.ts";

/*
 * The frames of a WebSocket: one JSON object a text frame, told apart by `type`. Clients ignore unknown fields; the server refuses them.
 */

/** Where a client is in the log; opaque: give it back as it came. */
export const CursorText = z.string().max(64);

/** A command's name for itself, chosen by the client; the answer repeats it, so numbers are those that survive JSON unchanged. */
export const CommandId = z.union([z.string().max(64), z.int()], {
  error: "it has to be a text of at most 64 characters or a whole number of at most 2^53 - 1",
});
export type CommandId = z.infer<typeof CommandId>;

/** How a part of a market that is made of several fares. */
export const FreshnessPart = z.object({
  name: z.string(),
  /** `live`: the market goes on with it. `stale`: without it, for the moment. `down`: it failed for good. */
  state: SourceState,
  /** Why it is not `live`, or what is amiss though it is; empty where there is nothing to say. */
  reason: z.string(),
  /** Event time up to which it has told; `null` before the first. */
  observed_at: Timestamp.nullable(),
  /** Milliseconds since that moved, or since the server's start. */
  data_age_ms: z.int().min(0),
});
export type FreshnessPart = z.infer<typeof FreshnessPart>;

/** How fresh the data is. Ages are wall-clock; `observed_at` is event time. */
export const Freshness = z.object({
  state: SourceState,
  /** Why it is not `live`, or what is amiss though it is; empty where there is nothing to say. */
  reason: z.string(),
  /** Event time of the data last seen; `null` before the first. */
  observed_at: Timestamp.nullable(),
  /** When the source was last heard of, in wall-clock time; `null` before the first. */
  last_success_at: Timestamp.nullable(),
  /** Milliseconds since then, or since the server's start. */
  data_age_ms: z.int().min(0),
  /** Of a market that is made of several, such as several chains: how each of them fares. */
  parts: z.array(FreshnessPart).optional(),
});
export type Freshness = z.infer<typeof Freshness>;

/** What kind of market is served, and what its feed can know. */
export const SourceInfo = z.object({
  name: z.string(),
  origin: z.enum(["live", "recorded", "simulated"]),
  /** Which facts the source supports; of the others the neutral value of the specification is served. */
  facts: z.object({
    trades: z.boolean(),
    liquidity: z.boolean(),
    listings: z.boolean(),
    profiles: z.boolean(),
  }),
});
export type SourceInfo = z.infer<typeof SourceInfo>;

/** The limits that a connection must keep. */
export const Limits = z.object({
  inbound_bytes: z.int(),
  commands_per_second: z.number(),
  commands_burst: z.int(),
  subscriptions: z.int(),
  first_command_within_ms: z.int(),
});
export type Limits = z.infer<typeof Limits>;

/** Server → client, first frame of every connection. */
export const Hello = z.object({
  type: z.literal("hello"),
  protocol: z.literal("flarewire.v1"),
  server: z.string(),
  server_time: Timestamp,
  epoch: z.string(),
  /** Where the server is; it moves no client. */
  cursor: CursorText,
  heartbeat_interval_ms: z.int(),
  /** The client's rule: nothing received for this long → reconnect with the cursor. */
  silence_limit_ms: z.int(),
  /** Where the server knows keys, what the connection may follow: see {@link channelsOfPlan}. */
  plan: z.enum(PLANS).optional(),
  limits: Limits,
  source: SourceInfo,
  freshness: Freshness,
});
export type Hello = z.infer<typeof Hello>;

/** The snapshot's part that the subscribed channels show. */
export const ViewSchema = z.object({
  flares: Flares.partial().optional(),
  newest: Newest.partial().optional(),
  charts: Charts.partial().optional(),
  leaderboards: Leaderboards.partial().optional(),
  explanations: Explanations,
});

/** Why a cursor cannot be resumed from, and how much was missed: `events` is `null` where nobody can know. */
export const Lost = z.object({
  reason: z.enum(["epoch-changed", "expired", "ahead"]),
  events: z.int().min(0).nullable(),
});
export type Lost = z.infer<typeof Lost>;

/** What a server that mirrors this one needs beside the snapshot. */
export const MirrorBase = z.object({
  /** Event time of the snapshot, as REST tells it. */
  observed_at: Timestamp,
  /** Of all channels the seq of the latest event; 0 when there was none in this epoch. */
  positions: z.record(z.string(), z.int().min(0)),
  /** What items were since they entered their lists, for filters: see {@link MarksText}. */
  marks: MarksText,
});
export type MirrorBase = z.infer<typeof MirrorBase>;

/**
 * Server → client, the answer to `subscribe`. `resumed: "full"`: every event after the given cursor follows. `"reset"`: a
 * snapshot is here instead, taken exactly at `cursor`; `lost` says what was missed when a cursor was given.
 */
export const Subscribed = z.object({
  type: z.literal("subscribed"),
  id: CommandId,
  channels: z.array(ChannelSchema),
  /** The filter in force: what was asked for, in one form. Absent: none. */
  filter: Filter.optional(),
  cursor: CursorText,
  resumed: z.enum(["full", "reset"]),
  lost: Lost.optional(),
  base: MirrorBase.optional(),
  snapshot: ViewSchema.optional(),
});
export type Subscribed = z.infer<typeof Subscribed>;

/** Server → client, the answer to `unsubscribe`. */
export const Unsubscribed = z.object({ type: z.literal("unsubscribed"), id: CommandId, cursor: CursorText });
export type Unsubscribed = z.infer<typeof Unsubscribed>;

/** What the log adds to an event: its place and when it was put there. */
const placed = { type: z.literal("event"), cursor: CursorText, seq: z.int().min(1), emitted_at: Timestamp };

/**
 * Server → client. `prev` is the seq before which nothing of this subscription was left out: a client that holds `seq` ≥ `prev`
 * has missed nothing, and one that holds `seq` ≥ this one's has it already.
 */
export const EventMessage = z.intersection(
  z.object({
    ...placed,
    prev: z.int().min(0),
    /** Seq of the last event of the log that came of the same look at the source: behind it, and not before, the lists are a state that REST serves. */
    batch: z.int().min(1).optional(),
  }),
  EventBody,
);
export type EventMessage = z.infer<typeof EventMessage>;

/** Server → client, every `heartbeat_interval_ms` after the first `subscribed`. Everything of the subscription up to `cursor` was sent. */
export const Heartbeat = z.object({
  type: z.literal("heartbeat"),
  cursor: CursorText,
  server_time: Timestamp,
  /** By channel the seq of its latest event; 0 when it has had none in this epoch. */
  positions: z.record(z.string(), z.int().min(0)),
  freshness: Freshness,
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** Server → client, the answer to `ping`. */
export const Pong = z.object({ type: z.literal("pong"), id: CommandId.optional(), server_time: Timestamp });
export type Pong = z.infer<typeof Pong>;

/** Server → client: a command was refused; the connection lives. `id` is there when the command had a readable one. */
export const ErrorMessage = z.object({
  type: z.literal("error"),
  id: CommandId.optional(),
  code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  field: z.string().optional(),
});
export type ErrorMessage = z.infer<typeof ErrorMessage>;

/** Server → client, over server-sent events only: the last event of an answer that the server ends, as the close frame of a WebSocket. */
export const CloseMessage = z.object({
  type: z.literal("close"),
  reason: z.enum(Object.keys(CLOSE_CODES) as [CloseReason, ...CloseReason[]]),
  /** That of {@link CLOSE_CODES}. */
  code: z.int(),
  action: z.enum(["stop", "backoff", "resume"]),
});
export type CloseMessage = z.infer<typeof CloseMessage>;

/** Server → client, in mode `latest`: a start, a finish or a change of the source that the client was too slow for. News only: it changes no list and moves no cursor. */
export const Missed = z.intersection(
  z.object({ type: z.literal("missed"), seq: z.int().min(1), emitted_at: Timestamp }),
  EventBody,
);
export type Missed = z.infer<typeof Missed>;

/**
 * Server → client, in mode `latest`, in place of events that the client was too slow for: the lists of these channels as they are at `cursor`. With flare
 * channels among them it has all that are followed, and `explanations` replaces the ones before.
 */
export const Conflated = z.object({
  type: z.literal("conflated"),
  cursor: CursorText,
  channels: z.array(ChannelSchema),
  snapshot: ViewSchema,
});
export type Conflated = z.infer<typeof Conflated>;

/**
 * Server → client: the server is being replaced. Connect elsewhere, or here again, with the cursor, `reconnect_after_ms` from now: a moment
 * of the client's own, so that not all come at once. Then the connection is closed, if it is still there.
 */
export const Goaway = z.object({
  type: z.literal("goaway"),
  reason: z.enum(["draining"]),
  reconnect_after_ms: z.int().min(0),
  /** Time over which all connections are sent away. */
  window_ms: z.int().min(0),
});
export type Goaway = z.infer<typeof Goaway>;

/** Any frame from the server. */
export const ServerMessage = z.union([
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
]);
export type ServerMessage = z.infer<typeof ServerMessage>;

/** Client → server: follow these channels (or patterns). `after`: continue behind this cursor. `filter`: only these items and events. `mode`: `events` (default) sends every event however late; `latest` may conflate them. `snapshot: false`: without a cursor, start at the head without the lists. `mirror`: with the lists comes `base`. */
export const Subscribe = z.strictObject({
  type: z.literal("subscribe"),
  id: CommandId,
  channels: z.array(z.string().max(64)).min(1).max(64),
  filter: Filter.optional(),
  mode: z.enum(["events", "latest"]).optional(),
  after: CursorText.optional(),
  snapshot: z.boolean().optional(),
  mirror: z.boolean().optional(),
});
export type Subscribe = z.infer<typeof Subscribe>;

/** Client → server: end the subscription of that id. */
export const Unsubscribe = z.strictObject({ type: z.literal("unsubscribe"), id: CommandId });
export type Unsubscribe = z.infer<typeof Unsubscribe>;

/** Client → server: answer me. */
export const Ping = z.strictObject({ type: z.literal("ping"), id: CommandId.optional() });
export type Ping = z.infer<typeof Ping>;

/** Any command, told apart by `type`. */
export const Command = z.discriminatedUnion("type", [Subscribe, Unsubscribe, Ping]);
export type Command = z.infer<typeof Command>;
