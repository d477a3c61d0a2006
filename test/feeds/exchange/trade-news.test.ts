import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Trade } from "../../../src/base/market/index.ts";
import { createBinance } from "../../../src/feeds/exchange/binance.ts";
import { createGate } from "../../../src/feeds/exchange/gate.ts";
import { createKucoin } from "../../../src/feeds/exchange/kucoin.ts";
import type { TradeGap, Venue, VenueName } from "../../../src/feeds/exchange/venue.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { type MadeTrade, messageOf, TradeTape } from "./stand-in-trades.ts";

const VENUES: Readonly<Record<VenueName, Venue>> = {
  binance: createBinance({ url: "https://b.example", streamUrl: "wss://b.example" }),
  kucoin: createKucoin({ url: "https://k.example", connectId: () => "me" }),
  gate: createGate({ url: "https://g.example", streamUrl: "wss://g.example", now: () => 0 }),
};
const NAMES = ["binance", "kucoin", "gate"] as const;
const T = 1_700_000_040_123;
const UNUSABLE = [{ kind: "unusable", what: "trades", reason: expect.any(String) }];
/** Names of a trade's fields in the messages. */
const FIELDS = {
  binance: { id: "a", pair: "s", at: "T", side: "m", price: "p", amount: "q" },
  kucoin: { id: "sequence", pair: "symbol", at: "time", side: "side", price: "price", amount: "size" },
  gate: {
    ...{ id: "id", pair: "currency_pair", at: "create_time_ms" },
    ...{ side: "side", price: "price", amount: "amount" },
  },
} as const;

/** Returns the message of a trade with some of its fields replaced, or removed if `undefined`. */
function spoiled(trade: MadeTrade, fields: Readonly<Record<string, unknown>>): unknown {
  const message = JSON.parse(JSON.stringify(messageOf(trade)));
  const inner = trade.venue === "gate" ? "result" : "data";
  return JSON.parse(JSON.stringify({ ...message, [inner]: { ...message[inner], ...fields } }));
}

describe.each(NAMES)("a trade of %s", (name) => {
  const venue = VENUES[name];
  const names = FIELDS[name];
  const tape = new TradeTape(name);
  const made = [1, 2, 3].map(() => tape.make("A", T));

  test("is read from the stream with the taker's side, exact price and amount, and its value", () => {
    const trade = { at: T, price: "1.00300000", amount: "13", value: "13.039", side: "sell" };
    const serial = name === "binance" ? 5_000_003 : name === "gate" ? 3 : undefined;
    const [, , third] = made;
    if (!third) throw new Error("no trade");
    const [news] = venue.stream.read(messageOf(third));
    expect(news).toEqual({
      ...{ kind: "trade", pair: "A", trade: { ...trade, id: third.id, serial } },
      sentAt: name === "kucoin" ? T : T + 1,
    });
    expect(venue.stream.read(messageOf(made[0] ?? third))).toMatchObject([{ trade: { side: "buy" } }]);
  });

  test("has the same id, time, side, price and amount in the answer to a request", () => {
    const gap: TradeGap = {
      ...{ afterId: (made[0]?.id ?? 0n) - 1n, beforeId: (made[2]?.id ?? 0n) + 1n },
      ...{ sinceMs: T - 1, untilMs: T + 1, openedAt: 0, missing: 3 },
    };
    const answer = tape.body(new URL(venue.trades.request("A", gap, 0).url));
    const read = venue.trades.read(JSON.parse(JSON.stringify(answer)));
    const streamed = made.flatMap((trade) =>
      venue.stream.read(messageOf(trade)).flatMap((news) => (news.kind === "trade" ? [news.trade] : [])),
    );
    const facts = (trades: typeof read) =>
      trades
        .map(({ id, at, side, price, amount, value }) => ({ id, at, side, price, amount, value }))
        .toSorted((one, two) => (one.id < two.id ? -1 : 1));
    expect(facts(read)).toEqual(facts(streamed));
    expect(() => venue.trades.read({ code: "200000", data: {} })).toThrow("returned no list of trades");
  });

  test.each([
    ["without a field", undefined],
    ["with null", null],
    ["with an object", {}],
    ["with an empty string", ""],
    ["with a negative number", "-1"],
    ["with an empty list", []],
    ["with Infinity", "Infinity"],
    ["with a number too large for a double", "1e400"],
    ["with text", "one"],
  ])("%s in any place is unusable", (_what, value) => {
    const [trade] = made;
    if (!trade) throw new Error("no trade");
    for (const field of ["id", "at", "side", "price", "amount"] as const)
      expect([field, venue.stream.read(spoiled(trade, { [names[field]]: value }))]).toEqual([
        field,
        UNUSABLE,
      ]);
    if (typeof value !== "string")
      expect(venue.stream.read(spoiled(trade, { [names.pair]: value }))).toEqual(UNUSABLE);
  });

  test.each([
    ["a price of 0", "price", "0"],
    ["an amount of 0", "amount", "0.000"],
    ["a price as a number", "price", 1.5],
    ["an amount as a number", "amount", 1.5],
    ["a price beyond the engine's bound", "price", "1000000000000000001e6"],
    ["an amount beyond the engine's bound", "amount", "1e28"],
    ["a value beyond the engine's bound", "amount", "1e19"],
    ["a very long price", "price", `1.${"0".repeat(200)}1`],
    ["a fractional id", "id", 1.5],
    ["an id beyond a safe number", "id", 2 ** 53],
    ["an endless id", "id", "9".repeat(40)],
  ] as const)("with %s is unusable", (_what, field, value) => {
    const [trade] = made;
    if (!trade) throw new Error("no trade");
    expect(venue.stream.read(spoiled(trade, { [names[field]]: value }))).toEqual(UNUSABLE);
  });

  test("never throws, whatever its fields are, and makes a valid event or none", () => {
    const [trade] = made;
    if (!trade) throw new Error("no trade");
    const field = fc.constantFrom(...Object.values(names));
    const value = fc.oneof(fc.jsonValue(), fc.double().map(String), fc.bigInt().map(String));
    fc.assert(
      fc.property(fc.dictionary(field, value, { minKeys: 1, maxKeys: 3 }), (fields) => {
        for (const news of venue.stream.read(spoiled(trade, fields))) {
          if (news.kind === "unusable") continue;
          if (news.kind !== "trade") throw new Error(`a trade was read as ${news.kind}`);
          const { at, side, price, amount, value: quoteUsd } = news.trade;
          const common = { kind: "trade", group: "exchange", pool: "A/USDT", token: "A" };
          expect(Trade.safeParse({ ...common, at, side, price, amount, quoteUsd }).success).toBe(true);
        }
      }),
      lawRuns(200),
    );
  });

  test.each([null, 1, [], "x"])("that is %j instead of an object is unusable", (inner) => {
    const [trade] = made;
    if (!trade) throw new Error("no trade");
    const message = JSON.parse(JSON.stringify(messageOf(trade)));
    const read = (value: unknown) =>
      venue.stream.read({ ...message, [name === "gate" ? "result" : "data"]: value });
    // Without an object, a message of Binance does not say that it is a trade.
    expect(read(inner)).toMatchObject(
      name === "binance" ? (Array.isArray(inner) ? [] : [{ kind: "unusable" }]) : UNUSABLE,
    );
  });
});

