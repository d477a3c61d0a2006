import type { MarketGroup } from "../../../base/market/index.ts";
import { groupOfChannel } from "../../../base/model/index.ts";
import { flareChannelsOf, matchChannels } from "../../../base/protocol/index.ts";
import type { ReplayFeed } from "../../../feeds/replay/index.ts";

interface Played {
  /** Channels and patterns that the bot followed. */
  readonly followed: readonly string[];
  /** Groups of the recording's markets. */
  readonly groups: readonly MarketGroup[];
  /** Number of flares in the record, which are all of `bsc`. */
  readonly flares: number;
  readonly format: ReplayFeed["format"];
}

/**
 * Says what stayed empty because the recording has no market of its group, and what to do;
 * `undefined` if nothing did.
 */
export function emptyText({ followed, groups, flares, format }: Played): string | undefined {
  const [known] = groups;
  if (known === undefined) return undefined;
  const named = followed.map((pattern) => missingGroup(pattern, groups)).find((group) => group !== undefined);
  const missing = named ?? (flares === 0 && !groups.includes("bsc") ? "bsc" : undefined);
  if (missing === undefined) return undefined;
  const empty = followed.filter((pattern) => missingGroup(pattern, groups) === missing);
  const what = empty.length > 0 ? `the bot's ${empty.join(", ")}` : "the record";
  const market = `the recording has no market of ${missing}, only of ${groups.join(", ")}`;
  const other = flareChannelsOf(known)[1];
  const action =
    format === "csv"
      ? `add --group ${missing} to assign the file's pairs to ${missing}`
      : empty.length > 0
        ? `follow channels of ${known}, such as ${other}`
        : "the record counts only flares of bsc";
  return `${what} stayed empty: ${market}; ${action}`;
}

/** Returns the group of a pattern's channels if the recording has a market of none of them. */
function missingGroup(pattern: string, groups: readonly MarketGroup[]): MarketGroup | undefined {
  const channels = matchChannels(pattern);
  const isMissing = (channel: string) => channel.includes(".") && !groups.includes(groupOfChannel(channel));
  return channels[0] !== undefined && channels.every(isMissing) ? groupOfChannel(channels[0]) : undefined;
}
