import { expect, test } from "vitest";
import { LATEST_AT_MS } from "../../../src/base/market/index.ts";
import { numberOf, readTrades, recordOf, tradeNews } from "../../../src/feeds/exchange/trade-fields.ts";

const GOOD = { id: 1, serial: "7", at: 5.9, side: "buy", price: "2", amount: "3" };
const read = (part: object) => readTrades([{ ...GOOD, ...part }], (item) => item as typeof GOOD)[0];

test("a trade is read with its value, its whole milliseconds, and its serial number if that is one", () => {
  expect(read({})).toEqual({ id: 1n, serial: 7, at: 5, side: "buy", price: "2", amount: "3", value: "6" });
  for (const serial of [undefined, "x", 2 ** 53, "1.5"]) expect(read({ serial })?.serial).toBeUndefined();
});

/** The last good and the first bad value of each field. */
const BOUNDS: readonly (readonly [good: object, bad: object])[] = [
  [{ id: "0" }, { id: -1 }],
  [{ id: 2 ** 53 - 1 }, { id: 2 ** 53 }],
  [{ id: "9".repeat(20) }, { id: "9".repeat(21) }],
  [{ id: 3 }, { id: 3.5 }],
  [{ at: 0 }, { at: -1 }],
  [{ at: LATEST_AT_MS }, { at: LATEST_AT_MS + 1 }],
  [{ at: 1 }, { at: Number.NaN }],
  [{ side: "sell" }, { side: "SELL" }],
  [
    { price: "1000000000000000000", amount: "1" },
    { price: "1000000000000000001000", amount: "0.0001" },
  ],
  [{ price: "0.000000001" }, { price: "0" }],
  [{ price: "1" }, { price: 1 }],
  [
    { amount: "1000000000000000000000000000", price: "0.0000000001" },
    { amount: "1000000000000000000000000001000000", price: "0.0000000000000001" },
  ],
  [{ amount: "0.1" }, { amount: "0" }],
  [{ amount: "1" }, { amount: 1 }],
  [
    { price: "1000000000", amount: "1000000000" },
    { price: "1000000000", amount: "1000000001" },
  ],
];

test.each(BOUNDS)("a trade with %j is read, with %j not", (good, bad) => {
  expect(read(good)).toBeDefined();
  expect(read(bad)).toBeUndefined();
});

test("unusable news say what is wrong, first of the pair, then of the fields, then of the time", () => {
  const reasonOf = (pair: unknown, fields: object, sentAt: unknown = 9) =>
    tradeNews(pair, { ...GOOD, ...fields }, sentAt);
  expect(reasonOf("A", {})).toMatchObject([{ kind: "trade", pair: "A", sentAt: 9 }]);
  const wrong = [
    reasonOf(7, {}),
    reasonOf("A", { id: null }),
    reasonOf("A", { at: Number.NaN }),
    reasonOf("A", { side: "x" }),
    reasonOf("A", { price: 1 }),
    reasonOf("A", { amount: null }),
    reasonOf("A", { price: "0" }),
    reasonOf("A", {}, "now"),
    reasonOf("A", {}, Number.NaN),
  ];
  expect(wrong.map(([one]) => (one?.kind === "unusable" ? one.reason.split(" ")[0] : one?.kind))).toEqual([
    "pair",
    "id",
    "time",
    "side",
    "price",
    "amount",
    "a",
    "time",
    "time",
  ]);
});

test("numbers are read from numbers and from digits alone, and fields from objects alone", () => {
  expect([1.5, "1.5", "9".repeat(20)].map(numberOf)).toEqual([1.5, 1.5, 1e20]);
  for (const value of ["", "-1", "1e5", ".5", "9".repeat(21), null, true]) expect(numberOf(value)).toBeNaN();
  expect([recordOf({ a: 1 }), recordOf([1]), recordOf(null)]).toEqual([{ a: 1 }, {}, {}]);
  expect(() => readTrades({}, () => GOOD)).toThrow("returned no list of trades");
});
