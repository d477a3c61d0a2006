import { z } from "zod";
import {
  Address,
  AnyFlare,
  Candle,
  Explanation,
  FinishCause,
  GROUPS,
  Group,
  Listing,
  Odds,
  Outcome,
  Surge,
  Timestamp,
} from "../model/index.ts";
import { CHANNELS, type Channel, FLARE_CHANNELS } from "./channels.ts";
import { ChangeSchema, OrderChange, RemoveChange, SetChange } from "./view/change-schema.ts";

/*
 * Events as stored and carried by every transport. `data` describes the event and its changes to
 * the channel's list (see change.ts): one by `op`, whose item to insert is `data.flare` or
 * `data.listing`, or several in `changes`.
 */

const FlareChannel = z.enum(FLARE_CHANNELS);
/** Why the flare started and ended; `null` if the source does not explain. */
const Why = Explanation.nullable();
const index = z.int().min(0);
const ended = {
  flare: AnyFlare,
  why: Why,
  cause: FinishCause,
  outcome: Outcome.nullable()
    .optional()
    .describe("`null` if the source measured none; absent if the server's version measures none."),
};

function event<N extends string, C extends z.ZodType, D extends z.ZodType>(name: N, channel: C, data: D) {
  return z.object({
    name: z.literal(name).describe("What happened."),
    channel: channel.describe("The channel whose list it changes."),
    observed_at: Timestamp.describe(
      "Event time of the observation, by the market's clock: in a replay it is in the past.",
    ),
    data,
  });
}

export const FlareStarted = event(
  "flare-started",
  FlareChannel,
  z.object({
    op: z.literal("insert"),
    index,
    flare: AnyFlare,
    why: Why,
    cause: z.enum(["detected", "aged", "passed"]),
    odds: Odds.nullable().optional().describe("The same as `why.odds`."),
  }),
).describe(
  "A flare enters `flares.pro` (cause `detected`), or `flares.free` (cause `aged`: it is at least 5 minutes old, has no canary and has not fallen). Cause `passed`: it was listed before, and meets the subscription's filter only now.",
);

export const FlareUpdated = event(
  "flare-updated",
  FlareChannel,
  z.union([SetChange.extend({ why: Why.optional() }), OrderChange]),
).describe(
  "Fields of a listed flare, its explanation, or the order of the list changed. `why`, if present, replaces the previous explanation.",
);

export const FlareSurged = event(
  "flare-surged",
  z.enum(FLARE_CHANNELS.filter((channel) => !channel.endsWith(".finished"))),
  SetChange.extend({
    flare: AnyFlare.describe("The whole flare after the change."),
    why: Explanation,
    surge: Surge.describe("The same as `why.surge`."),
  }),
).describe(
  "A running flare surged: its strength doubled, or an exchange's seconds met the conditions of a start again. It replaces the `flare-updated` of that moment: its `set` and `why` are applied the same way.",
);

export const FlareFinished = event(
  "flare-finished",
  FlareChannel,
  z.union([
    z.object({ op: z.literal("remove"), id: z.string(), ...ended }),
    z.object({ op: z.literal("insert"), index, ...ended }),
  ]),
).describe(
  "A flare ended: it leaves `flares.pro` and `flares.free`, and enters `flares.finished`. Each of these events has its final form as `flare`. `outcome` is what the price has done since the start. If it is not `final`, a `flare-outcome` follows, unless a `flare-expired` comes first.",
);

export const FlareOutcome = event(
  "flare-outcome",
  z.enum(FLARE_CHANNELS.filter((channel) => channel.endsWith(".finished"))),
  SetChange.extend({ outcome: Outcome.nullable() }),
).describe("The outcome of a finished flare became final, an hour after the flare's start. `set` is empty.");

export const FlareWithdrawn = event(
  "flare-withdrawn",
  FlareChannel,
  RemoveChange.extend({ cause: z.enum(["canary", "fallen", "upstream", "filtered"]) }),
).describe(
  "A running flare leaves `flares.free` because of a canary or because its liquidity is no longer locked, or (cause `fallen`) because its price has fallen by a third since its start or by half since its peak; it stays in `flares.pro`. Cause `upstream`: the source lists it only in the other of these two lists now. Cause `filtered`: the flare continues, but no longer meets the subscription's filter.",
);

/** `filtered`: the item is still listed, but no longer meets the subscription's filter. */
const Filtered = RemoveChange.extend({ cause: z.literal("filtered").optional() });

export const FlareExpired = event("flare-expired", FlareChannel, Filtered).describe(
  "A finished flare leaves `flares.finished` after 24 hours. It leaves earlier if a hundred newer ones have finished and it has no outcome or a final one, or if a thousand have. Cause `filtered`: it no longer meets the subscription's filter.",
);

