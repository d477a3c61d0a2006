import { EMPTY_SNAPSHOT, type ListItem, type Snapshot } from "../../model/index.ts";
import { keyOf } from "../../model/key-of.ts";
import { LIST_CHANNEL_NAMES, LIST_CHANNELS, type ListChannel } from "../channels.ts";
import type { EventBody } from "../event.ts";
import { foldCase, type ListFilter } from "../filter.ts";
import { applyEvent, changesOf, listOf, projectSnapshot, type View } from "./view.ts";

export { EMPTY_SNAPSHOT } from "../../model/index.ts";

/**
 * What an item ever was since it entered its list, as far as filters ask. It only grows, so an item that a sticky filter selects
 * stays selected until it leaves; and it follows from the events alone, so every reader comes to the same.
 */
export interface Marks {
  /** Addresses, lower case; one, unless the source corrected it. */
  readonly tokens: readonly string[];
  /** Symbols, lower case. */
  readonly symbols: readonly string[];
  /** The highest, in US dollars; -Infinity where none is stated. */
  readonly liquidity: number;
  /** The highest, in percent; -Infinity where none is stated. */
  readonly priceChange: number;
}

/** All lists at one place of the log, with the marks of their items by key. Immutable. */
export interface Lists {
  readonly snapshot: Snapshot;
  readonly marks: Readonly<Record<ListChannel, ReadonlyMap<string, Marks>>>;
}

/** The lists of `snapshot`, whose items have been nothing else yet than what they are. */
export function listsOf(snapshot: Snapshot): Lists {
  const entries = LIST_CHANNEL_NAMES.map((channel) => [
    channel,
    new Map(listOf(snapshot, channel).map((item) => [keyOf(item), marksOf(item)])),
  ]);
  return { snapshot, marks: Object.fromEntries(entries) as Lists["marks"] };
}

/** The lists behind `event`. Throws ChangeMismatch when it was not made for these. */
export function advanceLists(lists: Lists, event: EventBody): Lists {
  const { channel } = event;
  if (channel === "status" || !Object.hasOwn(LIST_CHANNELS, channel)) return lists;
  const snapshot: Snapshot = { ...EMPTY_SNAPSHOT, ...applyEvent(lists.snapshot, event) } as Snapshot;
  const before = lists.marks[channel];
  let after: Map<string, Marks> | undefined;
  for (const change of changesOf(event)) {
    if (change.op === "order") continue;
    const key = change.op === "insert" ? keyOf(change.item) : change.id;
    const item = change.op === "remove" ? undefined : findItem(snapshot, channel, key);
    const held = (after ?? before).get(key);
    const next = item && widen(held, marksOf(item));
    if (next === held && next) continue;
    after ??= new Map(before);
    if (next) after.set(key, next);
    else after.delete(key);
  }
  return { snapshot, marks: after ? { ...lists.marks, [channel]: after } : lists.marks };
}

/** The lists as JSON text, for {@link parseLists}. */
export function formatLists({ snapshot, marks }: Lists): string {
  const plain = listsOf(snapshot).marks;
  const isKnown = (channel: ListChannel, key: string, own: Marks) => {
    const now = plain[channel].get(key);
    return now !== undefined && widen(now, own) === now;
  };
  // What an item is now its marks say anyway.
  const more = LIST_CHANNEL_NAMES.map((channel) => [
    channel,
    [...marks[channel]].filter(([key, own]) => !isKnown(channel, key, own)),
  ]);
  return JSON.stringify({ snapshot, marks: Object.fromEntries(more) });
}

/** The lists that {@link formatLists} made this of. Throws where it did not. */
export function parseLists(text: string): Lists {
  const parsed: { snapshot: Snapshot; marks: Record<ListChannel, [string, StoredMarks][]> } =
    JSON.parse(text);
  const { snapshot, marks: plain } = listsOf(parsed.snapshot);
  const marks = LIST_CHANNEL_NAMES.map((channel) => [
    channel,
    new Map([
      ...plain[channel],
      ...parsed.marks[channel].map(([key, own]) => [key, readMarks(own)] as const),
    ]),
  ]);
  return { snapshot, marks: Object.fromEntries(marks) as Lists["marks"] };
}

