import { z } from "zod";
import { Explanation, FinishCause, Flare, Group, Listing, Timestamp } from "../model/index.ts";
import { CHANNELS, type Channel, FLARE_CHANNELS } from "./channels.ts";
import { ChangeSchema, OrderChange, RemoveChange, SetChange } from "./view/change-schema.ts";

/*
 * What happened, as the log keeps it and every transport carries it. `data` says in plain words what happened and, by
 * `op`, what it does to the channel's list (see change.ts): an insert's item is `data.flare` or `data.listing`.
 */

const FlareChannel = z.enum(FLARE_CHANNELS);
/** Why the flare fired and ended; `null` when the source does not explain. */
const Why = Explanation.nullable();
const index = z.int().min(0);

function event<N extends string, C extends z.ZodType, D extends z.ZodType>(name: N, channel: C, data: D) {
  return z.object({
    /** What happened. */
    name: z.literal(name),
    /** Whose list it changes. */
    channel,
    /** Event time at which it was observed; that of the market, which in a replay is the past. */
    observed_at: Timestamp,
    data,
  });
}

/**
 * A flare enters `flares.pro` (cause `detected`) or `flares.free` (cause `aged`: it has lasted 5 minutes without a canary). Cause `passed`: it
 * stood there already, and meets the subscription's filter only now.
 */
export const FlareStarted = event(
  "flare-started",
  FlareChannel,
  z.object({
    op: z.literal("insert"),
    index,
    flare: Flare,
    why: Why,
    cause: z.enum(["detected", "aged", "passed"]),
  }),
);

/** Fields of a listed flare changed, or its explanation, or the list's order. `why`, where present, replaces the one before. */
export const FlareUpdated = event(
  "flare-updated",
  FlareChannel,
  z.union([SetChange.extend({ why: Why.optional() }), OrderChange]),
);

/** A flare ended: it leaves `flares.pro` and `flares.free`, and enters `flares.finished`. `flare` is its final form on each. */
export const FlareFinished = event(
  "flare-finished",
  FlareChannel,
  z.union([
    z.object({ op: z.literal("remove"), id: z.string(), flare: Flare, why: Why, cause: FinishCause }),
    z.object({ op: z.literal("insert"), index, flare: Flare, why: Why, cause: FinishCause }),
  ]),
);

/**
 * A running flare leaves `flares.free` for a canary, and goes on in `flares.pro`. With cause `upstream`: the source no longer lists it in this list of the two. With
 * cause `filtered`: the flare goes on there, and no longer meets the subscription's filter.
 */
export const FlareWithdrawn = event(
  "flare-withdrawn",
  FlareChannel,
  RemoveChange.extend({ cause: z.enum(["canary", "upstream", "filtered"]) }),
);

/** The only cause that is stated: the item is still in the list, and no longer meets the subscription's filter. */
const Filtered = RemoveChange.extend({ cause: z.literal("filtered").optional() });

/** A finished flare leaves `flares.finished`: 24 hours have passed, or a hundred newer ones stand before it; or, with cause `filtered`, it no longer meets the subscription's filter. */
export const FlareExpired = event("flare-expired", FlareChannel, Filtered);

const NewestChannel = z.literal("newest.bsc");
/** A token was listed. Cause `passed`: it was before, and meets the subscription's filter only now. */
export const TokenListed = event(
  "token-listed",
  NewestChannel,
  z.object({ op: z.literal("insert"), index, listing: Listing, cause: z.literal("passed").optional() }),
);
/** Fields of a listing changed: its price, its liquidity, facts that became known; or the list's order. */
export const TokenUpdated = event("token-updated", NewestChannel, z.union([SetChange, OrderChange]));
/** A listing is 15 minutes old and leaves; or, with cause `filtered`, it no longer meets the subscription's filter. */
export const TokenUnlisted = event("token-unlisted", NewestChannel, Filtered);

const changes = z.array(ChangeSchema).min(1);
/** A group's chart of the new minute: all changes from the last. */
export const ChartUpdated = event(
  "chart-updated",
  z.enum(["charts.bsc", "charts.exchange", "charts.matic", "charts.avalanche"]),
  z.object({ group: Group, changes }),
);
/** A group's leaderboard of the new minute: all changes from the last. */
export const LeaderboardUpdated = event(
  "leaderboard-updated",
  z.enum(["leaderboards.bsc", "leaderboards.exchange", "leaderboards.matic", "leaderboards.avalanche"]),
  z.object({ group: Group, changes }),
);

/** How the data source fares: `live`, `stale` (no news for too long) or `down` (it fails). */
export const SourceState = z.enum(["live", "stale", "down"]);
export type SourceState = z.infer<typeof SourceState>;
/** The data source's state changed. `observed_at` is the event time of the data last seen. */
export const SourceStatusEvent = event(
  "source-status",
  z.literal("status"),
  z.object({ state: SourceState, reason: z.string() }),
);

/** Every event, told apart by `name`. */
export const EventBody = z.discriminatedUnion("name", [
  FlareStarted,
  FlareUpdated,
  FlareFinished,
  FlareWithdrawn,
  FlareExpired,
  TokenListed,
  TokenUpdated,
  TokenUnlisted,
  ChartUpdated,
  LeaderboardUpdated,
  SourceStatusEvent,
]);
export type EventBody = z.infer<typeof EventBody>;
export type EventName = EventBody["name"];

/** The names of all events. */
export const EVENT_NAMES = EventBody.options.map((option) => option.shape.name.value);

/** Events that are news in themselves, and kept longer than the rest: that a flare started or finished, and how the source fares, which no list says. */
export const LASTING_EVENTS: ReadonlySet<EventName> = new Set([
  "flare-started",
  "flare-finished",
  "source-status",
]);

/** The names of the events that a channel can carry. */
export function eventNamesOn(channel: Channel): readonly EventName[] {
  return NAMES_ON.get(channel) ?? [];
}

const NAMES_ON: ReadonlyMap<Channel, readonly EventName[]> = new Map(
  CHANNELS.map((channel) => {
    const carrying = EventBody.options.filter(({ shape }) => shape.channel.safeParse(channel).success);
    return [channel, carrying.map(({ shape }) => shape.name.value)];
  }),
);

/** A channel's name, for schemas. */
export const ChannelSchema = z.enum(CHANNELS);
