import { type Channel, eventNamesOn, LASTING_EVENTS, type ListFilter } from "../../protocol/index.ts";
import { type ChannelMask, channelsOf } from "../channel-mask.ts";

/** Channels that are followed with one filter, or with none. */
export interface SelectionPart {
  readonly mask: ChannelMask;
  readonly filter: ListFilter | undefined;
}

/** What a connection is sent of the log: channels, each with its filter. Equal selections have equal keys. */
export interface Selection {
  readonly key: string;
  readonly mask: ChannelMask;
  /** In the order of `CHANNELS`. */
  readonly channels: readonly Channel[];
  /** One for each filter; no channel is in two of them. */
  readonly parts: readonly SelectionPart[];
  /** There is a filter in it that keeps items away: the lists are needed to tell what belongs to it. */
  readonly filtered: boolean;
  /** No events but lasting ones belong to it, whatever happens. */
  readonly lasting: boolean;
}

/** The union of these parts, in which a channel has the same filter wherever it stands. */
export function selectionOf(given: readonly SelectionPart[]): Selection {
  const byFilter = new Map<string, SelectionPart>();
  for (const { mask, filter } of given) {
    const key = filter?.key ?? "";
    byFilter.set(key, { mask: (byFilter.get(key)?.mask ?? 0) | mask, filter });
  }
  const parts = [...byFilter.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
  const mask = parts.reduce((union, part) => union | part.mask, 0);
  return {
    key: parts.map((part) => `${part.mask}${part.filter?.key ?? ""}`).join("|"),
    mask,
    channels: channelsOf(mask),
    parts,
    filtered: parts.some(({ filter }) => filter?.selectsItems),
    lasting: parts.every(isLasting),
  };
}

function isLasting({ mask, filter }: SelectionPart): boolean {
  const possible = channelsOf(mask).flatMap(eventNamesOn);
  return possible.every((name) => LASTING_EVENTS.has(name) || (filter?.names && !filter.names.has(name)));
}

/** No channels yet: a client that has no cursor of this connection, unlike one that has ended its last subscription. */
export const NOT_SUBSCRIBED: Selection = { ...selectionOf([]), key: "not subscribed" };