/** JSON has no -Infinity. */
type StoredMarks = Omit<Marks, "liquidity" | "priceChange"> & {
  readonly liquidity: number | null;
  readonly priceChange: number | null;
};

function readMarks({ tokens, symbols, liquidity, priceChange }: StoredMarks): Marks {
  const none = Number.NEGATIVE_INFINITY;
  return { tokens, symbols, liquidity: liquidity ?? none, priceChange: priceChange ?? none };
}

/** The item of this key; `undefined` when the list has none. */
export function findItem(view: View, channel: ListChannel, key: string): ListItem | undefined {
  return listOf(view, channel).find((item) => keyOf(item) === key);
}

/** What a client with this filter holds of these channels' lists. */
export function projectLists(
  { snapshot, marks }: Lists,
  channels: Parameters<typeof projectSnapshot>[1],
  filter: ListFilter | undefined,
): View {
  if (!filter) return projectSnapshot(snapshot, channels);
  return projectSnapshot(snapshot, channels, (channel, item) => selects(filter, marks[channel], item));
}

/** True for an item of a list that the filter selects there; `marks` are those of the list. */
export function selects(filter: ListFilter, marks: ReadonlyMap<string, Marks>, item: ListItem): boolean {
  const own = filter.sticky ? marks.get(keyOf(item)) : currentMarks(item);
  return own !== undefined && filter.passes(own);
}

/** As {@link selects}, of the item with this key; false when the list has none. */
export function selectsKey(
  filter: ListFilter,
  { snapshot, marks }: Lists,
  channel: ListChannel,
  key: string,
): boolean {
  const item = findItem(snapshot, channel, key);
  return item !== undefined && selects(filter, marks[channel], item);
}

/** What items are now, for all filters that ask: an item never changes, it is replaced. */
const current = new WeakMap<ListItem, Marks>();

function currentMarks(item: ListItem): Marks {
  const known = current.get(item);
  if (known) return known;
  const made = marksOf(item);
  current.set(item, made);
  return made;
}

/** What the item is now, as far as filters ask. */
export function marksOf(item: ListItem): Marks {
  if (!("id" in item)) {
    const { object } = item;
    return "token" in object
      ? marks(object.token, object.liquidity, object.recent_price_change)
      : marks(object, undefined, undefined);
  }
  if ("streak" in item) {
    const change = item.price_change_from_average;
    return "flare" in item
      ? marks(item.flare.token, item.flare.liquidity, change)
      : marks(item.token, undefined, change);
  }
  return marks(item.token, item.liquidity, "listed_at" in item ? undefined : item.recent_price_change);
}

function marks(
  token: { readonly symbol: string; readonly address?: string },
  liquidity: string | undefined,
  priceChange: number | undefined,
): Marks {
  return {
    tokens: token.address === undefined ? [] : [foldCase(token.address)],
    symbols: [foldCase(token.symbol)],
    liquidity: liquidity === undefined ? Number.NEGATIVE_INFINITY : Number(liquidity),
    priceChange: priceChange ?? Number.NEGATIVE_INFINITY,
  };
}

/** What it was, and is now too; the same object where that is nothing new. */
function widen(held: Marks | undefined, now: Marks): Marks {
  if (!held) return now;
  const known =
    now.liquidity <= held.liquidity &&
    now.priceChange <= held.priceChange &&
    now.tokens.every((token) => held.tokens.includes(token)) &&
    now.symbols.every((symbol) => held.symbols.includes(symbol));
  if (known) return held;
  return {
    tokens: [...new Set([...held.tokens, ...now.tokens])],
    symbols: [...new Set([...held.symbols, ...now.symbols])],
    liquidity: Math.max(held.liquidity, now.liquidity),
    priceChange: Math.max(held.priceChange, now.priceChange),
  };
}
