import fc from "fast-check";
import { expect, test } from "vitest";
import { reuseIfEqual, reuseListIfSame } from "../../../src/base/lib/reuse.ts";
import {
  decay,
  medianInPlace,
  poissonSurprise,
  roundTo,
  wilsonLowerBound,
} from "../../../src/base/lib/statistics.ts";
import { formatDecimal } from "../../../src/base/lib/text/figures.ts";

test("a computed number becomes a plain decimal of ten significant digits", () => {
  expect(formatDecimal(0)).toBe("0");
  expect(formatDecimal(1 / 3)).toBe("0.3333333333");
  expect(formatDecimal(1e-9)).toBe("0.000000001");
  expect(formatDecimal(1234.5)).toBe("1234.5");
  expect(formatDecimal(123_456_789_012)).toBe("123456789000");
  expect(formatDecimal(9.99999999999)).toBe("10");
  expect(formatDecimal(-2.5e-3)).toBe("-0.0025");
});

test("a number that cannot be printed as a decimal becomes 0", () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1e300, 1e-300])
    expect(formatDecimal(value)).toBe("0");
});

test("an exponential decay halves after τ·ln 2 and never runs backwards", () => {
  expect(decay(300 * Math.LN2, 300)).toBeCloseTo(0.5, 12);
  expect(decay(0, 300)).toBe(1);
  expect(decay(-5, 300)).toBe(1);
});

test("the surprise of a count at its expectation is 0, and overdispersion shrinks a surprise", () => {
  expect(poissonSurprise(7, 7, 1)).toBe(0);
  expect(poissonSurprise(30, 5, 1)).toBeCloseTo(6.386, 3);
  expect(poissonSurprise(30, 5, 4)).toBeCloseTo(6.386 / 2, 3);
  expect(poissonSurprise(30, 5, 0.2)).toBe(poissonSurprise(30, 5, 1));
});

test("Wilson's lower bound equals published values, and is 0 without observations", () => {
  expect(wilsonLowerBound(0, 0)).toBe(0);
  expect(wilsonLowerBound(81, 263, 1.959964)).toBeCloseTo(0.2553, 4);
  expect(wilsonLowerBound(10, 10)).toBeGreaterThan(wilsonLowerBound(3, 3));
});

test("the median of an even number of values is the mean of the middle two", () => {
  expect(medianInPlace([4, 1, 3, 2])).toBe(2.5);
  expect(medianInPlace([9, 1, 5])).toBe(5);
  expect(medianInPlace([])).toBe(0);
});

test("the median equals the median of the sorted numbers, also with repeated numbers", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -4, max: 4, noNaN: true }).map(Math.fround)), (numbers) => {
      const repeated = numbers.map((number) => (number > 0 ? Math.floor(number) : number) + 0);
      const sorted = repeated.toSorted((a, b) => a - b);
      const upper = sorted[sorted.length >> 1] ?? 0;
      const lower = sorted[(sorted.length - 1) >> 1] ?? 0;
      expect(medianInPlace(repeated)).toBe(sorted.length % 2 === 1 ? upper : (lower + upper) / 2);
    }),
  );
});

test("a rounded number is never minus zero", () => {
  expect(Object.is(roundTo(-0.00001, 4), 0)).toBe(true);
  expect(roundTo(1.23456, 4)).toBe(1.2346);
});

test("an equal value is replaced by the previous object, a different one is not", () => {
  const before = { a: [1, { b: null }], c: "x" };
  expect(reuseIfEqual(before, { a: [1, { b: null }], c: "x" })).toBe(before);
  const after = { a: [1, { b: 0 }], c: "x" };
  expect(reuseIfEqual<unknown>(before, after)).toBe(after);
  const record = { 0: 1 };
  expect(reuseIfEqual<unknown>([1], record)).toBe(record);
  const list = [before];
  expect(reuseListIfSame(list, [before])).toBe(list);
  expect(reuseListIfSame(list, [{ ...before }])).not.toBe(list);
});
