import type { Snapshot } from "../model/index.ts";

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
} as const satisfies Record<string, readonly [keyof Snapshot, string]>;

/** Applies the naming rule to any text: a channel is named after its list. */
export function listPathOf(channel: string): readonly [resource: string, list: string] {
  const [resource = "", list = ""] = channel.split(".");
  return [resource, list === "finished" ? "finished_trending" : list];
}

/** A channel that carries the changes of one list of the snapshot. */
export type ListChannel = keyof typeof LIST_CHANNELS;

/** The channels of {@link LIST_CHANNELS}, in the order of a batch's events. */
export const LIST_CHANNEL_NAMES = /* @__PURE__ */ Object.keys(LIST_CHANNELS) as readonly ListChannel[];

/** All channels: the lists, `status` with the state of the data source, and `candles`. */
export const CHANNELS: readonly Channel[] = /* @__PURE__ */ (LIST_CHANNEL_NAMES as readonly Channel[]).concat(
  "status",
  "candles",
);
/** `candles` must be named: `*` and all other patterns leave it out. */
export type Channel = ListChannel | "status" | "candles";

export const FLARE_CHANNELS = ["flares.free", "flares.pro", "flares.finished"] as const;
export type FlareChannel = (typeof FLARE_CHANNELS)[number];

/** Valid channel names and patterns, for suggestions. */
export const CHANNEL_PATTERNS: readonly string[] = /* @__PURE__ */ (CHANNELS as readonly string[]).concat(
  "flares.*",
  "newest.*",
  "charts.*",
  "leaderboards.*",
);

export function isListChannel(channel: Channel): channel is ListChannel {
  return Object.hasOwn(LIST_CHANNELS, channel);
}

export function isChannel(name: string): name is Channel {
  return (CHANNELS as readonly string[]).includes(name);
}

/** Returns a pattern's channels: a name, `prefix.*`, or `*`. Report an empty result. */
export function matchChannels(pattern: string): readonly Channel[] {
  if (pattern === "*") return CHANNELS.filter((name) => name !== "candles");
  if (pattern.endsWith(".*")) return CHANNELS.filter((name) => name.startsWith(pattern.slice(0, -1)));
  return isChannel(pattern) ? [pattern] : [];
}
