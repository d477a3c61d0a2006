import { expect, test } from "vitest";
import { FeedFacts, LATEST_AT_MS, MarketEvent, Origin } from "../../../src/base/market/index.ts";

const at = 1_000;
const group = "bsc";
const token = "0xab";
const pool = "p";
const ofToken = { at, group, token };
const inPool = { ...ofToken, pool };
const counts = { buys: 1, sells: 0, buyers: 1, sellers: 0, usd: "1" };
const TRADE = {
  kind: "trade",
  ...inPool,
  side: "buy",
  price: "1",
  amount: "1",
  quoteUsd: "1",
  trader: "0x1",
  tradedAt: at,
};
const CANDLE = {
  kind: "candle",
  ...ofToken,
  openAt: 0,
  open: "1",
  high: "1",
  low: "1",
  close: "1",
  volume: "1",
  trades: 1,
  buyVolume: "1",
};
const WINDOW = {
  kind: "window",
  ...inPool,
  price: "1",
  past: { m5: "1", m30: "1", h1: "1" },
  liquidity: "1",
  createdAt: 0,
  counts: { m5: counts, h1: counts, h24: counts },
};
const LISTING = { kind: "listing", ...inPool, listedAt: 0, liquidity: "1" };
const LIQUIDITY = { kind: "liquidity", ...inPool, usd: "1", cause: "sync" };
const LOCKS = {
  kind: "locks",
  ...inPool,
  burned: 0.5,
  held: [
    { share: 0.5, until: at },
    { share: 0, until: null },
  ],
};
const PROFILE = {
  kind: "profile",
  ...ofToken,
  symbol: "S",
  name: "N",
  createdAt: 0,
  quote: true,
  marketData: { market_id: "m", image_url: null, name: null },
  socialData: { chat_url: null, microblog_url: null, website_url: "https://a.example" },
  market: { exchange: "b", pair: "A/B" },
  contractSource: "verified",
  forumPost: { position: 1, address: "0xab", url: "u", title: "t", upvotes: 0, posted: 0 },
};
const OBSERVED = { kind: "observed", at, group, since: 0 };
const CLOCK = { kind: "clock", at };
const KINDS = [TRADE, CANDLE, WINDOW, LISTING, LIQUIDITY, LOCKS, PROFILE, OBSERVED, CLOCK];

const OPTIONAL = new Set([
  ...["tradedAt", "trader", "trades", "buyVolume", "createdAt", "listedAt", "symbol", "name", "quote"],
  ...["marketData", "socialData", "market", "contractSource", "forumPost"],
]);
const NULLABLE = new Set(["marketData", "socialData", "forumPost"]);

test.each(KINDS)(
  "an event $kind is read as it is, needs each required field, and no field takes null or another type",
  (event) => {
    expect(MarketEvent.parse(event)).toEqual(event);
    const isRead = (part: object) => MarketEvent.safeParse({ ...event, ...part }).success;
    for (const field of Object.keys(event)) {
      expect(isRead({ [field]: undefined }), `without ${field}`).toBe(OPTIONAL.has(field));
      expect(isRead({ [field]: null }), `${field} null`).toBe(NULLABLE.has(field));
      expect(isRead({ [field]: Symbol.for("odd").description }), `${field} odd`).toBe(
        ["token", "pool", "trader", "symbol", "name"].includes(field),
      );
    }
  },
);

const TIMES = ["at", "tradedAt", "openAt", "createdAt", "listedAt", "since"];
const AMOUNTS = [
  "price",
  "amount",
  "quoteUsd",
  "open",
  "high",
  "low",
  "close",
  "volume",
  "buyVolume",
  "liquidity",
  "usd",
];
const NAMES = ["token", "pool", "trader"];
const shared = (names: readonly string[]) =>
  KINDS.flatMap((event) =>
    names.filter((name) => name in event).map((name) => [event.kind, name, event] as const),
  );

test.each(shared(TIMES))(
  "a %s has its %s between 1970 and the end of the year 9999, in whole milliseconds",
  (_, name, event) => {
    const read = (time: number) => MarketEvent.safeParse({ ...event, [name]: time }).success;
    expect([0, LATEST_AT_MS].map(read)).toEqual([true, true]);
    expect([-1, LATEST_AT_MS + 1, 0.5].map(read)).toEqual([false, false, false]);
    expect(new Date(LATEST_AT_MS).toISOString()).toBe("9999-12-31T23:59:59.999Z");
  },
);

test.each(shared(AMOUNTS))(
  "a %s has its %s as a plain decimal of at most 100 characters",
  (_, name, event) => {
    const read = (text: string) => MarketEvent.safeParse({ ...event, [name]: text }).success;
    expect(["0", "1.50", "9".repeat(100)].map(read)).toEqual([true, true, true]);
    expect(["", "-1", "1.", ".5", "1e5", "NaN", "9".repeat(101)].map(read)).toEqual(Array(7).fill(false));
  },
);

test.each(shared(NAMES))(
  "a %s has its %s of 1 to 128 characters, in well-formed Unicode",
  (_, name, event) => {
    const read = (text: string) => MarketEvent.safeParse({ ...event, [name]: text }).success;
    expect(["x", "x".repeat(128), "\u{1f525}"].map(read)).toEqual([true, true, true]);
    expect(["", "x".repeat(129), "\ud800X"].map(read)).toEqual([false, false, false]);
  },
);

