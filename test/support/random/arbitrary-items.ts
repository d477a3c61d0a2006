import fc from "fast-check";
import {
  byForm,
  type ChainGroup,
  type Explanation,
  FINISH_CAUSES,
  type GroupName,
  groupOfChannel,
  type ListItem,
  OTHER_CHAINS,
  OTHER_GROUPS,
  type Outcome,
  type Surge,
  TERM_NAMES,
  TERM_UNITS,
} from "../../../src/base/model/index.ts";
import { LIST_CHANNEL_NAMES, type ListChannel } from "../../../src/base/protocol/index.ts";

/* Arbitrary valid items, explanations and outcomes. Their keys come from small pools. */

export const POOL = 9;
const hex = (n: number, digits: number) => n.toString(16).padStart(digits, "0");
export const uuid = (kind: number) =>
  fc.nat(POOL - 1).map((n) => `${hex(kind, 8)}-0000-5000-8000-${hex(n, 12)}`);
/** Addresses in mixed case, as in a checksum, so that a case-sensitive comparison fails. */
const address = fc.nat(POOL - 1).map((n) => `0x${hex(n, 20)}AbCdEf${hex(n + 10, 14).toUpperCase()}`);
const timestamp = fc
  .integer({ min: 0, max: 10_000 })
  .map((step) => new Date(Date.UTC(2017, 10, 4) + step * 777).toISOString());
const decimal = fc
  .tuple(fc.nat(1_000_000), fc.nat(99))
  .map(([whole, part]) => (part === 0 ? `${whole}` : `${whole}.${part}`));
/** Any finite number. Adding 0 turns -0, which JSON cannot represent, into 0. */
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

/** Fields that no schema defines. Some have names that careless code mishandles. */
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

/** Returns the value as parsed from JSON, so without -0. */
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

const flareOf = (kind: number) => ({
  id: uuid(kind),
  ...flareFacts,
  started_trending_at: timestamp,
  finished_trending_at: maybe(timestamp),
});
const arbitraryFlare = withExtras(fc.record(flareOf(1)));
const exchangeFlare = withExtras(
  fc.record({
    ...flareOf(5),
    token: fc.record({ name: text, symbol: text, price: decimal, created_at: timestamp }),
    group: fc.constant("exchange" as const),
    ...{ pair: maybe(text), exchange: maybe(text) },
  }),
);
const chainFlareOf = (group: Exclude<ChainGroup, "bsc">) =>
  withExtras(fc.record({ ...flareOf(5 + OTHER_GROUPS.indexOf(group)), group: fc.constant(group) }));

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

const charts: Readonly<Record<GroupName, fc.Arbitrary<ListItem>>> = byForm(
  withExtras(
    fc.record({
      ...chartFacts,
      most_recent_price: decimal,
      buy_count: count,
      sell_count: count,
      flare: nestedFlare,
    }),
  ),
  withExtras(fc.record({ ...chartFacts, token: exchangeToken, market_data: maybe(marketData) })),
  chainItem,
);
const leaderboards: Readonly<Record<GroupName, fc.Arbitrary<ListItem>>> = byForm(
  withExtras(fc.record({ type: fc.constant("flare" as const), ...standing, object: nestedFlare })),
  withExtras(fc.record({ type: fc.constant("token" as const), ...standing, object: exchangeToken })),
  chainEntry,
);
const chainFlares = new Map<string, fc.Arbitrary<ListItem>>(
  OTHER_CHAINS.map((group) => [group, chainFlareOf(group)]),
);

/** Arbitrary items for the list of each channel. */
export const ITEMS = Object.fromEntries(
  LIST_CHANNEL_NAMES.map((channel) => [channel, itemsOf(channel)]),
) as Readonly<Record<ListChannel, fc.Arbitrary<ListItem>>>;

function itemsOf(channel: ListChannel): fc.Arbitrary<ListItem> {
  const group = groupOfChannel(channel);
  if (channel.startsWith("charts.")) return charts[group];
  if (channel.startsWith("leaderboards.")) return leaderboards[group];
  if (channel === "newest.bsc") return arbitraryListing;
  return chainFlares.get(group) ?? (group === "bsc" ? arbitraryFlare : exchangeFlare);
}

export const arbitrarySurge: fc.Arbitrary<Surge> = fc.record({
  number: fc.integer({ min: 1, max: 4 }),
  at: timestamp,
  price: decimal,
  score: number,
});

const explanationFacts = {
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
};
/** With a surge in every second case, and an age in every third. */
export const arbitraryExplanation: fc.Arbitrary<Explanation> = fc.oneof(
  fc.record(explanationFacts),
  fc.record({ ...explanationFacts, surge: arbitrarySurge }),
  fc.record({ ...explanationFacts, age_s: maybe(fc.nat(7_200)), surge: arbitrarySurge }),
);

const [price, change, moment] = [maybe(decimal), maybe(number), maybe(timestamp)];
export const arbitraryOutcome: fc.Arbitrary<Outcome> = fc.record({
  ...{ start_price: price, peak_price: price, end_price: price },
  ...{ peak_at: moment, collapsed_at: moment },
  ...{ peak_change: change, end_change: change },
  ...{ change_5m: change, change_15m: change, change_60m: change },
  ...{ relative_change_5m: change, relative_change_15m: change, relative_change_60m: change },
  ended_by: fc.constantFrom(...FINISH_CAUSES),
  collapse_warning_s: maybe(count),
  final: fc.boolean(),
});
