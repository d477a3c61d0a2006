import { type Channel, eventNamesOn, LASTING_EVENTS, type ListFilter } from "../../../base/protocol/index.ts";
import { type ChannelMask, channelsOf } from "../channel-mask.ts";

/** Channels that share one filter, or have none. */
export interface SelectionPart {
  readonly mask: ChannelMask;
  readonly filter: ListFilter | undefined;
}

/** The channels of a connection, each with its filter. Equal selections have equal keys. */
export interface Selection {
  readonly key: string;
  readonly mask: ChannelMask;
  /** In the order of `CHANNELS`. */
  readonly channels: readonly Channel[];
  /** One part per filter; each channel is in one part only. */
  readonly parts: readonly SelectionPart[];
  /** Some filter excludes items, so selecting events requires the lists. */
  readonly filtered: boolean;
  /** Only lasting events ({@link LASTING_EVENTS}) can ever belong to it. */
  readonly lasting: boolean;
}

/** Merges parts. A channel must have the same filter in all of them. */
export function selectionOf(given: readonly SelectionPart[]): Selection {
  const byFilter = new Map<string, SelectionPart>();
  for (const { mask, filter } of given) {
    const key = filter?.key ?? "";
    byFilter.set(key, { mask: (byFilter.get(key)?.mask ?? 0n) | mask, filter });
  }
  const parts = [...byFilter.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
  const mask = parts.reduce((union, part) => union | part.mask, 0n);
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

/**
 * The selection before the first subscription. Unlike after the last unsubscribe, the client has no
 * position yet: the cursor in `hello` is only the head.
 */
export const NOT_SUBSCRIBED: Selection = { ...selectionOf([]), key: "not subscribed" };
