import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  Explanation,
  TERM_NAMES,
  TERM_UNITS,
  type Term,
  type TermName,
} from "../../../src/base/model/index.ts";
import { whyText } from "../../../src/base/model/text/why-text.ts";
import { WARNINGS } from "../../../src/engine/detect/canary.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { anyText } from "../../support/random/any-text.ts";

const USUAL = { buyers: 1, imbalance: 0, price: 0, volume: 1, flow: 0, rush: 0 } as const;
const term = (name: TermName, raw: number, usual: number | null = USUAL[name]): Term => {
  return { name, unit: TERM_UNITS[name], raw, usual, z: 1, weight: 0.25 };
};

/** Any JSON number. Those at which a phrase changes are more frequent. */
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, min: -2, max: 2 }),
  fc.constantFrom(0, 0.5, -0.5, 1, 2 / 3, 1.5, 9.95, 999.5, 1_000, 1e9, -1e9, 1e308, -1e308, 5e-324),
);
const terms = fc
  .subarray([...TERM_NAMES])
  .chain((names) => fc.tuple(...names.map((name) => arbitraryTerm(name))))
  .map((all) => all.flat());
const arbitraryTerm = (name: TermName): fc.Arbitrary<Term[]> =>
  fc.tuple(number, fc.option(number), fc.integer({ min: 1, max: 3 })).map(([raw, usual, times]) =>
    // Another server may repeat a term.
    Array.from({ length: times }, () => term(name, raw, usual)),
  );
const warnings = fc.oneof(
  fc.subarray([...WARNINGS]),
  fc.array(fc.oneof(fc.constantFrom(...WARNINGS), anyText())),
);
const liquidity = fc.oneof(
  fc.constantFrom("0", "0.01", "99.99", "100", "999.99", "1000", "19999.99", "20000"),
  fc.double({ noNaN: true, min: 0, max: 1e12 }).map(String),
);

test("any numbers and warnings give a valid text without NaN, null, exponents or stray separators", () => {
  fc.assert(
    fc.property(terms, warnings, number, number, liquidity, (all, warned, score, threshold, usd) => {
      const text = whyText({ terms: all, warnings: warned, score, threshold }, usd);
      expect(Explanation.shape.text.safeParse(text).error).toBeUndefined();
      expect(text).not.toMatch(/NaN|Infinity|undefined|null|e[+-]|^[ ,;]|[ ,;]$|, ,|; ;/);
    }),
    lawRuns(500),
  );
});

test("the longest text caps its figures and counts the warnings after the first", () => {
  const all = [term("buyers", 1e9), term("imbalance", 0.5), term("price", 9), term("volume", 1e9)];
  const numbers = { terms: all, warnings: [...WARNINGS], score: 6, threshold: 2 };
  expect(whyText(numbers, "5")).toBe(
    "1000+ times the usual buyers, buys outweigh sells at least 20:1, price 1000+ % above normal, 1000+ times the usual volume; under $100 liquidity is thin; warning: liquidity removed and 13 more",
  );
});

test("the longest text for candles is valid, and net buying is left out beside buyers", () => {
  const all = [term("imbalance", 0.5), term("price", 9), term("volume", 1e9), term("flow", 1e9)];
  const numbers = { terms: all, warnings: [...WARNINGS], score: 6, threshold: 2 };
  const text = whyText(numbers, "5");
  expect(Explanation.shape.text.safeParse(text).error).toBeUndefined();
  expect(text).toContain("1000+ times the usual volume, net buying of 1000+ usual minutes; ");
  const withBuyers = [...all, term("buyers", 9)];
  expect(whyText({ ...numbers, terms: withBuyers }, "5")).not.toContain("net buying");
});

describe("a term's phrase depends only on its published numbers", () => {
  test.each<[TermName, number, number | null, string]>([
    ["buyers", 49, 1, "49 times the usual buyers"],
    ["buyers", 9.94, 1, "9.9 times the usual buyers"],
    ["buyers", 9.95, 1, "10 times the usual buyers"],
    ["buyers", 3, 2, "1.5 times the usual buyers"],
    ["buyers", 2.9, 2, "about the usual buyers"],
    ["buyers", 1, 2, "50 % of the usual buyers"],
    ["buyers", 0.49, 0.1, "hardly any buyers"],
    ["buyers", 12.4, null, "12 buyers"],
    ["buyers", 1.2, null, "1 buyer"],
    ["buyers", 5_000, null, "1000+ buyers"],
    ["imbalance", 0.25, 0, "buys outweigh sells at least 3:1"],
    ["imbalance", 0.2499, 0, "buys outweigh sells at least 2.9:1"],
    ["imbalance", 0.5, 0, "buys outweigh sells at least 20:1"],
    ["imbalance", 0.02, 0, "no clear surplus of buys"],
    ["imbalance", -0.5, 0, "no clear surplus of buys"],
    ["price", Math.log(1.32), 0, "price 32 % above normal"],
    ["price", Math.log(1.0312), 0, "price 3.1 % above normal"],
    ["price", Math.log(1.004), 0, "price about normal"],
    ["price", Math.log(0.9), 0, "price 10 % below normal"],
    ["price", Math.log(12), 0, "price 1000+ % above normal"],
    ["volume", 12.4, 1, "12 times the usual volume"],
    ["volume", 0, 1, "0 % of the usual volume"],
    ["volume", 0, null, "no usual volume known"],
    ["flow", 12.4, 0, "net buying of 12 usual minutes"],
    ["flow", 0.5, 0, "net buying of 0.5 usual minutes"],
    ["flow", 0.49, 0, "no net buying"],
  ])("%s %d, usually %d: %s", (name, raw, usual, text) => {
    const numbers = { terms: [term(name, raw, usual)], warnings: [], score: 3, threshold: 2 };
    expect(whyText(numbers, "0")).toBe(text);
  });
});

test.each([
  ["0", [], "score 3, required 2.2"],
  ["20000", [], "score 3, required 2.2"],
  ["5999.5", [], "score 3, required 2.2; $6K liquidity is thin"],
  ["12849.9", [], "score 3, required 2.2; $12.8K liquidity is thin"],
  ["678", [], "score 3, required 2.2; $678 liquidity is thin"],
  ["987.6", [], "score 3, required 2.2; $988 liquidity is thin"],
  ["0", ["no-seller"], "score 3, required 2.2; warning: nobody sells"],
  ["0", ["new", "one-buyer"], "score 3, required 2.2; warning: one large buyer and 1 more"],
  ["0", ["<b>visit evil.example</b>"], "score 3, required 2.2; warnings: 1"],
])("liquidity of %s and the warnings %j give: %s", (usd, warned, text) => {
  expect(whyText({ terms: [], warnings: warned, score: 3, threshold: 2.2 }, usd)).toBe(text);
});

test("the text can name every warning of the canary", () => {
  for (const warning of WARNINGS)
    expect(whyText({ terms: [], warnings: [warning], score: 3, threshold: 2 }, "0")).toMatch(/; warning: \w/);
});
