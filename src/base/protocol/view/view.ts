import type { AnyFlare, Explanation, ListItem, Outcome, Snapshot } from "../../model/index.ts";
import { keyOf } from "../../model/key-of.ts";
import {
  type Channel,
  FLARE_CHANNELS,
  isFlareChannel,
  LIST_CHANNEL_NAMES,
  LIST_CHANNELS,
  type ListChannel,
  listPathOf,
} from "../channels.ts";
import type { EventBody } from "../event.ts";
import { applyChange, type Change } from "./change.ts";

export type { Snapshot } from "../../model/index.ts";

/**
 * A client's part of a snapshot: its channels' lists, with explanations of their flares, and
 * outcomes if one of the channels has finished flares.
 */
export type View = {
  readonly [R in Exclude<keyof Snapshot, "explanations" | "outcomes" | "candles">]?: Partial<Snapshot[R]>;
} & {
  readonly explanations: Readonly<Record<string, Explanation>>;
  readonly outcomes?: Readonly<Record<string, Outcome>>;
};

/** Returns the view of these channels, limited to the items that pass `accept`, if given. */
export function projectSnapshot(
  snapshot: View,
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
  const ofItems = <T>(all: Readonly<Record<string, T>>, channel: ListChannel) =>
    channels.includes(channel)
      ? itemsOf(channel).flatMap((item): [string, T][] => {
          const value = all[keyOf(item)];
          return value === undefined ? [] : [[keyOf(item), value]];
        })
      : [];
  const explained = FLARE_CHANNELS.flatMap((channel) => ofItems(snapshot.explanations, channel));
  const explanations = Object.fromEntries(explained);
  const finished = FLARE_CHANNELS.filter(
    (channel) => channel.endsWith(".finished") && channels.includes(channel),
  );
  if (finished.length === 0) return { ...view, explanations };
  const outcomes = finished.flatMap((channel) => ofItems(snapshot.outcomes ?? {}, channel));
  return { ...view, explanations, outcomes: Object.fromEntries(outcomes) };
}

/** Returns the view of these parts: joins the lists, in order, and the records. */
export function joinViews(parts: readonly View[]): View {
  const joined: Record<string, Record<string, unknown>> = {};
  for (const [resource, own] of parts.flatMap((part) => Object.entries(part))) {
    const lists: Record<string, unknown> = { ...joined[resource] };
    for (const [name, value] of Object.entries(own)) {
      const before = lists[name];
      lists[name] = Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value;
    }
    joined[resource] = lists;
  }
  return { explanations: {}, ...joined };
}

/** JSON of an item, an explanation or an outcome, and its bytes with a comma. */
interface Piece {
  readonly json: string;
  readonly bytes: number;
}

/** By list and record, the JSON of what it has. */
type Part = Readonly<Record<string, Record<string, string>>>;

/** Returns a function that returns an object's {@link Piece}. It computes each once. */
export function createMeasure(): (value: object) => Piece {
  const encoder = new TextEncoder();
  const scratch = new Uint8Array(16_384);
  const pieces = new WeakMap<object, Piece>();
  return (value) => {
    const known = pieces.get(value);
    if (known) return known;
    const json = JSON.stringify(value);
    const { read, written } = encoder.encodeInto(json, scratch);
    const length = read === json.length ? written : encoder.encode(json).length;
    const piece = { json, bytes: length + 1 };
    pieces.set(value, piece);
    return piece;
  };
}

/**
 * Splits a view into JSON texts of at most `maxBytes`, which {@link joinViews} joins. Only an item
 * that is longer, with its explanation and outcome, makes a text longer. Each text has all lists.
 */
