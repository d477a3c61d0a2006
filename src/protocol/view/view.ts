import type { Explanation, ListItem, Snapshot } from "../../model/index.ts";
import { keyOf } from "../../model/key-of.ts";
import {
  type Channel,
  FLARE_CHANNELS,
  LIST_CHANNEL_NAMES,
  LIST_CHANNELS,
  type ListChannel,
  listPathOf,
} from "../channels.ts";
import type { EventBody } from "../event.ts";
import { applyChange, type Change } from "./change.ts";

export type { Snapshot } from "../../model/index.ts";

/** A client's part of a snapshot: its channels' lists, with explanations of their flares. */
export type View = {
  readonly [R in Exclude<keyof Snapshot, "explanations">]?: Partial<Snapshot[R]>;
} & { readonly explanations: Readonly<Record<string, Explanation>> };

/** Returns the view of these channels, limited to the items that pass `accept`, if given. */
export function projectSnapshot(
  snapshot: Snapshot,
  channels: readonly Channel[],
  accept?: (channel: ListChannel, item: ListItem) => boolean,
): View {
  const itemsOf = (channel: ListChannel) => {
    const list = listOf(snapshot, channel);
    return accept ? list.filter((item) => accept(channel, item)) : list;
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

/** Returns a channel's list; empty if the view lacks it. */
export function listOf(view: View, channel: ListChannel): readonly ListItem[] {
  return findList(view, channel) ?? [];
}

/** Returns the view after `event`; other lists' events change nothing. Throws ChangeMismatch. */
export function applyEvent(view: View, event: EventBody): View {
  const before = findList(view, event.channel);
  if (!before) return view;
  const list = changesOf(event).reduce(applyChange, before);
  const [resource, name] = listPathOf(event.channel);
  const next: View = { ...view, [resource]: { ...view[resource as "flares"], [name]: list } };
  return resource === "flares" ? { ...next, explanations: explain(next, event) } : next;
}

/** Returns an event's changes to its channel's list. Empty for `source-status`. */
export function changesOf(event: EventBody): readonly Change[] {
  const { data } = event;
  if ("changes" in data) return data.changes as readonly Change[];
  if (!("op" in data)) return [];
  if (data.op !== "insert") return [data as Change];
  return [{ op: "insert", index: data.index, item: "flare" in data ? data.flare : data.listing }];
}

/** Ignores anything that is not a list, such as an explanation or an inherited property. */
function findList(view: View, channel: Channel): readonly ListItem[] | undefined {
  const [resource, name] = listPathOf(channel);
  const lists: Readonly<Record<string, unknown>> | undefined = view[resource as "flares"];
  const list = lists?.[name];
  return Array.isArray(list) ? list : undefined;
}

/** Updates explanations. One stays as long as its flare is in a list of the view. */
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
