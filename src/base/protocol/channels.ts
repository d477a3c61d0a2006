import type { Group, OtherGroup, Snapshot } from "../model/index.ts";

/** Maps each channel to the list in the snapshot whose changes it carries. */
export const LIST_CHANNELS = {
  "flares.free": ["flares", "free"],
  "flares.pro": ["flares", "pro"],
  "flares.finished": ["flares", "finished_trending"],
  "newest.bsc": ["newest", "bsc"],
  "charts.bsc": ["charts", "bsc"],
  "charts.exchange": ["charts", "exchange"],
  "charts.matic": ["charts", "matic"],
  "charts.avalanche": ["charts", "avalanche"],
  "leaderboards.bsc": ["leaderboards", "bsc"],
  "leaderboards.exchange": ["leaderboards", "exchange"],
  "leaderboards.matic": ["leaderboards", "matic"],
  "leaderboards.avalanche": ["leaderboards", "avalanche"],
  "flares.exchange.free": ["flares.exchange", "free"],
  "flares.exchange.pro": ["flares.exchange", "pro"],
  "flares.exchange.finished": ["flares.exchange", "finished_trending"],
  "flares.matic.free": ["flares.matic", "free"],
  "flares.matic.pro": ["flares.matic", "pro"],
  "flares.matic.finished": ["flares.matic", "finished_trending"],
  "flares.avalanche.free": ["flares.avalanche", "free"],
  "flares.avalanche.pro": ["flares.avalanche", "pro"],
  "flares.avalanche.finished": ["flares.avalanche", "finished_trending"],
} as const satisfies Record<string, readonly [keyof Snapshot, string]>;

/**
 * Splits a channel's name at its last dot into the resource and the list. Accepts any text; one
 * without a dot yields a list that does not exist.
 */
export function listPathOf(channel: string): readonly [resource: string, list: string] {
  const index = channel.lastIndexOf(".");
  const list = channel.slice(index + 1);
  return [channel.slice(0, index), list === "finished" ? "finished_trending" : list];
}

/** A channel that carries the changes of one list of the snapshot. */
export type ListChannel = keyof typeof LIST_CHANNELS;

/** The channels of {@link LIST_CHANNELS}. */
export const LIST_CHANNEL_NAMES = /* @__PURE__ */ Object.keys(LIST_CHANNELS) as readonly ListChannel[];

/** All channels: those of the lists, `status` with the state of the data source, and `candles`. */
export const CHANNELS: readonly Channel[] = /* @__PURE__ */ (LIST_CHANNEL_NAMES as readonly Channel[]).concat(
  "status",
  "candles",
);
export type Channel = ListChannel | "status" | "candles";

/** The channels of the flares of `bsc`. */
export const BSC_FLARE_CHANNELS = ["flares.free", "flares.pro", "flares.finished"] as const;
export type FlareChannel = Extract<ListChannel, `flares.${string}`>;
type OtherFlareChannel = Extract<ListChannel, `flares.${OtherGroup}.${string}`>;
export type SpecChannel = Exclude<ListChannel, OtherFlareChannel>;

/** The channels of the flares of all groups. */
export const FLARE_CHANNELS = /* @__PURE__ */ LIST_CHANNEL_NAMES.filter(isFlareChannel);

/** Returns the channels of a group's flares. */
export function flareChannelsOf(group: Group): readonly FlareChannel[] {
  if (group === "bsc") return BSC_FLARE_CHANNELS;
  return [`flares.${group}.free`, `flares.${group}.pro`, `flares.${group}.finished`];
}

/** Returns the pattern of the channels of a group's flares. */
export function flarePatternOf(group: Group): string {
  return group === "bsc" ? "flares.*" : `flares.${group}.*`;
}

export function isFlareChannel(channel: Channel): channel is FlareChannel {
  return channel.startsWith("flares.");
}

/** Whether a channel carries the flares of a group other than `bsc`. */
function isOtherFlareChannel(channel: Channel): channel is OtherFlareChannel {
  return isFlareChannel(channel) && channel.split(".").length > 2;
}

/** The list channels of the resources that the specification defines. */
export const SPEC_CHANNELS = /* @__PURE__ */ LIST_CHANNEL_NAMES.filter(
  (name): name is SpecChannel => !isOtherFlareChannel(name),
);

/** Valid channel names and patterns, for suggestions. */
export const CHANNEL_PATTERNS: readonly string[] = /* @__PURE__ */ (CHANNELS as readonly string[]).concat(
  "flares.*",
  "newest.*",
  "charts.*",
  "leaderboards.*",
  "flares.exchange.*",
  "flares.matic.*",
  "flares.avalanche.*",
);

export function isListChannel(channel: Channel): channel is ListChannel {
  return Object.hasOwn(LIST_CHANNELS, channel);
}

export function isChannel(name: string): name is Channel {
  return (CHANNELS as readonly string[]).includes(name);
}

/**
 * Returns a pattern's channels; none if it matches nothing, which callers should report. A pattern
 * is a name, `*`, or `prefix.*`. `*` excludes `candles` and the flares of groups other than `bsc`.
 * A prefix is all but the last part of a name: `flares.*` matches only the flares of `bsc`.
 */
export function matchChannels(pattern: string): readonly Channel[] {
  if (pattern === "*") return CHANNELS.filter((name) => name !== "candles" && !isOtherFlareChannel(name));
  if (pattern.endsWith(".*"))
    return CHANNELS.filter((name) => name.includes(".") && listPathOf(name)[0] === pattern.slice(0, -2));
  return isChannel(pattern) ? [pattern] : [];
}