export function splitView(view: View, maxBytes: number, measure = createMeasure()): readonly string[] {
  const channels = LIST_CHANNEL_NAMES.filter((channel) => {
    const [resource, name] = LIST_CHANNELS[channel];
    return listsOf(view, resource)?.[name] !== undefined;
  });
  const empty = JSON.stringify(projectSnapshot({ explanations: {} }, channels)).replaceAll("[]", '""');
  const texts: string[] = [];
  let part: Part = JSON.parse(empty);
  let bytes = empty.length;
  for (const channel of channels) {
    const [resource, list] = LIST_CHANNELS[channel];
    for (const item of listOf(view, channel)) {
      const own = measure(item);
      const id = keyOf(item);
      const why = isFlareChannel(channel) ? view.explanations[id] : undefined;
      const outcome = channel.endsWith(".finished") ? view.outcomes?.[id] : undefined;
      // Another list may have brought the flare's explanation already. An id is a UUID.
      const bytesOf = (note?: object) => (note ? measure(note).bytes + id.length + 3 : 0);
      const added = () => own.bytes + bytesOf(outcome) + (part.explanations?.[id] ? 0 : bytesOf(why));
      if (bytes > empty.length && bytes + added() > maxBytes) {
        texts.push(printPart(part));
        part = JSON.parse(empty);
        bytes = empty.length;
      }
      bytes += added();
      const lists = part[resource] ?? {};
      lists[list] = lists[list] ? `${lists[list]},${own.json}` : own.json;
      if (why && part.explanations) part.explanations[id] = measure(why).json;
      if (outcome && part.outcomes) part.outcomes[id] = measure(outcome).json;
    }
  }
  return [...texts, printPart(part)];
}

function printPart(part: Part): string {
  const resources = Object.entries(part).map(([resource, own]) => {
    const isRecord = resource === "explanations" || resource === "outcomes";
    const fields = Object.entries(own).map(([name, json]) => `"${name}":${isRecord ? json : `[${json}]`}`);
    return `"${resource}":{${fields}}`;
  });
  return `{${resources}}`;
}

/** Returns a channel's list; empty if the view lacks it. */
export function listOf(view: View, channel: ListChannel): readonly ListItem[] {
  const [resource, name] = LIST_CHANNELS[channel];
  return listsOf(view, resource)?.[name] ?? [];
}

/**
 * Returns the view after `event`: the same one if it lacks the event's list. Throws ChangeMismatch
 * if the event does not fit.
 */
export function applyEvent(view: View, event: EventBody): View {
  const [resource, name] = listPathOf(event.channel);
  const held = listsOf(view, resource);
  const before = held?.[name];
  // An inherited property, such as a function, is no list.
  if (!Array.isArray(before)) return view;
  const lists = { ...held, [name]: changesOf(event).reduce(applyChange, before) };
  return annotate({ ...view, [resource]: lists }, lists, name, event.data);
}

/** Returns an event's changes to its list. Empty for `source-status` and `candles-closed`. */
export function changesOf(event: EventBody): readonly Change[] {
  const { data } = event;
  if ("changes" in data) return data.changes as readonly Change[];
  if (!("op" in data)) return [];
  if (data.op !== "insert") return [data as Change];
  return [{ op: "insert", index: data.index, item: "flare" in data ? data.flare : data.listing }];
}

function listsOf(view: View, resource: string): Readonly<Record<string, readonly ListItem[]>> | undefined {
  return view[resource as "flares"];
}

/** The fields of any event's data that concern one flare. Only other events have the last three. */
interface FlareData {
  readonly op?: string;
  readonly id?: string;
  readonly flare?: AnyFlare;
  readonly why?: Explanation | null | undefined;
  readonly outcome?: Outcome | null | undefined;
  readonly changes?: unknown;
  readonly state?: unknown;
  readonly gone?: unknown;
}

/**
 * Updates explanations and outcomes. An explanation stays as long as its flare is in one of its
 * group's lists, an outcome as long as it is in the finished ones. Other items have neither.
 */
function annotate(
  view: View,
  lists: Readonly<Record<string, readonly ListItem[]>>,
  name: string,
  data: FlareData,
): View {
  const { op, flare, id = flare?.id, why, outcome } = data;
  if (!id) return view;
  const isGone = op === "remove";
  const isListed = Object.values(lists).some((list) => list.some((item) => keyOf(item) === id));
  return {
    ...view,
    explanations: withValue(view.explanations, id, isListed ? (isGone ? undefined : why) : null),
    ...(name === "finished_trending" && { outcomes: withValue(view.outcomes, id, isGone ? null : outcome) }),
  };
}

type ById<T> = Readonly<Record<string, T>>;

/** Returns the record with this value: `null` removes the key, `undefined` changes nothing. */
function withValue<T>(record: ById<T> = {}, id: string, value: T | null | undefined): ById<T> {
  if (value === undefined) return record;
  const changed = { ...record };
  if (value) changed[id] = value;
  else delete changed[id];
  return changed;
}
