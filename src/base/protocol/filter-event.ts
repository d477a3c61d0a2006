import { assertNever } from "../lib/assert-never.ts";
import type { AnyFlares, ListItem } from "../model/index.ts";
import { keyOf } from "../model/key-of.ts";
import { isListChannel, LIST_CHANNELS, type ListChannel } from "./channels.ts";
import type { EventBody } from "./event.ts";
import type { ListFilter } from "./filter.ts";
import type { Change } from "./view/change.ts";
import { findItem, type Lists, type Marks, selects, selectsKey } from "./view/lists.ts";
import { changesOf, listOf } from "./view/view.ts";

export interface Step {
  readonly event: EventBody;
  readonly before: Lists;
  readonly after: Lists;
}

/**
 * Transforms an event for a client with this filter: applied to the filtered view of `before`, the
 * result yields the filtered view of `after`. Returns the same object if nothing differs, and
 * `undefined` if the event does not change that view or the filter excludes the result's name. An
 * item that becomes selected enters complete, and an item that is no longer selected leaves, by the
 * events with which items enter and leave that list.
 */
export function filterEvent(filter: ListFilter, step: Step): EventBody | undefined {
  const event = select(filter, step);
  return event && (!filter.names || filter.names.has(event.name)) ? event : undefined;
}

function select(filter: ListFilter, step: Step): EventBody | undefined {
  const { event } = step;
  if (event.name === "source-status" || event.name === "candles-closed") return event;
  const changes = changesOf(event);
  const filtered = filterChanges(filter, step, event.channel, changes);
  const [first] = filtered;
  if (!first) return undefined;
  if (filtered.length === changes.length && filtered.every((change, index) => change === changes[index]))
    return event;
  switch (event.name) {
    case "chart-updated":
      return { ...event, data: { ...event.data, changes: filtered.map(toWire) } };
    case "leaderboard-updated":
      return { ...event, data: { ...event.data, changes: filtered.map(toWire) } };
    case "flare-started":
      return first.op === "insert" ? { ...event, data: { ...event.data, index: first.index } } : event;
    case "flare-finished":
      return first.op === "insert" && event.data.op === "insert"
        ? { ...event, data: { ...event.data, index: first.index } }
        : event;
    case "token-listed":
      return first.op === "insert" ? { ...event, data: { ...event.data, index: first.index } } : event;
    case "flare-updated":
      if (first.op === "insert") return flareEnters(step, event, first);
      if (first.op === "remove") return flareLeaves(event, first.id);
      return first.op === "order" ? { ...event, data: { op: "order", ids: [...first.ids] } } : event;
    case "flare-surged":
      if (first.op === "insert") return flareEnters(step, event, first);
      return first.op === "remove" ? flareLeaves(event, first.id) : event;
    case "token-updated":
      if (first.op === "insert") return tokenEnters(step, event, first);
      if (first.op === "remove") return { ...event, name: "token-unlisted", data: filteredOut(first.id) };
      return first.op === "order" ? { ...event, data: { op: "order", ids: [...first.ids] } } : event;
    case "flare-outcome":
    case "flare-withdrawn":
    case "flare-expired":
    case "token-unlisted":
      return event;
    default:
      return assertNever(event);
  }
}

/** Transforms changes for the list of selected items. Unaffected changes stay the same objects. */
function filterChanges(
  filter: ListFilter,
  { before, after }: Step,
  channel: ListChannel,
  changes: readonly Change[],
): readonly Change[] {
  const wasSelected = (key: string) => selectsKey(filter, before, channel, key);
  const isSelected = (key: string) => selectsKey(filter, after, channel, key);
  const single = changes.length === 1 ? filterSingleChange(changes, wasSelected, isSelected) : undefined;
  if (single) return single;
  const list = listOf(before.snapshot, channel);
  const selected = list.filter((item) => selects(filter, before, channel, item));
  const keys = new SelectedKeys(list.map(keyOf), selected.map(keyOf));
  return changes.flatMap((change) =>
    filterChange(change, keys, isSelected, (key) => findItem(after.snapshot, channel, key)),
  );
}