test("amounts are normalized like those of candles, and a value is a plain decimal of at most 15 digits", () => {
  const tape = new TradeTape("gate");
  const trade = tape.make("A", T);
  const read = (price: string, amount: string) => VENUES.gate.stream.read(spoiled(trade, { price, amount }));
  expect(read("1e-8", "2E3")).toMatchObject([
    { trade: { price: "0.00000001", amount: "2000", value: "0.00002" } },
  ]);
  expect(read("0.1", "3")).toMatchObject([{ trade: { value: "0.3" } }]);
  expect(read("0.00000001", "0.5")).toMatchObject([{ trade: { value: "0.000000005" } }]);
});

test("missed trades are requested by id from Binance, by seconds from Gate, and from KuCoin as its last ones", () => {
  const gap: TradeGap = {
    ...{ afterId: 1_000n, beforeId: 2_501n, missing: 1_500 },
    ...{ sinceMs: T, untilMs: T + 1_000, openedAt: 0 },
  };
  const urls = (name: VenueName) => [0, 1].map((page) => VENUES[name].trades.request("A", gap, page).url);
  expect(urls("binance")).toEqual([
    "https://b.example/api/v3/aggTrades?symbol=A&fromId=1001&limit=1000",
    "https://b.example/api/v3/aggTrades?symbol=A&fromId=2001&limit=500",
  ]);
  expect(urls("gate")).toEqual(
    [1, 2].map(
      (page) =>
        `https://g.example/api/v4/spot/trades?currency_pair=A&from=1700000040&to=1700000042&limit=1000&page=${page}`,
    ),
  );
  expect(urls("kucoin")[0]).toBe("https://k.example/api/v1/market/histories?symbol=A");
});

test("a trade without the time of its message, from which the exchange's clock is estimated, is unusable", () => {
  for (const name of ["binance", "gate"] as const) {
    const message = JSON.parse(JSON.stringify(messageOf(new TradeTape(name).make("A", T))));
    for (const time of [null, "x", [], Number.POSITIVE_INFINITY]) {
      const read =
        name === "gate"
          ? VENUES.gate.stream.read({ ...message, time, time_ms: undefined })
          : VENUES.binance.stream.read({ ...message, data: { ...message.data, E: time } });
      expect(read).toEqual(UNUSABLE);
    }
  }
});

test("KuCoin's nanoseconds, which a double does not hold, become the right millisecond", () => {
  const trade = new TradeTape("kucoin").make("A", T);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999 }), fc.nat({ max: 998_000 }), (ms, ns) => {
      const at = 1_780_000_000_000 + ms;
      const time = `${at}${String(ns).padStart(6, "0")}`;
      expect(VENUES.kucoin.stream.read(spoiled(trade, { time }))).toMatchObject([{ trade: { at } }]);
    }),
    lawRuns(200),
  );
});
