import type { Explanation, ListItem, Snapshot } from "../../model/index.ts";
import { keyOf } from "../../model/key-of.ts";
import {
  type Channel,
  FLARE_CHANNELS,
  LIST_CHANNEL_NAMES,
  LIST_CHANNELS,
  type ListChannel,
  placeOf,
} from "../channels.ts";
import type { EventBody } from "../event.ts";
import { applyChange, type Change } from "./change.ts";

export type { Snapshot } from "../../model/index.ts";

/**
 * The part of a snapshot that a client follows: the lists of its channels, and the explanations of the flares in them.
 * With all channels it is the snapshot itself.
 */
export type View = {
  readonly [R in Exclude<keyof Snapshot, "explanations">]?: Partial<Snapshot[R]>;
} & { readonly explanations: Readonly<Record<string, Explanation>> };

/** The view of `snapshot` that these channels show; with `keep`, of the items for which it is true. */
export function projectSnapshot(
  snapshot: Snapshot,
  channels: readonly Channel[],
  keep?: (channel: ListChannel, item: ListItem) => boolean,
): View {
  const itemsOf = (channel: ListChannel) => {
    const list = listOf(snapshot, channel);
    return keep ? list.filter((item) => keep(channel, item)) : list;
  };
  const view: Record<string, Record<string, unknown>> = {};
  for (const channel of LIST_CHANNEL_NAMES) {
    if (!channels.includes(channel)) continue;
    const [resource, list] = LIST_CHANNELS[channel];
    view[resource] = { ...view[resource], [list]: itemsOf(channel) };
  }
  const explanations: Record<string, Explanation> = {};
  for (const channel of FLARE_CHANNELS) {
    if (!channels.includes(channel)) continue;
    for (const item of itemsOf(channel)) {
      const why = snapshot.explanations[keyOf(item)];
      if (why) explanations[keyOf(item)] = why;
    }
  }
  return { ...view, explanations };
}

/** The list that a channel's events change; empty when the view does not have it. */
export function listOf(view: View, channel: ListChannel): readonly ListItem[] {
  return findList(view, channel) ?? [];
}

/**
 * The view after `event`; the one given stays as it was. An event of a list that the view does not have changes nothing.
 * Throws ChangeMismatch when the event was not made for this view: one was missed, or it is applied a second time.
 */
export function applyEvent(view: View, event: EventBody): View {
  const before = findList(view, event.channel);
  if (!before) return view;
  const list = changesOf(event).reduce(applyChange, before);
  const [resource, name] = placeOf(event.channel);
  const next: View = { ...view, [resource]: { ...view[resource as "flares"], [name]: list } };
  return resource === "flares" ? { ...next, explanations: explain(next, event) } : next;
}

/** What an event does to its channel's list. Empty for `source-status`. */
export function changesOf(event: EventBody): readonly Change[] {
  const { data } = event;
  if ("changes" in data) return data.changes as readonly Change[];
  if (!("op" in data)) return [];
  if (data.op !== "insert") return [data as Change];
  return [{ op: "insert", index: data.index, item: "flare" in data ? data.flare : data.listing }];
}

/** What lies there and is no list, as an explanation, or what every object has, is none of the channel's. */
function findList(view: View, channel: Channel): readonly ListItem[] | undefined {
  const [resource, name] = placeOf(channel);
  const lists: Readonly<Record<string, unknown>> | undefined = view[resource as "flares"];
  const list = lists?.[name];
  return Array.isArray(list) ? list : undefined;
}

/** The explanations once the event's change is in the lists: an explanation lives as long as its flare stands in any list of the view. */
function explain(view: View, { data }: EventBody): View["explanations"] {
  const { explanations } = view;
  const id = "id" in data ? data.id : "flare" in data ? data.flare.id : undefined;
  if (id === undefined || !("op" in data)) return explanations;
  const isListed = () => Object.values(view.flares ?? {}).some((list) => list.some((item) => item.id === id));
  const why = data.op === "remove" ? (isListed() ? undefined : null) : "why" in data ? data.why : undefined;
  if (why === undefined) return explanations;
  if (why) return { ...explanations, [id]: why };
  const { [id]: _before, ...rest } = explanations;
  return rest;
}