/** Transforms one change for the selected items; empty if it has no effect on them. */
function filterChange(
  change: Change,
  keys: SelectedKeys,
  isSelected: (key: string) => boolean,
  itemOf: (key: string) => ListItem | undefined,
): Change | readonly Change[] {
  switch (change.op) {
    case "insert": {
      const key = keyOf(change.item);
      const index = keys.enter(key, change.index, isSelected(key));
      if (index === undefined) return [];
      return index === change.index ? change : { ...change, index };
    }
    case "remove":
      return keys.leave(change.id) ? change : [];
    case "order": {
      const ids = keys.arrange(change.ids);
      if (!ids) return [];
      return ids.length === change.ids.length ? change : { op: "order", ids };
    }
    case "set": {
      if (keys.has(change.id)) {
        if (isSelected(change.id)) return change;
        keys.dismiss(change.id);
        return { op: "remove", id: change.id };
      }
      const item = isSelected(change.id) ? itemOf(change.id) : undefined;
      return item ? { op: "insert", index: keys.admit(change.id), item } : [];
    }
  }
}

/**
 * Transforms a single change without testing the whole list; `undefined` if that is necessary. Most
 * events change no selected item, so most calls are cheap.
 */
function filterSingleChange(
  changes: readonly Change[],
  wasSelected: (key: string) => boolean,
  isSelected: (key: string) => boolean,
): readonly Change[] | undefined {
  const [change] = changes;
  if (change?.op === "remove") return wasSelected(change.id) ? changes : [];
  if (change?.op === "set") {
    const [was, is] = [wasSelected(change.id), isSelected(change.id)];
    if (was) return is ? changes : [{ op: "remove", id: change.id }];
    if (!is) return [];
  }
  return change?.op === "insert" && !isSelected(keyOf(change.item)) ? [] : undefined;
}

/** Tracks the keys of a full list while changes are applied, and which of them are selected. */
class SelectedKeys {
  #keys: string[];
  readonly #selected: Set<string>;

  constructor(keys: string[], selected: readonly string[]) {
    this.#keys = keys;
    this.#selected = new Set(selected);
  }

  has(key: string): boolean {
    return this.#selected.has(key);
  }

  /**
   * Inserts a key. Returns its index among the selected keys; `undefined` if it is not selected.
   */
  enter(key: string, index: number, selected: boolean): number | undefined {
    this.#keys.splice(index, 0, key);
    return selected ? this.admit(key) : undefined;
  }

  /** Selects a listed key. Returns its index among the selected keys. */
  admit(key: string): number {
    const index = this.#keys.slice(0, this.#keys.indexOf(key)).filter((other) => this.has(other)).length;
    this.#selected.add(key);
    return index;
  }

  /** Deselects a key, which stays in the full list. */
  dismiss(key: string): void {
    this.#selected.delete(key);
  }

  /** Removes a key. Returns whether it was selected. */
  leave(key: string): boolean {
    this.#keys.splice(this.#keys.indexOf(key), 1);
    return this.#selected.delete(key);
  }

  /** Reorders the keys. Returns the selected ones; `undefined` if their order is the same. */
  arrange(keys: readonly string[]): string[] | undefined {
    const before = this.#keys.filter((key) => this.has(key));
    this.#keys = [...keys];
    const after = keys.filter((key) => this.has(key));
    return after.every((key, index) => key === before[index]) ? undefined : after;
  }
}

/**
 * Returns the tokens and symbols of the items that an event affects; if it reorders a list, of the
 * moved items (see movedKeys). They are in lower case, as in Marks, and may contain duplicates.
 */
