import fc from "fast-check";
import {
  type Explanation,
  type Flare,
  flaresKeyOf,
  groupOfChannel,
  keyOf,
  type ListItem,
  NO_CANDLES,
  type Outcome,
  type Snapshot,
  type Surge,
} from "../../../src/base/model/index.ts";
import {
  FLARE_CHANNELS,
  LIST_CHANNEL_NAMES,
  LIST_CHANNELS,
  type ListChannel,
} from "../../../src/base/protocol/index.ts";

import {
  arbitraryExplanation,
  arbitraryOutcome,
  arbitrarySurge,
  ITEMS,
  POOL,
  uuid,
} from "./arbitrary-items.ts";

/*
 * Arbitrary valid values of the model. Keys come from small pools, so that two snapshots share
 * items
 * and a flare is in several lists. Some items have fields that the model does not define, as items
 * of an upstream may.
 */

type Lists = Readonly<Record<ListChannel, readonly ListItem[]>>;
type Whys = Readonly<Record<string, Explanation>>;
type Outcomes = Readonly<Record<string, Outcome>>;

const lists = fc.record(
  Object.fromEntries(
    LIST_CHANNEL_NAMES.map((channel) => [
      channel,
      fc.uniqueArray(ITEMS[channel], { selector: keyOf, maxLength: 6, size: "max" }),
    ]),
  ) as Record<ListChannel, fc.Arbitrary<ListItem[]>>,
);
const flareId = fc.constantFrom(1, 5, 6, 7).chain(uuid);
const whys = fc.dictionary(flareId, arbitraryExplanation, { maxKeys: 3 * POOL, size: "max" });

const outcomes = fc.dictionary(flareId, arbitraryOutcome, { maxKeys: 3 * POOL, size: "max" });

/** Builds the snapshot of these lists, with the explanations and outcomes of their flares. */
function assemble({ of, whys, outcomes }: Scene): Snapshot {
  const snapshot: Record<string, Record<string, unknown>> = {};
  for (const channel of LIST_CHANNEL_NAMES) {
    const [resource, name] = LIST_CHANNELS[channel];
    snapshot[resource] = { ...snapshot[resource], [name]: of[channel] };
  }
  const flares = FLARE_CHANNELS.flatMap((channel) => of[channel].map(keyOf));
  const finished = FLARE_CHANNELS.filter((channel) => channel.endsWith(".finished")).flatMap((channel) =>
    of[channel].map(keyOf),
  );
  const pickIds = (all: object, ids: readonly string[]) =>
    Object.fromEntries(Object.entries(all).filter(([id]) => ids.includes(id)));
  const notes = { explanations: pickIds(whys, flares), outcomes: pickIds(outcomes, finished) };
  return { ...snapshot, ...notes, candles: NO_CANDLES } as Snapshot;
}

interface Scene {
  readonly of: Lists;
  readonly whys: Whys;
  readonly outcomes: Outcomes;
}

const scene: fc.Arbitrary<Scene> = fc.record({ of: lists, whys, outcomes });

/** Any valid snapshot. */
export const arbitrarySnapshot = scene.map(assemble);

/** One change of a list between two polls. Positions are taken modulo the list's length. */
type Mutation = {
  readonly kind:
    | "remove"
    | "insert"
    | "move"
    | "copy"
    | "fields"
    | "flip"
    | "forget"
    | "explain"
    | "unexplain"
    | "surge"
    | "calm"
    | "measure"
    | "unmeasure";
  readonly channel: ListChannel;
  readonly at: number;
  readonly to: number;
  /** A source of new items and fields for this channel. */
  readonly item: ListItem;
  readonly why: Explanation;
  readonly surge: Surge;
  readonly outcome: Outcome;
};

const mutation: fc.Arbitrary<Mutation> = fc
  .constantFrom(...LIST_CHANNEL_NAMES, "flares.pro", "flares.free")
  .chain((channel) =>
    fc.record({
      kind: fc.constantFrom(
        "remove",
        "insert",
        "move",
        "copy",
        "fields",
        "flip",
        "forget",
        "explain",
        "unexplain",
        // More often than others: most laws count the surges that they reach.
        ...Array<"surge">(4).fill("surge"),
        "calm",
        "measure",
        "unmeasure",
      ),
      channel: fc.constant(channel),
      at: fc.nat(100),
      to: fc.nat(100),
      item: ITEMS[channel],
      why: arbitraryExplanation,
      surge: arbitrarySurge,
      outcome: arbitraryOutcome,
    }),
  );

const NULLABLE = ["forum_post", "social_data", "market_data", "finished_trending_at"];

