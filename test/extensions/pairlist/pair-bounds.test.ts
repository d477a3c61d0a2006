import { expect, test } from "vitest";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import {
  channelsOfQuery,
  checkPlan,
  listedPairs,
  readPairQuery,
  selectPairs,
} from "../../../src/extensions/pairlist/pair-query.ts";
import { flare } from "../../gateway/source/sample-snapshots.ts";

const LISTED = [
  { base: "A", quote: "USDT", exchange: "binance" },
  { base: "B", quote: "USDC", exchange: "kucoin" },
  { base: "C" },
  { base: "A", quote: "USDT", exchange: "kucoin" },
];

const SELECTED: readonly (readonly [query: object, pairs: readonly string[]])[] = [
  [{}, ["A/USDT", "B/USDC", "C/USDT"]],
  [{ exchange: "BINANCE" }, ["A/USDT", "C/USDT"]],
  [{ quote: "usdc" }, ["B/USDC", "C/USDC"]],
  [{ settle: "usdt" }, ["A/USDT:USDT", "B/USDC:USDT", "C/USDT:USDT"]],
  [{ exchange: "kucoin", quote: "USDT" }, ["C/USDT", "A/USDT"]],
  [{ exchange: "okx", quote: "EUR" }, ["C/EUR"]],
];

test.each(SELECTED)(
  "the query %j selects its pairs, each once; an unknown part matches every query",
  (query, pairs) => {
    expect(selectPairs(LISTED, readPairQuery(query))).toEqual(pairs);
  },
);

test("a name has 1 to 16 letters and digits, a list is one of four, and anything else is refused with its field", () => {
  const refused = (query: object) => {
    try {
      readPairQuery(query);
      return "read";
    } catch (error) {
      return error instanceof Error && "field" in error ? error.field : "another error";
    }
  };
  for (const field of ["exchange", "quote", "settle"])
    expect(
      ["x", "x".repeat(16), "", "x".repeat(17), "a-b"].map((name) => refused({ [field]: name })),
    ).toEqual(["read", "read", field, field, field]);
  expect(["pro", "free", "chart", "any", "best"].map((list) => refused({ list }))).toEqual([
    "read",
    "read",
    "read",
    "read",
    "list",
  ]);
  expect(readPairQuery({}).list).toBe("pro");
});

test("each list needs the channel with the same data, and a plan without it is refused with the lists that it has", () => {
  expect(
    [{}, { list: "free" }, { list: "chart" }, { list: "any" }, { list: "best" }].map(channelsOfQuery),
  ).toEqual([["flares.exchange.pro"], ["flares.exchange.free"], ["charts.exchange"], ["status"], []]);
  expect(() => checkPlan({ list: "pro" }, "free")).toThrow(
    /list is pro, which the "free" plan does not include; it must be one of free, chart, any/,
  );
  for (const list of ["free", "chart", "any"] as const) checkPlan({ list }, "free");
  for (const plan of ["pro", undefined] as const) checkPlan({ list: "pro" }, plan);
});

test("pairs are listed only while the data is live, with literal names, and in the order of their list", () => {
  const of = (symbol: string, pair: string | null, exchange: string | null) => {
    const { address: _, ...token } = flare(symbol).token;
    return { ...flare(symbol), token, group: "exchange" as const, pair, exchange };
  };
  const listed = [
    of("B", "B/USDC", "Binance"),
    of("A", null, null),
    of("C", "C.*/USDT", "x"),
    of("D", "D/U$", "x"),
    of("x".repeat(64), null, null),
    of("x".repeat(65), null, null),
  ];
  const snapshot = {
    ...EMPTY_SNAPSHOT,
    "flares.exchange": { free: listed.slice(1, 2), pro: listed, finished_trending: [] },
  };
  expect(listedPairs("pro", snapshot, { state: "live" })).toEqual([
    { base: "B", quote: "USDC", exchange: "binance" },
    { base: "A", quote: undefined, exchange: undefined },
    { base: "x".repeat(64), quote: undefined, exchange: undefined },
  ]);
  expect(listedPairs("free", snapshot, { state: "live" })).toHaveLength(1);
  expect(listedPairs("any", snapshot, { state: "live" })).toEqual([{ base: ".*" }]);
  for (const state of ["stale", "down"] as const) expect(listedPairs("pro", snapshot, { state })).toEqual([]);
});
