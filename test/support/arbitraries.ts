import fc from "fast-check";
import {
  type Explanation,
  FINISH_CAUSES,
  type Flare,
  keyOf,
  type ListItem,
  NO_CANDLES,
  type Outcome,
  type Snapshot,
  TERM_NAMES,
  TERM_UNITS,
} from "../../src/model/index.ts";
import { LIST_CHANNEL_NAMES, LIST_CHANNELS, type ListChannel } from "../../src/protocol/index.ts";

/*
 * Arbitrary valid values of the model. Keys come out of small pools, so that two snapshots share
 * items, and a flare stands in several lists; some items carry fields that the model does not know,
 * as an upstream's may.
 */

const POOL = 9;
const hex = (n: number, digits: number) => n.toString(16).padStart(digits, "0");
const uuid = (kind: number) => fc.nat(POOL - 1).map((n) => `${hex(kind, 8)}-0000-5000-8000-${hex(n, 12)}`);
/**
 * In mixed case, as chains write them with a checksum: anyone who compares without folding case
 * misses half of them.
 */
const address = fc.nat(POOL - 1).map((n) => `0x${hex(n, 20)}AbCdEf${hex(n + 10, 14).toUpperCase()}`);
const timestamp = fc
  .integer({ min: 0, max: 10_000 })
  .map((step) => new Date(Date.UTC(2017, 10, 4) + step * 777).toISOString());
const decimal = fc
  .tuple(fc.nat(1_000_000), fc.nat(99))
  .map(([whole, part]) => (part === 0 ? `${whole}` : `${whole}.${part}`));
/** Any finite number; adding 0 turns -0, which JSON text does not have, into 0. */
const number = fc
  .double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })
  .map((value) => value + 0);
const count = fc.nat(1_000);
const percent = fc.integer({ min: -99, max: 900 });
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom("", "🔥", "</script>", "\u202e\u0000\u2028"),
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const marketData = fc.record({ market_id: text, image_url: maybe(text), name: maybe(text) });
const socialData = fc.record({ chat_url: maybe(text), microblog_url: maybe(text), website_url: maybe(text) });
const contractSource = fc.constantFrom(
  { status: "1" as const, message: "OK" as const },
  { status: "0" as const, message: "NOTOK" as const },
);
const forumPost = fc.record({
  position: fc.nat(50),
  address,
  url: text,
  title: text,
  upvotes: count,
  posted: timestamp,
});
const token = fc.record({ name: text, symbol: text, address, price: decimal, created_at: timestamp });

/** Fields that no schema knows, some with names that trap careless code. */
const extras = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .array(
        fc.tuple(
          fc.constantFrom("x_rank", "x_note", "constructor", "toString", "__proto__"),
          fc.jsonValue({ maxDepth: 1 }),
        ),
        { maxLength: 3 },
      )
      .map((fields) => normal(Object.fromEntries(fields))),
  },
);

/** As it would come out of JSON text, and without -0. */
function normal<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

function withExtras<T extends object>(item: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.tuple(item, extras).map(([value, more]) => ({ ...value, ...more }));
}

const flareFacts = {
  recent_price_change: percent,
  previous_price_change: percent,
  latest_buy_count: count,
  latest_sell_count: count,
  forum_post: maybe(forumPost),
  social_data: maybe(socialData),
  contract_source: contractSource,
  liquidity: decimal,
  market_data: maybe(marketData),
  token,
};

const arbitraryFlare = withExtras(
  fc.record({
    id: uuid(1),
    ...flareFacts,
    started_trending_at: timestamp,
    finished_trending_at: maybe(timestamp),
  }),
);

const nestedFlare = fc.record({
  id: uuid(2),
  ...flareFacts,
  upvote_site_data: fc.constant(null),
  relevant: fc.boolean(),
  last_relevant_at: timestamp,
  last_irrelevant_at: timestamp,
  canary: fc.boolean(),
  canary_at: timestamp,
});

const arbitraryListing = withExtras(
  fc.record({
    id: uuid(3),
    listed_at: timestamp,
    pool: text,
    liquidity: decimal,
    token,
    market_data: maybe(marketData),
    social_data: maybe(socialData),
    contract_source: contractSource,
  }),
);

const chartFacts = {
  id: uuid(4),
  most_recent_price_average: decimal,
  price_change_from_average: number,
  streak: fc.integer({ min: 1, max: 99 }),
  latest_candle_prices: fc.array(number, { maxLength: 5 }),
};
const exchangeToken = fc.record({ symbol: fc.constantFrom("BTC", "ETH", "BCC", "NEO"), price: decimal });
const chainToken = fc.record({ symbol: text, price: decimal, address });
const chainItem = withExtras(
  fc.record({
    ...chartFacts,
    most_recent_price: decimal,
    recent_average_price: decimal,
    token: chainToken,
    market_data: maybe(marketData),
  }),
);
const standing = {
  time_trended: fc.nat(21_600),
  average_position: fc.double({ min: 1, max: 10, noNaN: true }),
};
const chainEntry = withExtras(
  fc.record({ type: fc.constant("token" as const), ...standing, object: chainToken }),
);

