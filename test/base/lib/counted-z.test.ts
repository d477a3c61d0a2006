import { expect, test } from "vitest";
import { countedZ } from "../../../src/base/lib/counted-z.ts";

test("a term counts nothing below 0, in full up to 5, and ever more slowly above", () => {
  expect([-3, 0, 2.5, 5].map(countedZ)).toEqual([0, 0, 2.5, 5]);
  expect(countedZ(5.001) - 5).toBeCloseTo(0.001, 5);
  expect(countedZ(10)).toBeCloseTo(7.506, 3);
  expect(countedZ(100)).toBeGreaterThan(countedZ(50));
});
