import {
  type AdditionalGroup,
  GROUPS,
  type GroupName,
  isAdditional,
  OTHER_GROUPS,
  type OtherGroup,
} from "../model/groups.ts";

/** The lists of flares, by the last part of their channels. */
const FLARE_LISTS = { free: "free", pro: "pro", finished: "finished_trending" } as const;
type FlareLists = typeof FLARE_LISTS;
type BscFlarePaths = {
  readonly [L in keyof FlareLists as `flares.${L}`]: readonly ["flares", FlareLists[L]];
};
type GroupPaths<Resource extends string> = {
  readonly [G in GroupName as `${Resource}.${G}`]: readonly [Resource, G];
};
type OtherFlarePaths = {
  readonly [C in `flares.${OtherGroup}.${keyof FlareLists}`]: C extends `flares.${infer G extends OtherGroup}.${infer L extends keyof FlareLists}`
    ? readonly [`flares.${G}`, FlareLists[L]]
    : never;
};

/** Maps each channel to the list in the snapshot whose changes it carries. */
export const LIST_CHANNELS = /* @__PURE__ */ listChannels();

function listChannels() {
  const flares = <R extends string>(resource: R) =>
    Object.entries(FLARE_LISTS).map(([last, list]) => [`${resource}.${last}`, [resource, list]]);
  const rankings = (resource: string) => GROUPS.map((group) => [`${resource}.${group}`, [resource, group]]);
  return Object.fromEntries([
    ...flares("flares"),
    ["newest.bsc", ["newest", "bsc"]],
    ...rankings("charts"),
    ...rankings("leaderboards"),
    ...OTHER_GROUPS.flatMap((group) => flares(`flares.${group}`)),
  ]) as BscFlarePaths & { readonly "newest.bsc": readonly ["newest", "bsc"] } & GroupPaths<"charts"> &
    GroupPaths<"leaderboards"> &
    OtherFlarePaths;
}

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
type AdditionalChannel = keyof OtherFlarePaths | `${"charts" | "leaderboards"}.${AdditionalGroup}`;
export type SpecChannel = Exclude<ListChannel, AdditionalChannel>;

/** The channels of the flares of all groups. */
export const FLARE_CHANNELS = /* @__PURE__ */ LIST_CHANNEL_NAMES.filter(isFlareChannel);

/** Returns the channels of a group's flares. */
export function flareChannelsOf(group: GroupName): readonly FlareChannel[] {
  if (group === "bsc") return BSC_FLARE_CHANNELS;
  return [`flares.${group}.free`, `flares.${group}.pro`, `flares.${group}.finished`];
}

/** Returns the pattern of the channels of a group's flares. */
export function flarePatternOf(group: GroupName): string {
  return group === "bsc" ? "flares.*" : `flares.${group}.*`;
}

export function isFlareChannel(channel: Channel): channel is FlareChannel {
  return channel.startsWith("flares.");
}

/** Whether a channel carries the flares of a group other than `bsc`, or an additional group. */
function isAdditionalChannel(channel: Channel): channel is AdditionalChannel {
  const parts = channel.split(".");
  return parts.length > 2 || GROUPS.some((group) => isAdditional(group) && group === parts[1]);
}

/** The list channels of the resources that the specification defines. */
export const SPEC_CHANNELS = /* @__PURE__ */ LIST_CHANNEL_NAMES.filter(
  (name): name is SpecChannel => !isAdditionalChannel(name),
);

/** Valid channel names and patterns, for suggestions. */
export const CHANNEL_PATTERNS: readonly string[] = /* @__PURE__ */ (CHANNELS as readonly string[]).concat(
  "flares.*",
  "newest.*",
  "charts.*",
  "leaderboards.*",
  /* @__PURE__ */ OTHER_GROUPS.map(flarePatternOf),
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
 * A prefix is all but the last part of a name: `flares.*` matches only the flares of `bsc`. No
 * pattern but `flares.GROUP.*` matches channels of an additional group.
 */
export function matchChannels(pattern: string): readonly Channel[] {
  if (pattern === "*") return CHANNELS.filter((name) => name !== "candles" && !isAdditionalChannel(name));
  if (!pattern.endsWith(".*")) return isChannel(pattern) ? [pattern] : [];
  const prefix = pattern.slice(0, -2);
  const isNamed = OTHER_GROUPS.some((group) => pattern === flarePatternOf(group));
  return CHANNELS.filter(
    (name) => name.includes(".") && listPathOf(name)[0] === prefix && (isNamed || !isAdditionalChannel(name)),
  );
}