/** Items of the list of each channel. */
const ITEMS: Readonly<Record<ListChannel, fc.Arbitrary<ListItem>>> = {
  "flares.free": arbitraryFlare,
  "flares.pro": arbitraryFlare,
  "flares.finished": arbitraryFlare,
  "newest.bsc": arbitraryListing,
  "charts.bsc": withExtras(
    fc.record({
      ...chartFacts,
      most_recent_price: decimal,
      buy_count: count,
      sell_count: count,
      flare: nestedFlare,
    }),
  ),
  "charts.exchange": withExtras(
    fc.record({ ...chartFacts, token: exchangeToken, market_data: maybe(marketData) }),
  ),
  "charts.matic": chainItem,
  "charts.avalanche": chainItem,
  "leaderboards.bsc": withExtras(
    fc.record({ type: fc.constant("flare" as const), ...standing, object: nestedFlare }),
  ),
  "leaderboards.exchange": withExtras(
    fc.record({ type: fc.constant("token" as const), ...standing, object: exchangeToken }),
  ),
  "leaderboards.matic": chainEntry,
  "leaderboards.avalanche": chainEntry,
};

const arbitraryExplanation: fc.Arbitrary<Explanation> = fc.record({
  at: timestamp,
  text: fc.stringMatching(/^[a-z0-9 ,;:.$%+-]{1,40}$/),
  score: number,
  threshold: number,
  finish_threshold: number,
  terms: fc.array(
    fc.record({
      name: fc.constantFrom(...TERM_NAMES),
      unit: fc.constantFrom(...Object.values(TERM_UNITS)),
      raw: number,
      usual: maybe(number),
      z: number,
      weight: number,
    }),
    {
      maxLength: 2,
    },
  ),
  warnings: fc.array(fc.constantFrom("liquidity-removed", "no-seller"), { maxLength: 2 }),
  finish_cause: maybe(fc.constantFrom(...FINISH_CAUSES)),
});

const [price, change, moment] = [maybe(decimal), maybe(number), maybe(timestamp)];
const arbitraryOutcome: fc.Arbitrary<Outcome> = fc.record({
  ...{ start_price: price, peak_price: price, end_price: price },
  ...{ peak_at: moment, collapsed_at: moment },
  ...{ peak_change: change, end_change: change },
  ...{ change_5m: change, change_15m: change, change_60m: change },
  ...{ relative_change_5m: change, relative_change_15m: change, relative_change_60m: change },
  ended_by: fc.constantFrom(...FINISH_CAUSES),
  collapse_warning_s: maybe(count),
  final: fc.boolean(),
});

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
const whys = fc.dictionary(uuid(1), arbitraryExplanation, { maxKeys: POOL, size: "max" });

const outcomes = fc.dictionary(uuid(1), arbitraryOutcome, { maxKeys: POOL, size: "max" });

/** The snapshot of these lists, with the explanations and outcomes of the flares in them. */
function assemble({ of, whys, outcomes }: Scene): Snapshot {
  const snapshot: Record<string, Record<string, unknown>> = {};
  for (const channel of LIST_CHANNEL_NAMES) {
    const [resource, name] = LIST_CHANNELS[channel];
    snapshot[resource] = { ...snapshot[resource], [name]: of[channel] };
  }
  const flares = [...of["flares.free"], ...of["flares.pro"], ...of["flares.finished"]].map(keyOf);
  const finished = of["flares.finished"].map(keyOf);
  const heldOf = (all: object, ids: readonly string[]) =>
    Object.fromEntries(Object.entries(all).filter(([id]) => ids.includes(id)));
  const notes = { explanations: heldOf(whys, flares), outcomes: heldOf(outcomes, finished) };
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

/** One thing that may happen to a list between two polls; positions are taken modulo its length. */
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
    | "measure"
    | "unmeasure";
  readonly channel: ListChannel;
  readonly at: number;
  readonly to: number;
  /** A source of new items and fields, of that channel. */
  readonly item: ListItem;
  readonly why: Explanation;
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
        "measure",
        "unmeasure",
      ),
      channel: fc.constant(channel),
      at: fc.nat(100),
      to: fc.nat(100),
      item: ITEMS[channel],
      why: arbitraryExplanation,
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
 * A flare moves on, as it does in life: from `pro` into `free` too, or out of both into the
 * finished ones.
 */
function copyFlare(of: Lists, step: Mutation): Lists {
  const pro = of["flares.pro"];
  const flare = pro[step.at % Math.max(1, pro.length)];
  if (flare === undefined) return of;
  const other = (list: readonly ListItem[]) => list.filter((item) => keyOf(item) !== keyOf(flare));
  if (step.to % 2 === 0) return { ...of, "flares.free": [flare, ...other(of["flares.free"])] };
  const ended = { ...(flare as Flare), finished_trending_at: "2017-11-12T00:00:00.000Z" };
  return {
    ...of,
    "flares.pro": other(pro),
    "flares.free": other(of["flares.free"]),
    "flares.finished": [ended, ...other(of["flares.finished"])],
  };
}

function mutate(before: Scene, step: Mutation): Scene {
  const { of, whys, outcomes } = before;
  const pick = (flares: readonly ListItem[]) => flares.map(keyOf)[step.at % Math.max(1, flares.length)] ?? "";
  const finished = of["flares.finished"];
  const [id, ended] = [pick([...of["flares.pro"], ...of["flares.free"], ...finished]), pick(finished)];
  switch (step.kind) {
    case "explain":
      return { ...before, whys: { ...whys, [id]: step.why } };
    case "unexplain": {
      const { [id]: _gone, ...rest } = whys;
      return { ...before, whys: rest };
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
 * A snapshot and a later one that grew out of it by a few steps; what no step touched is the same
 * object in both.
 */
export const arbitraryHistory = fc
  .tuple(scene, fc.array(mutation, { maxLength: 12 }))
  .map(([first, steps]) => ({ before: assemble(first), after: assemble(steps.reduce(mutate, first)) }));
