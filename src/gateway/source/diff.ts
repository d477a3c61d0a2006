import { jsonEqual, ownField } from "../../base/lib/json-equal.ts";
import {
  type AnyFlare,
  type AnyFlares,
  type Explanation,
  GROUPS,
  type Group,
  keyOf,
  type ListItem,
  type Listing,
  OTHER_GROUPS,
  type Outcome,
  type Snapshot,
} from "../../base/model/index.ts";
import {
  type FlareChannel,
  FlarewireError,
  flareChannelsOf,
  LIST_CHANNELS,
} from "../../base/protocol/index.ts";

export type ItemChange<T extends ListItem> =
  | { readonly op: "insert"; readonly index: number; readonly item: T }
  | { readonly op: "remove"; readonly id: string }
  | {
      readonly op: "set";
      readonly id: string;
      readonly set: Record<string, unknown>;
      readonly unset?: string[];
    }
  | { readonly op: "order"; readonly ids: string[] };

/** Changed values by flare id; `null` if the value was removed. */
type Changed<T> = ReadonlyMap<string, T | null>;

/**
 * The changes of one list. `changes` has removals, reordering, insertions, then fields. It is empty
 * if only outcomes changed.
 */
export type ListDiff =
  | {
      readonly kind: "flares";
      readonly channel: FlareChannel;
      /** A flare whose explanation alone changed has a `set` without fields. */
      readonly changes: readonly ItemChange<AnyFlare>[];
      /** The changed explanations of all flares, whichever lists they are in. */
      readonly whys: Changed<Explanation>;
      /**
       * The changed outcomes of flares that stay in a list of finished flares; empty for others.
       */
      readonly outcomes: Changed<Outcome>;
    }
  | {
      readonly kind: "newest";
      readonly channel: "newest.bsc";
      readonly changes: readonly ItemChange<Listing>[];
    }
  | {
      readonly kind: "chart";
      readonly channel: `charts.${Group}`;
      readonly group: Group;
      readonly changes: readonly ItemChange<ListItem>[];
    }
  | {
      readonly kind: "leaderboard";
      readonly channel: `leaderboards.${Group}`;
      readonly group: Group;
      readonly changes: readonly ItemChange<ListItem>[];
    };

/**
 * Computes the changes that turn the lists, explanations and outcomes of `before` into exactly
 * those of `after` (law L1), by list. Ignores candles. The flares of groups other than `bsc` come
 * first, then the other lists in the order of LIST_CHANNEL_NAMES. A `set` has only the top-level
 * fields that changed. Equal references are not compared further. Throws `invalid-input` if a
 * compared list contains a key twice.
 */
export function diffSnapshots(before: Snapshot, after: Snapshot): readonly ListDiff[] {
  const whys = changedValues(before.explanations, after.explanations);
  const outcomes = changedValues(before.outcomes, after.outcomes);
  const flaresOf = (group: Group) =>
    flareChannelsOf(group).map((channel): ListDiff => {
      const [was, is] = [flareListOf(before, channel), flareListOf(after, channel)];
      const isFinished = channel.endsWith(".finished");
      return {
        kind: "flares",
        channel,
        changes: diffList(channel, was, is, whys),
        whys,
        outcomes: isFinished ? outcomesOfStaying(outcomes, was, is) : NO_OUTCOMES,
      };
    });
  const diffs: ListDiff[] = [
    ...OTHER_GROUPS.flatMap(flaresOf),
    ...flaresOf("bsc"),
    {
      kind: "newest",
      channel: "newest.bsc",
      changes: diffList("newest.bsc", before.newest.bsc, after.newest.bsc),
    },
    ...GROUPS.map((group): ListDiff => {
      const channel = `charts.${group}` as const;
      const changes = diffList<ListItem>(channel, before.charts[group], after.charts[group]);
      return { kind: "chart", channel, group, changes };
    }),
    ...GROUPS.map((group): ListDiff => {
      const channel = `leaderboards.${group}` as const;
      const changes = diffList<ListItem>(channel, before.leaderboards[group], after.leaderboards[group]);
      return { kind: "leaderboard", channel, group, changes };
    }),
  ];
  return diffs.filter(({ changes, ...diff }) => {
    return changes.length > 0 || (diff.kind === "flares" && diff.outcomes.size > 0);
  });
}