const NewestChannel = z.literal("newest.bsc");
export const TokenListed = event(
  "token-listed",
  NewestChannel,
  z.object({ op: z.literal("insert"), index, listing: Listing, cause: z.literal("passed").optional() }),
).describe(
  "A token was listed. Cause `passed`: it was listed before, and meets the subscription's filter only now.",
);
export const TokenUpdated = event("token-updated", NewestChannel, z.union([SetChange, OrderChange])).describe(
  "Fields of a listing changed, such as its price, liquidity or newly found facts, or the order of the list.",
);
export const TokenUnlisted = event("token-unlisted", NewestChannel, Filtered).describe(
  "A listing leaves at the age of 15 minutes, or earlier if there are 1,000 newer ones, or if its token is forgotten or found to be a quote token. Cause `filtered`: it no longer meets the subscription's filter.",
);

const changes = z.array(ChangeSchema).min(1);
export const ChartUpdated = event(
  "chart-updated",
  z.enum(GROUPS.map((group) => `charts.${group}` as const)),
  z.object({ group: Group, changes }),
).describe("A group's chart for the new minute: all changes since the previous one.");
export const LeaderboardUpdated = event(
  "leaderboard-updated",
  z.enum(GROUPS.map((group) => `leaderboards.${group}` as const)),
  z.object({ group: Group, changes }),
).describe("A group's leaderboard for the new minute: all changes since the previous one.");

export const CandlesClosed = event(
  "candles-closed",
  z.literal("candles"),
  z.object({
    group: Group,
    closed_at: Timestamp.nullable().describe("As in `/api/v1/candles`."),
    tokens: z
      .array(
        z.object({
          address: Address,
          from: Timestamp.describe("The token's candles from here on are replaced by these."),
          candles: z.array(Candle),
        }),
      )
      .describe("New and changed candles. A new token brings those of the hour before."),
    gone: z.array(Address).describe("Tokens whose candles are no longer followed."),
  }),
).describe(
  "A minute ended, or a flare started: the candles of tokens that flare, or whose flare started within two hours. Candles that opened more than 60 minutes before `closed_at` leave.",
);

export const SourceState = z
  .enum(["live", "stale", "down"])
  .describe("State of the data source: `live`, `stale` (no data for too long) or `down` (it fails).");
export type SourceState = z.infer<typeof SourceState>;
export const SourceStatusEvent = event(
  "source-status",
  z.literal("status"),
  z.object({ state: SourceState, reason: z.string() }),
).describe("The state of the data source changed. `observed_at` is the event time of its latest data.");

/** The type is written out: the declaration of an inferred type would repeat every event. */
export const EventBody: z.ZodDiscriminatedUnion<
  [
    typeof FlareStarted,
    typeof FlareUpdated,
    typeof FlareSurged,
    typeof FlareFinished,
    typeof FlareOutcome,
    typeof FlareWithdrawn,
    typeof FlareExpired,
    typeof TokenListed,
    typeof TokenUpdated,
    typeof TokenUnlisted,
    typeof ChartUpdated,
    typeof LeaderboardUpdated,
    typeof CandlesClosed,
    typeof SourceStatusEvent,
  ],
  "name"
> = z
  .discriminatedUnion("name", [
    FlareStarted,
    FlareUpdated,
    FlareSurged,
    FlareFinished,
    FlareOutcome,
    FlareWithdrawn,
    FlareExpired,
    TokenListed,
    TokenUpdated,
    TokenUnlisted,
    ChartUpdated,
    LeaderboardUpdated,
    CandlesClosed,
    SourceStatusEvent,
  ])
  .describe("Any event, discriminated by `name`.");
export type EventBody = z.infer<typeof EventBody>;

export const EVENT_NAMES = EventBody.options.map((option) => option.shape.name.value);
export const EventName = z.enum(EVENT_NAMES).describe("The name of an event.");
export type EventName = z.infer<typeof EventName>;

/**
 * Events that are stored longer: starts, surges, finishes and outcomes of flares, and states of the
 * source.
 */
export const LASTING_EVENTS: ReadonlySet<EventName> = new Set([
  "flare-started",
  "flare-surged",
  "flare-finished",
  "flare-outcome",
  "source-status",
]);

/** Returns the names of the events that a channel can carry. */
export function eventNamesOn(channel: Channel): readonly EventName[] {
  return NAMES_ON.get(channel) ?? [];
}

const NAMES_ON: ReadonlyMap<Channel, readonly EventName[]> = new Map(
  CHANNELS.map((channel) => {
    const carrying = EventBody.options.filter(({ shape }) => shape.channel.safeParse(channel).success);
    return [channel, carrying.map(({ shape }) => shape.name.value)];
  }),
);

export const ChannelSchema = z.enum(CHANNELS);
