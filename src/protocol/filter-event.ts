import { assertNever } from "../lib/assert-never.ts";
import type { ListItem } from "../model/index.ts";
import { keyOf } from "../model/key-of.ts";
import { LIST_CHANNELS, type ListChannel } from "./channels.ts";
import type { EventBody } from "./event.ts";
import type { ListFilter } from "./filter.ts";
import type { Change } from "./view/change.ts";
import { findItem, type Lists, selects, selectsKey } from "./view/lists.ts";
import { movedKeys } from "./view/moved-keys.ts";
import { changesOf, listOf } from "./view/view.ts";

/** An event with the lists before it and behind it. */
export interface Step {
  readonly event: EventBody;
  readonly before: Lists;
  readonly after: Lists;
}

/**
 * The event as it is for a client with this filter: what it does to the list of the selected items. The same object where that is
 * what it does to the whole list; `undefined` when it does nothing there, or its name is not wanted. An item that is selected only
 * since this event enters whole, by the event with which items enter that list; one that is selected no longer leaves by the event
 * with which items are taken out of it.
 *
 * The law: the view of `before` under the filter, with this event applied, is the view of `after` under the filter.
 */
export function filterEvent(filter: ListFilter, step: Step): EventBody | undefined {
  const event = select(filter, step);
  return event && (!filter.names || filter.names.has(event.name)) ? event : undefined;
}

function select(filter: ListFilter, step: Step): EventBody | undefined {
  const { event } = step;
  if (event.name === "source-status") return event;
  const changes = changesOf(event);
  const kept = filterChanges(filter, step, event.channel, changes);
  const [first] = kept;
  if (!first) return undefined;
  if (kept.length === changes.length && kept.every((change, at) => change === changes[at])) return event;
  switch (event.name) {
    case "chart-updated":
      return { ...event, data: { ...event.data, changes: kept.map(toWire) } };
    case "leaderboard-updated":
      return { ...event, data: { ...event.data, changes: kept.map(toWire) } };
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
    case "token-updated":
      if (first.op === "insert") return tokenEnters(step, event, first);
      if (first.op === "remove") return { ...event, name: "token-unlisted", data: filteredOut(first.id) };
      return first.op === "order" ? { ...event, data: { op: "order", ids: [...first.ids] } } : event;
    case "flare-withdrawn":
    case "flare-expired":
    case "token-unlisted":
      return event;
    default:
      return assertNever(event);
  }
}

/** The changes of the list of selected items; those that are the same for both lists are the same objects. */
function filterChanges(
  filter: ListFilter,
  { before, after }: Step,
  channel: ListChannel,
  changes: readonly Change[],
): readonly Change[] {
  const passed = (key: string) => selectsKey(filter, before, channel, key);
  const passing = (key: string) => selectsKey(filter, after, channel, key);
  const quick = changes.length === 1 ? judgeAlone(changes, passed, passing) : undefined;
  if (quick) return quick;
  const list = listOf(before.snapshot, channel);
  const selected = list.filter((item) => selects(filter, before.marks[channel], item));
  const places = new ConnectionRegistry(list.map(keyOf), selected.map(keyOf));
  return changes.flatMap((change) =>
    followChange(change, places, passing, (key) => findItem(after.snapshot, channel, key)),
  );
}

/** The change as it is for the selected items; empty when it is nothing there. */
function followChange(
  change: Change,
  places: ConnectionRegistry,
  passing: (key: string) => boolean,
  itemOf: (key: string) => ListItem | undefined,
): Change | readonly Change[] {
  switch (change.op) {
    case "insert": {
      const key = keyOf(change.item);
      const index = places.enter(key, change.index, passing(key));
      if (index === undefined) return [];
      return index === change.index ? change : { ...change, index };
    }
    case "remove":
      return places.leave(change.id) ? change : [];
    case "order": {
      const ids = places.arrange(change.ids);
      if (!ids) return [];
      return ids.length === change.ids.length ? change : { op: "order", ids };
    }
    case "set": {
      if (places.has(change.id)) {
        if (passing(change.id)) return change;
        places.dismiss(change.id);
        return { op: "remove", id: change.id };
      }
      const item = passing(change.id) ? itemOf(change.id) : undefined;
      return item ? { op: "insert", index: places.admit(change.id), item } : [];
    }
  }
}

