import type { ReplayFeed } from "../../feed/index.ts";
import type { MarketGroup } from "../../market/index.ts";
import { GROUPS } from "../../model/index.ts";
import { flareChannelsOf, matchChannels } from "../../protocol/index.ts";

interface Played {
  /** Channels and patterns that the bot followed. */
  readonly followed: readonly string[];
  /** Groups that the recording has a market of. */
  readonly groups: readonly MarketGroup[];
  /** Flares in the record; they are those of `bsc`. */
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
  const empty = followed.filter((pattern) =>
    matchChannels(pattern).every((channel) => lacks(channel, groups)),
  );
  const missing = empty.length > 0 ? groupOf(matchChannels(empty[0] ?? "")[0]) : "bsc";
  if (missing === undefined || (empty.length === 0 && (flares > 0 || groups.includes("bsc"))))
    return undefined;
  const ofMissing = empty.filter((pattern) => groupOf(matchChannels(pattern)[0]) === missing);
  const what = empty.length > 0 ? `the bot's ${ofMissing.join(", ")}` : "the record";
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

function lacks(channel: string, groups: readonly MarketGroup[]): boolean {
  const group = groupOf(channel);
  return group !== undefined && !groups.includes(group);
}

/** Returns a channel's group; `undefined` for one that any market fills. */
function groupOf(channel = "status"): MarketGroup | undefined {
  const [, second] = channel.split(".");
  return second === undefined ? undefined : (GROUPS.find((group) => group === second) ?? "bsc");
}