const NO_WHYS: Changed<Explanation> = new Map();
const NO_OUTCOMES: Changed<Outcome> = new Map();

/** Returns the list of a channel of flares. */
export function flareListOf(snapshot: Snapshot, channel: FlareChannel): readonly AnyFlare[] {
  const [resource, name] = LIST_CHANNELS[channel];
  const lists: AnyFlares = snapshot[resource];
  return lists[name];
}

function changedValues<T>(before: Readonly<Record<string, T>>, after: Readonly<Record<string, T>>) {
  const changed = new Map<string, T | null>();
  if (before === after) return changed;
  for (const id of Object.keys(after)) {
    const value = after[id];
    if (value === undefined || value === before[id]) continue;
    if (!jsonEqual(ownField(before, id), value)) changed.set(id, value);
  }
  for (const id of Object.keys(before)) {
    if (!Object.hasOwn(after, id)) changed.set(id, null);
  }
  return changed;
}

/**
 * Returns the changed outcomes of flares in both lists. The others enter or leave with their
 * flares.
 */
function outcomesOfStaying(
  changed: Changed<Outcome>,
  before: readonly AnyFlare[],
  after: readonly AnyFlare[],
): Changed<Outcome> {
  if (changed.size === 0) return changed;
  const was = new Set(before.map(keyOf));
  const is = new Set(after.map(keyOf));
  return new Map([...changed].filter(([id]) => was.has(id) && is.has(id)));
}

function diffList<T extends ListItem>(
  channel: string,
  before: readonly T[],
  after: readonly T[],
  whys = NO_WHYS,
): readonly ItemChange<T>[] {
  if (before === after && whys.size === 0) return [];
  const was = byKey(channel, before);
  const is = byKey(channel, after);
  const removes: ItemChange<T>[] = [];
  const inserts: ItemChange<T>[] = [];
  const sets: ItemChange<T>[] = [];
  const stayed: string[] = [];
  for (const key of was.keys()) {
    if (is.has(key)) stayed.push(key);
    else removes.push({ op: "remove", id: key });
  }
  const ids: string[] = [];
  let inOrder = true;
  let index = 0;
  for (const [key, item] of is) {
    const old = was.get(key);
    if (old === undefined) inserts.push({ op: "insert", index, item });
    else {
      inOrder &&= stayed[ids.length] === key;
      ids.push(key);
      const set = diffItem(key, old, item, whys.has(key));
      if (set) sets.push(set);
    }
    index += 1;
  }
  return [...removes, ...(inOrder ? [] : [{ op: "order" as const, ids }]), ...inserts, ...sets];
}

function byKey<T extends ListItem>(channel: string, list: readonly T[]): ReadonlyMap<string, T> {
  const map = new Map<string, T>();
  for (const item of list) {
    const key = keyOf(item);
    if (map.has(key)) throw new FlarewireError("invalid-input", `${channel} contains ${key} twice`);
    map.set(key, item);
  }
  return map;
}

function diffItem(
  id: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  whyChanged: boolean,
): Extract<ItemChange<never>, { op: "set" }> | undefined {
  const changed: [string, unknown][] = [];
  const unset: string[] = [];
  if (before !== after) {
    for (const field of Object.keys(after)) {
      const value = after[field];
      if (value !== undefined && !jsonEqual(ownField(before, field), value)) changed.push([field, value]);
    }
    for (const field of Object.keys(before)) {
      if (before[field] !== undefined && ownField(after, field) === undefined) unset.push(field);
    }
  }
  if (changed.length === 0 && unset.length === 0 && !whyChanged) return undefined;
  // fromEntries defines fields, so a field named __proto__ is handled like any other.
  const set = Object.fromEntries(changed);
  return unset.length === 0 ? { op: "set", id, set } : { op: "set", id, set, unset };
}