/** The one change as far as that can be said without a look at the list; most events are for few. */
function judgeAlone(
  changes: readonly Change[],
  passed: (key: string) => boolean,
  passing: (key: string) => boolean,
): readonly Change[] | undefined {
  const [change] = changes;
  if (change?.op === "remove") return passed(change.id) ? changes : [];
  if (change?.op === "set") {
    const [was, is] = [passed(change.id), passing(change.id)];
    if (was) return is ? changes : [{ op: "remove", id: change.id }];
    if (!is) return [];
  }
  return change?.op === "insert" && !passing(keyOf(change.item)) ? [] : undefined;
}

/** The keys of a whole list while changes are applied to it, and which of them are selected. */
class ConnectionRegistry {
  #keys: string[];
  readonly #selected: Set<string>;

  constructor(keys: string[], selected: readonly string[]) {
    this.#keys = keys;
    this.#selected = new Set(selected);
  }

  has(key: string): boolean {
    return this.#selected.has(key);
  }

  /** Puts a key into the whole list; its index among the selected when it is one of them. */
  enter(key: string, index: number, selected: boolean): number | undefined {
    this.#keys.splice(index, 0, key);
    return selected ? this.admit(key) : undefined;
  }

  /** Selects a key that is in the list; its index among the selected. */
  admit(key: string): number {
    const index = this.#keys.slice(0, this.#keys.indexOf(key)).filter((other) => this.has(other)).length;
    this.#selected.add(key);
    return index;
  }

  /** Selects a key no longer, which stays in the whole list. */
  dismiss(key: string): void {
    this.#selected.delete(key);
  }

  /** Takes a key out; true when it was selected. */
  leave(key: string): boolean {
    this.#keys.splice(this.#keys.indexOf(key), 1);
    return this.#selected.delete(key);
  }

  /** The selected keys in their new order; `undefined` when that is the old one. */
  arrange(keys: readonly string[]): string[] | undefined {
    const before = this.#keys.filter((key) => this.has(key));
    this.#keys = [...keys];
    const after = keys.filter((key) => this.has(key));
    return after.every((key, at) => key === before[at]) ? undefined : after;
  }
}

/** What filters can name of the items that an event does something to. */
export interface Touched {
  /** Lower case, as in Marks; one may be there twice. */
  readonly tokens: readonly string[];
  readonly symbols: readonly string[];
}

/**
 * The tokens and symbols of all items that the event does something to. Of a list that is put into another order these are as few as will do (see movedKeys): a filter that
 * selects none of them makes nothing of the event.
 */
export function touchedBy({ event, before, after }: Step): Touched {
  const tokens: string[] = [];
  const symbols: string[] = [];
  const { channel } = event;
  if (channel === "status") return { tokens, symbols };
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

/** A flare of the list is selected now: for this client it enters. */
function flareEnters({ after }: Step, event: Named<"flare-updated">, { index, item }: Insert): EventBody {
  const { channel, observed_at } = event;
  const id = keyOf(item);
  const flare = after.snapshot.flares[LIST_CHANNELS[channel][1]].find((one) => one.id === id);
  if (!flare) return event;
  const why = after.snapshot.explanations[id] ?? null;
  if (channel === "flares.finished") {
    const data = {
      op: "insert" as const,
      index,
      flare,
      why,
      cause: why?.finish_cause ?? ("upstream" as const),
    };
    return { name: "flare-finished", channel, observed_at, data };
  }
  const data = { op: "insert" as const, index, flare, why, cause: "passed" as const };
  return { name: "flare-started", channel, observed_at, data };
}

/** A flare of the list is selected no longer: for this client it leaves, though it goes on. */
function flareLeaves({ channel, observed_at }: Named<"flare-updated">, id: string): EventBody {
  const name = channel === "flares.finished" ? "flare-expired" : "flare-withdrawn";
  return { name, channel, observed_at, data: filteredOut(id) };
}

function filteredOut(id: string) {
  return { op: "remove", id, cause: "filtered" } as const;
}

/** A token of the list is selected now: for this client it enters. */
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

/** The change as the schema types it. */
function toWire(change: Change): Named<"chart-updated">["data"]["changes"][number] {
  if (change.op === "order") return { op: "order", ids: [...change.ids] };
  if (change.op !== "set") return change;
  const { op, id, set, unset } = change;
  return unset === undefined ? { op, id, set } : { op, id, set, unset: [...unset] };
}