function mutateItem({ kind, item, to }: Mutation, old: ListItem): ListItem {
  const fields: Record<string, unknown> = { ...old };
  const source: Readonly<Record<string, unknown>> = { ...item };
  if (kind === "forget") {
    for (const field of Object.keys(fields))
      if (/^(x_|constructor|toString|__)/.test(field)) delete fields[field];
  } else if (kind === "flip") {
    const present = NULLABLE.filter((field) => Object.hasOwn(fields, field));
    for (const field of present) fields[field] = fields[field] === null ? source[field] : null;
  } else {
    const names = Object.keys(source).filter((field) => !["id", "object", "__proto__"].includes(field));
    for (const name of names.filter((_, index) => (index + to) % 3 === 0)) fields[name] = source[name];
  }
  return fields as ListItem;
}

function mutateList(list: readonly ListItem[], step: Mutation): readonly ListItem[] {
  const { kind, item } = step;
  const at = list.length === 0 ? 0 : step.at % list.length;
  const old = list[at];
  if (kind === "insert") {
    const free = list.length < 8 && !list.some((other) => keyOf(other) === keyOf(item));
    return free ? list.toSpliced(step.to % (list.length + 1), 0, item) : list;
  }
  if (old === undefined) return list;
  if (kind === "remove") return list.toSpliced(at, 1);
  if (kind === "move") return list.toSpliced(at, 1).toSpliced(step.to % list.length, 0, old);
  return list.with(at, mutateItem(step, old));
}

/**
 * Moves a flare as the product does: from `pro` into `free` too, or out of both into `finished`.
 */
function copyFlare(of: Lists, step: Mutation): Lists {
  const names = flareListsOf(step);
  const pro = of[names.pro];
  const flare = pro[step.at % Math.max(1, pro.length)];
  if (flare === undefined) return of;
  const other = (list: readonly ListItem[]) => list.filter((item) => keyOf(item) !== keyOf(flare));
  if (step.to % 2 === 0) return { ...of, [names.free]: [flare, ...other(of[names.free])] };
  const ended = { ...(flare as Flare), finished_trending_at: "2017-11-12T00:00:00.000Z" };
  return {
    ...of,
    [names.pro]: other(pro),
    [names.free]: other(of[names.free]),
    [names.finished]: [ended, ...other(of[names.finished])],
  };
}

/**
 * Returns the flare lists of the group that a step changes, or of `bsc` if it changes other lists.
 */
function flareListsOf({ channel }: Mutation) {
  const group = flaresKeyOf(channel.startsWith("flares.") ? groupOfChannel(channel) : "bsc");
  return { pro: `${group}.pro`, free: `${group}.free`, finished: `${group}.finished` } as const;
}

function mutate(before: Scene, step: Mutation): Scene {
  const { of, whys, outcomes } = before;
  const pick = (flares: readonly ListItem[]) => flares.map(keyOf)[step.at % Math.max(1, flares.length)] ?? "";
  const names = flareListsOf(step);
  const finished = of[names.finished];
  const running = [...of[names.pro], ...of[names.free]];
  const [id, ended] = [pick([...running, ...finished]), pick(finished)];
  switch (step.kind) {
    case "explain":
      return { ...before, whys: { ...whys, [id]: step.why } };
    case "unexplain": {
      const { [id]: _gone, ...rest } = whys;
      return { ...before, whys: rest };
    }
    case "surge": {
      // The next surge of an explained flare, or the first of one that had no explanation.
      const surging = pick(running);
      const why = whys[surging];
      const surge = { ...step.surge, number: (why?.surge?.number ?? 0) + 1 };
      return { ...before, whys: { ...whys, [surging]: { ...(why ?? step.why), surge } } };
    }
    case "calm": {
      const { surge: _gone, ...why } = whys[id] ?? step.why;
      return { ...before, whys: { ...whys, [id]: why } };
    }
    case "measure":
      return { ...before, outcomes: { ...outcomes, [ended]: step.outcome } };
    case "unmeasure": {
      const { [ended]: _gone, ...rest } = outcomes;
      return { ...before, outcomes: rest };
    }
    case "copy":
      return { ...before, of: copyFlare(of, step) };
    default:
      return { ...before, of: { ...of, [step.channel]: mutateList(of[step.channel], step) } };
  }
}

/**
 * A snapshot and a later one, a few steps apart. Objects that no step changed are shared by both.
 */
export const arbitraryHistory = fc
  .tuple(scene, fc.array(mutation, { maxLength: 12 }))
  .map(([first, steps]) => ({ before: assemble(first), after: assemble(steps.reduce(mutate, first)) }));
