import type { Snapshot } from "../model/index.ts";

/** The lists of a snapshot by the channel that carries their changes: where each lies in the snapshot. */
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

/** The same by rule, for any text: a channel is named for its list. */
export function placeOf(channel: string): readonly [resource: string, list: string] {
  const [resource = "", list = ""] = channel.split(".");
  return [resource, list === "finished" ? "finished_trending" : list];
}

/** A channel that carries the changes of one list of the snapshot. */
export type ListChannel = keyof typeof LIST_CHANNELS;

/** The channels of {@link LIST_CHANNELS}, in the order in which a batch's events stand. */
export const LIST_CHANNEL_NAMES = /* @__PURE__ */ Object.keys(LIST_CHANNELS) as readonly ListChannel[];

/** Everything that can be subscribed to by name: the lists, and `status`, which tells how the data source fares. */
export const CHANNELS: readonly Channel[] = /* @__PURE__ */ (LIST_CHANNEL_NAMES as readonly Channel[]).concat(
  "status",
);
export type Channel = ListChannel | "status";

/** The three lists of flares. */
export const FLARE_CHANNELS = ["flares.free", "flares.pro", "flares.finished"] as const;
export type FlareChannel = (typeof FLARE_CHANNELS)[number];

/** What a client may name: each channel, and all that begin alike. */
export const CHANNEL_PATTERNS: readonly string[] = /* @__PURE__ */ (CHANNELS as readonly string[]).concat(
  "flares.*",
  "newest.*",
  "charts.*",
  "leaderboards.*",
);

/** True for the name of a channel, exactly as written in {@link CHANNELS}. */
export function isChannel(name: string): name is Channel {
  return (CHANNELS as readonly string[]).includes(name);
}

/**
 * The channels that a pattern selects: a channel's own name, `prefix.*`, or `*` for all. Empty when it names none, which
 * a caller reports as a mistake rather than subscribing to nothing.
 */
export function matchChannels(pattern: string): readonly Channel[] {
  if (pattern === "*") return CHANNELS;
  if (pattern.endsWith(".*")) return CHANNELS.filter((name) => name.startsWith(pattern.slice(0, -1)));
  return isChannel(pattern) ? [pattern] : [];
}
