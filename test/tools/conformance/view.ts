import { isObject, type JsonObject, valueAt } from "./json.ts";
import { Failure } from "./verdict.ts";

/*
 * "Applying events" of PROTOCOL.md, written from that text alone. Views are immutable.
 */

/** The rule that a change breaks if it does not fit its list. */
const APPLY = "applying-events";

/** Lists by `resource.list`, explanations, and the outcomes of finished flares. */
export interface View {
  readonly lists: ReadonlyMap<string, readonly unknown[]>;
  readonly explanations: JsonObject;
  readonly outcomes: JsonObject;
}

const RESOURCES = ["flares", "newest", "charts", "leaderboards"];

/** Returns the list that a channel changes; `undefined` for `status` and unknown channels. */
function listNameOf(channel: string): string | undefined {
  if (channel === "flares.finished") return "flares.finished_trending";
  return RESOURCES.includes(channel.split(".")[0] ?? "") ? channel : undefined;
}

/** Returns the item with this key in a channel's list; `undefined` if there is none. */
export function itemOf({ lists }: View, channel: string, key: string): unknown {
  return lists.get(listNameOf(channel) ?? "")?.find((item) => keyOf(item) === key);
}

/** Returns the view of a `snapshot`, or of the body of `GET /api/v1/snapshot`. */
export function viewOf(snapshot: unknown): View {
  const lists = new Map<string, readonly unknown[]>();
  for (const resource of RESOURCES) {
    const own = valueAt(snapshot, `/${resource}`);
    if (!isObject(own)) continue;
    for (const [name, items] of Object.entries(own)) {
      if (Array.isArray(items)) lists.set(`${resource}.${name}`, items);
    }
  }
  const explanations = valueAt(snapshot, "/explanations");
  const outcomes = valueAt(snapshot, "/outcomes");
  return {
    lists,
    explanations: isObject(explanations) ? explanations : {},
    outcomes: isObject(outcomes) ? outcomes : {},
  };
}

/** Returns the view of a snapshot in parts: joins the lists, in order. */
export function joinViews(parts: readonly View[]): View {
  const lists = new Map<string, readonly unknown[]>();
  for (const [name, items] of parts.flatMap((part) => [...part.lists]))
    lists.set(name, [...(lists.get(name) ?? []), ...items]);
  const whole = parts.reduce<View | undefined>(mergeViews, undefined) ?? viewOf({});
  return { ...whole, lists };
}

/** Returns the view with the lists of `more`, and the explanations and outcomes of both. */
export function mergeViews(view: View | undefined, more: View): View {
  if (!view) return more;
  return {
    lists: new Map([...view.lists, ...more.lists]),
    explanations: { ...view.explanations, ...more.explanations },
    outcomes: { ...view.outcomes, ...more.outcomes },
  };
}

/** Converts a view to comparable JSON. */
export function plain({ lists, explanations, outcomes }: View): JsonObject {
  const sorted = [...lists].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...Object.fromEntries(sorted), explanations, outcomes };
}

/** Returns the key of an item, by the table in PROTOCOL.md. */
export function keyOf(item: unknown): unknown {
  return (
    valueAt(item, "/id") ??
    valueAt(item, "/object/id") ??
    valueAt(item, "/object/address") ??
    valueAt(item, "/object/symbol")
  );
}

/** Returns the view after an `event`. Throws Failure if a change does not fit. */
export function applyEvent(view: View, event: JsonObject): View {
  const channel = String(event.channel);
  const name = listNameOf(channel);
  const before = name === undefined ? undefined : view.lists.get(name);
  if (name === undefined || !before) return view;
  const { data } = event;
  const changes = valueAt(data, "/changes");
  const list = (Array.isArray(changes) ? changes : [data]).reduce(
    (items: readonly unknown[], change: unknown) => applyChange(items, change, event),
    before,
  );
  const next = { ...view, lists: new Map(view.lists).set(name, list) };
  if (!channel.startsWith("flares.")) return next;
  const explained = { ...next, explanations: explain(next, data) };
  return channel === "flares.finished" ? { ...explained, outcomes: measure(next, data) } : explained;
}

function measure({ outcomes }: View, data: unknown): JsonObject {
  const id = String(valueAt(data, "/id") ?? valueAt(data, "/flare/id"));
  const { [id]: _held, ...rest } = outcomes;
  const outcome = valueAt(data, "/op") === "remove" ? null : valueAt(data, "/outcome");
  if (outcome === undefined) return outcomes;
  return outcome === null ? rest : { ...rest, [id]: outcome };
}

function applyChange(items: readonly unknown[], change: unknown, event: JsonObject): readonly unknown[] {
  const misfit = (expected: string) =>
    new Failure(`${expected} in ${event.channel}`, `event ${event.seq}: ${JSON.stringify(change)}`, [APPLY]);
  const find = (key: unknown) => {
    const at = items.findIndex((item) => keyOf(item) === key);
    if (at < 0) throw misfit(`a key in the list, not ${JSON.stringify(key)},`);
    return at;
  };
  switch (valueAt(change, "/op")) {
    case "insert": {
      const item = valueAt(change, "/item") ?? valueAt(change, "/flare") ?? valueAt(change, "/listing");
      const index = Number(valueAt(change, "/index"));
      if (!isObject(item)) throw misfit("an item to insert");
      if (!(index >= 0 && index <= items.length)) throw misfit(`an index of 0 to ${items.length}`);
      if (items.some((one) => keyOf(one) === keyOf(item))) throw misfit("a key that is not in the list");
      return items.toSpliced(index, 0, item);
    }
    case "remove":
      return items.toSpliced(find(valueAt(change, "/id")), 1);
    case "set": {
      const at = find(valueAt(change, "/id"));
      const [held, set, unset] = [items[at], valueAt(change, "/set"), valueAt(change, "/unset")];
      if (!isObject(held) || !isObject(set)) throw misfit("fields to set");
      const gone = Array.isArray(unset) ? unset : [];
      const kept = Object.entries({ ...held, ...set }).filter(([field]) => !gone.includes(field));
      return items.with(at, Object.fromEntries(kept));
    }
    case "order": {
      const ids = valueAt(change, "/ids");
      if (!Array.isArray(ids) || ids.length !== items.length || new Set(ids).size !== ids.length) {
        throw misfit(`the keys of all ${items.length} items`);
      }
      return ids.map((id) => items[find(id)]);
    }
    default:
      throw misfit("op insert, remove, set or order");
  }
}

function explain(view: View, data: unknown): JsonObject {
  const id = String(valueAt(data, "/id") ?? valueAt(data, "/flare/id"));
  const op = valueAt(data, "/op");
  const { [id]: held, ...rest } = view.explanations;
  if (op === "remove") {
    const isListed = [...view.lists].some(
      ([name, items]) => name.startsWith("flares.") && items.some((item) => keyOf(item) === id),
    );
    return isListed || held === undefined ? view.explanations : rest;
  }
  const why = valueAt(data, "/why");
  if ((op !== "insert" && op !== "set") || why === undefined) return view.explanations;
  return why === null ? rest : { ...rest, [id]: why };
}
