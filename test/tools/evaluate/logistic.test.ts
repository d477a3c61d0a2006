import { expect, test } from "vitest";
import { fitLogistic, type Row } from "./logistic.ts";

/** Returns 100 rows for each combination of values. `positivesAt` says how many are positive. */
function rowsOf(positivesAt: (a: number, b: number) => number): readonly Row[] {
  const combinations = [0, 1, 2].flatMap((a) => [0, 1, 2].map((b) => ({ a, b })));
  return combinations.flatMap(({ a, b }) =>
    Array.from({ length: 100 }, (_, n) => ({ values: [a, b], isPositive: n < positivesAt(a, b) })),
  );
}

test("the fit recovers the slopes and the intercept by which the rows were drawn", () => {
  const odds = (a: number, b: number) => -2 + 1.5 * a + 0.5 * b;
  const model = fitLogistic(rowsOf((a, b) => 100 / (1 + Math.exp(-odds(a, b)))));
  expect(Math.abs((model.slopes[0] ?? 0) - 1.5)).toBeLessThan(0.1);
  expect(Math.abs((model.slopes[1] ?? 0) - 0.5)).toBeLessThan(0.1);
  expect(Math.abs(model.intercept + 2)).toBeLessThan(0.1);
});

test("rows that a value separates get a finite slope of the right sign", () => {
  const [first = Number.NaN, second = Number.NaN] = fitLogistic(rowsOf((a) => (a > 1 ? 100 : 0))).slopes;
  expect(first).toBeGreaterThan(1);
  expect(first).toBeLessThan(20);
  expect(Math.abs(second)).toBeLessThan(0.5);
});