export function touchedBy({ event, before, after }: Step): Pick<Marks, "tokens" | "symbols"> {
  const tokens: string[] = [];
  const symbols: string[] = [];
  const { channel } = event;
  if (!isListChannel(channel)) return { tokens, symbols };
  for (const key of changesOf(event).flatMap((change) => keysOf(change, before, channel))) {
    const marks = after.marks[channel].get(key) ?? before.marks[channel].get(key);
    tokens.push(...(marks?.tokens ?? []));
    symbols.push(...(marks?.symbols ?? []));
  }
  return { tokens, symbols };
}

function keysOf(change: Change, before: Lists, channel: ListChannel): readonly string[] {
  if (change.op === "insert") return [keyOf(change.item)];
  return change.op === "order"
    ? movedKeys(listOf(before.snapshot, channel).map(keyOf), change.ids)
    : [change.id];
}

type Named<N extends EventBody["name"]> = Extract<EventBody, { name: N }>;
type Insert = Extract<Change, { op: "insert" }>;

/** Returns the event by which a listed flare that becomes selected enters the client's list. */
function flareEnters(
  { after }: Step,
  event: Named<"flare-updated" | "flare-surged">,
  { index, item }: Insert,
): EventBody {
  const { channel, observed_at } = event;
  const id = keyOf(item);
  const [resource, name] = LIST_CHANNELS[channel];
  const lists: AnyFlares = after.snapshot[resource];
  const flare = lists[name].find((one) => one.id === id);
  if (!flare) return event;
  const why = after.snapshot.explanations[id] ?? null;
  if (name === "finished_trending") {
    const data = {
      op: "insert" as const,
      index,
      flare,
      why,
      cause: why?.finish_cause ?? ("upstream" as const),
      outcome: after.snapshot.outcomes[id] ?? null,
    };
    return { name: "flare-finished", channel, observed_at, data };
  }
  const data = { op: "insert" as const, index, flare, why, cause: "passed" as const };
  return { name: "flare-started", channel, observed_at, data };
}

/**
 * Returns the event by which a listed flare that is no longer selected leaves the client's list.
 */
function flareLeaves(
  { channel, observed_at }: Named<"flare-updated" | "flare-surged">,
  id: string,
): EventBody {
  const left = { channel, observed_at, data: filteredOut(id) };
  return channel.endsWith(".finished")
    ? { name: "flare-expired", ...left }
    : { name: "flare-withdrawn", ...left };
}

function filteredOut(id: string) {
  return { op: "remove", id, cause: "filtered" } as const;
}

/** Returns the event by which a listed token that becomes selected enters the client's list. */
function tokenEnters({ after }: Step, event: Named<"token-updated">, { index, item }: Insert): EventBody {
  const listing = after.snapshot.newest.bsc.find((one) => one.id === keyOf(item));
  if (!listing) return event;
  const { channel, observed_at } = event;
  return {
    name: "token-listed",
    channel,
    observed_at,
    data: { op: "insert", index, listing, cause: "passed" },
  };
}

/** Converts a change to the schema's type. */
function toWire(change: Change): Named<"chart-updated">["data"]["changes"][number] {
  if (change.op === "order") return { op: "order", ids: [...change.ids] };
  if (change.op !== "set") return change;
  const { op, id, set, unset } = change;
  return unset === undefined ? { op, id, set } : { op, id, set, unset: [...unset] };
}

/**
 * Returns the fewest keys of both lists such that all other common keys keep their relative order.
 * Those others are a longest increasing subsequence of the former positions (M. L. Fredman, 1975).
 * Takes O(n log n).
 */
export function movedKeys(before: readonly string[], after: readonly string[]): readonly string[] {
  const formerPositions = new Map(before.map((key, position) => [key, position]));
  const keys = after.filter((key) => formerPositions.has(key));
  const positions = keys.map((key) => formerPositions.get(key) ?? 0);
  /** For each length, the lowest end (an index into `keys`) of such a subsequence. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [index, position] of positions.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((positions[ends[middle] ?? 0] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    previous.push(low > 0 ? (ends[low - 1] ?? -1) : -1);
    ends[low] = index;
  }
  const unmoved = new Set<number>();
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) unmoved.add(index);
  return keys.filter((_, index) => !unmoved.has(index));
}
