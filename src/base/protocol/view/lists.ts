import { foldAddress } from "../../model/groups.ts";
import type { Explanation, ListItem, Snapshot } from "../../model/index.ts";
import { keyOf } from "../../model/key-of.ts";
import { lockedShare } from "../../model/text/why-text.ts";
import { isListChannel, LIST_CHANNEL_NAMES, type ListChannel } from "../channels.ts";
import type { EventBody } from "../event.ts";
import { type ListFilter, MINIMUMS, type Minimum } from "../filter.ts";
import { applyCandles } from "./candles.ts";
import { applyEvent, changesOf, listOf, projectSnapshot, type View } from "./view.ts";

export const NONE = Number.NEGATIVE_INFINITY;
export { EMPTY_SNAPSHOT } from "../../model/index.ts";

/**
 * The values of an item that filters test: the current ones, or all since the item entered its
 * list. The latter only grow, so a sticky filter never deselects a listed item. They follow from
 * the events alone, so all readers compute the same.
 */
export interface Marks {
  /** Addresses in lower case. Several if the source corrected it; none without an address. */
  readonly tokens: readonly string[];
  /** Symbols in lower case, and the pair of a flare of the exchange. */
  readonly symbols: readonly string[];
  /** Highest values, by the fields of a filter; -Infinity if none was stated. */
  readonly highest: Readonly<Record<Minimum, number>>;
  /** Latest values from the explanation, as the item's channel has stated them. */
  readonly stated: Readonly<Partial<Record<Minimum, number>>>;
}

/** All lists at one position of the log, with the marks of their items by key. Immutable. */
export interface Lists {
  readonly snapshot: Snapshot;
  readonly marks: Readonly<Record<ListChannel, ReadonlyMap<string, Marks>>>;
}

/** Creates lists whose marks follow from the current items alone. */
export function listsOf(snapshot: Snapshot): Lists {
  const entryOf = (item: ListItem) =>
    [keyOf(item), marksOf(item, snapshot.explanations[keyOf(item)])] as const;
  const mapOf = (channel: ListChannel) => new Map(listOf(snapshot, channel).map(entryOf));
  const entries = LIST_CHANNEL_NAMES.map((channel) => [channel, mapOf(channel)]);
  return { snapshot, marks: Object.fromEntries(entries) as Lists["marks"] };
}

/** Returns the lists after `event`. Throws ChangeMismatch if it does not fit them. */
export function advanceLists(lists: Lists, event: EventBody): Lists {
  const { channel } = event;
  const snapshot = advanceSnapshot(lists.snapshot, event);
  if (!isListChannel(channel)) return snapshot === lists.snapshot ? lists : { ...lists, snapshot };
  const before = lists.marks[channel];
  let after: Map<string, Marks> | undefined;
  for (const change of changesOf(event)) {
    if (change.op === "order") continue;
    const key = change.op === "insert" ? keyOf(change.item) : change.id;
    const item = change.op === "remove" ? undefined : findItem(snapshot, channel, key);
    const previous = (after ?? before).get(key);
    const next = item && widen(previous, marksOf(item, snapshot.explanations[key]));
    if (next === previous && next) continue;
    after ??= new Map(before);
    if (next) after.set(key, next);
    else after.delete(key);
  }
  return { snapshot, marks: after ? { ...lists.marks, [channel]: after } : lists.marks };
}

/** Returns the whole snapshot after `event`. Throws ChangeMismatch if it does not fit. */
export function advanceSnapshot(snapshot: Snapshot, event: EventBody): Snapshot {
  if (event.name === "candles-closed")
    return { ...snapshot, candles: applyCandles(snapshot.candles, event.data) };
  return applyEvent(snapshot, event) as Snapshot;
}

/** Returns the item with this key; `undefined` if there is none. */
export function findItem(view: View, channel: ListChannel, key: string): ListItem | undefined {
  return listOf(view, channel).find((item) => keyOf(item) === key);
}

/** Returns the view that a client with this filter has of these channels. */
export function projectLists(
  lists: Lists,
  channels: Parameters<typeof projectSnapshot>[1],
  filter: ListFilter | undefined,
): View {
  if (!filter) return projectSnapshot(lists.snapshot, channels);
  return projectSnapshot(lists.snapshot, channels, (channel, item) => selects(filter, lists, channel, item));
}

/** Whether the filter selects an item of the channel's list. */
export function selects(filter: ListFilter, { marks }: Lists, channel: ListChannel, item: ListItem): boolean {
  const own = marks[channel].get(keyOf(item));
  return (
    own !== undefined && (filter.sticky ? filter.passes(own) : filter.passes(currentMarks(item), own.stated))
  );
}

/** Whether the filter selects the item with this key; false if there is none. */
export function selectsKey(filter: ListFilter, lists: Lists, channel: ListChannel, key: string): boolean {
  const item = findItem(lists.snapshot, channel, key);
  return item !== undefined && selects(filter, lists, channel, item);
}

/** Current marks, shared by all filters: items are replaced, never modified. */
const current = new WeakMap<ListItem, Marks>();

function currentMarks(item: ListItem): Marks {
  const known = current.get(item) ?? marksOf(item);
  current.set(item, known);
  return known;
}

/** Returns an item's current marks. `why` is the explanation of a flare. */
export function marksOf(item: ListItem, why?: Explanation): Marks {
  if (!("id" in item)) {
    const { object } = item;
    if (!("token" in object)) return marks(object);
    return marks(object.token, object.liquidity, object.recent_price_change);
  }
  if ("streak" in item) {
    const change = item.price_change_from_average;
    return "flare" in item
      ? marks(item.flare.token, item.flare.liquidity, change)
      : marks(item.token, undefined, change);
  }
  if ("listed_at" in item) return marks(item.token, item.liquidity);
  const stated = why && { min_age: why.age_s ?? NONE, min_locked: lockedShare(why) };
  const own = marks(item.token, item.liquidity, item.recent_price_change, stated);
  if (!("pair" in item) || item.pair === null) return own;
  return { ...own, symbols: [...own.symbols, item.pair.toLowerCase()] };
}

function marks(
  token: { readonly symbol: string; readonly address?: string | undefined },
  liquidity?: string,
  priceChange?: number,
  stated: Marks["stated"] = {},
): Marks {
  const own = { min_liquidity: Number(liquidity ?? NONE), min_price_change: priceChange ?? NONE };
  return {
    tokens: token.address === undefined ? [] : [foldAddress(token.address)],
    symbols: [token.symbol.toLowerCase()],
    highest: { ...own, min_age: NONE, min_locked: NONE, ...stated },
    stated,
  };
}

/** Merges current marks into accumulated ones. Returns the same object if they add nothing. */
function widen(previous: Marks | undefined, now: Marks): Marks {
  if (!previous) return now;
  const isCovered =
    MINIMUMS.every((name) => now.highest[name] <= previous.highest[name]) &&
    MINIMUMS.every((name) => now.stated[name] === previous.stated[name]) &&
    now.tokens.every((token) => previous.tokens.includes(token)) &&
    now.symbols.every((symbol) => previous.symbols.includes(symbol));
  if (isCovered) return previous;
  const highest = MINIMUMS.map((name) => [name, Math.max(previous.highest[name], now.highest[name])]);
  return {
    tokens: [...new Set([...previous.tokens, ...now.tokens])],
    symbols: [...new Set([...previous.symbols, ...now.symbols])],
    highest: Object.fromEntries(highest) as Marks["highest"],
    stated: now.stated,
  };
}