const post = (part: object) => ({ ...PROFILE, forumPost: { ...PROFILE.forumPost, ...part } });
const social = (part: object) => ({ ...PROFILE, socialData: { ...PROFILE.socialData, ...part } });
const market = (part: object) => ({ ...PROFILE, marketData: { ...PROFILE.marketData, ...part } });
const pair = (part: object) => ({ ...PROFILE, market: { ...PROFILE.market, ...part } });
const span = (part: object) => ({ ...WINDOW, counts: { ...WINDOW.counts, h1: { ...counts, ...part } } });
const held = (share: number, count = 1) => ({ ...LOCKS, held: Array(count).fill({ share, until: null }) });
const text = (length: number) => "x".repeat(length);

/** The last value that is read, and the first that is not. */
const BOUNDS: readonly (readonly [what: string, good: object, bad: object])[] = [
  ["burned share", { ...LOCKS, burned: 1 }, { ...LOCKS, burned: 1.01 }],
  ["burned share below 0", { ...LOCKS, burned: 0 }, { ...LOCKS, burned: -0.01 }],
  ["held share", held(1), held(1.01)],
  ["number of locks", held(0, 1_000), held(0, 1_001)],
  ["trades of a candle", { ...CANDLE, trades: 0 }, { ...CANDLE, trades: -1 }],
  ["whole trades of a candle", { ...CANDLE, trades: 2 }, { ...CANDLE, trades: 1.5 }],
  ["count of a report", span({ buyers: 1_000_000_000 }), span({ buyers: 1_000_000_001 })],
  ["count below 0", span({ sells: 0 }), span({ sells: -1 })],
  ["symbol", { ...PROFILE, symbol: text(256) }, { ...PROFILE, symbol: text(257) }],
  ["name", { ...PROFILE, name: text(1_024) }, { ...PROFILE, name: text(1_025) }],
  ["market id", market({ market_id: text(256) }), market({ market_id: text(257) })],
  ["name of the market", market({ name: text(1_024) }), market({ name: text(1_025) })],
  ["image", market({ image_url: text(2_048) }), market({ image_url: text(2_049) })],
  ["chat", social({ chat_url: text(2_048) }), social({ chat_url: text(2_049) })],
  ["microblog", social({ microblog_url: text(2_048) }), social({ microblog_url: text(2_049) })],
  ["website", social({ website_url: null }), social({ website_url: text(2_049) })],
  ["exchange", pair({ exchange: text(64) }), pair({ exchange: text(65) })],
  ["empty exchange", pair({ exchange: "x" }), pair({ exchange: "" })],
  ["pair", pair({ pair: text(256) }), pair({ pair: text(257) })],
  ["short pair", pair({ pair: text(3) }), pair({ pair: text(2) })],
  ["address of a post", post({ address: `0x${"a".repeat(128)}` }), post({ address: `0x${"a".repeat(129)}` })],
  ["hexadecimal address of a post", post({ address: "0xF" }), post({ address: "0xG" })],
  ["link of a post", post({ url: text(2_048) }), post({ url: text(2_049) })],
  ["title of a post", post({ title: text(1_024) }), post({ title: text(1_025) })],
  ["position of a post", post({ position: 1 }), post({ position: 1.5 })],
  ["upvotes of a post", post({ upvotes: -2 }), post({ upvotes: 1.5 })],
  ["time of a post", post({ posted: LATEST_AT_MS }), post({ posted: -1 })],
  ["source", { ...PROFILE, contractSource: "unverified" }, { ...PROFILE, contractSource: "unknown" }],
  ["side", { ...TRADE, side: "sell" }, { ...TRADE, side: "hold" }],
  ["cause", { ...LIQUIDITY, cause: "remove" }, { ...LIQUIDITY, cause: "theft" }],
  ["added liquidity", { ...LIQUIDITY, cause: "add" }, { ...LIQUIDITY, cause: "" }],
  ["group", { ...TRADE, group: "exchange" }, { ...TRADE, group: "moon" }],
  ["kind", CLOCK, { ...CLOCK, kind: "rumour" }],
];

test.each(BOUNDS)("%s: the last good value is read, the first bad one is not", (_, good, bad) => {
  expect(MarketEvent.parse(good)).toEqual(good);
  expect(MarketEvent.safeParse(bad).success).toBe(false);
});

test("unknown fields are dropped, not refused: recordings of later versions stay readable", () => {
  expect(MarketEvent.parse({ ...CLOCK, later: 1 })).toEqual(CLOCK);
});

test("the facts and the origin of a feed are complete", () => {
  const facts = { trades: true, liquidity: false, listings: true, profiles: false };
  expect(FeedFacts.parse(facts)).toEqual(facts);
  for (const name of Object.keys(facts))
    expect(FeedFacts.safeParse({ ...facts, [name]: undefined }).success).toBe(false);
  expect(["live", "recorded", "simulated", "false"].map((word) => Origin.safeParse(word).success)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
