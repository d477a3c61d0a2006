import { expect, test } from "vitest";
import { StickyThreshold } from "../../../src/feeds/service/sticky-threshold.ts";

test("a value stays above its limit until it has fallen to two thirds of it", () => {
  const threshold = new StickyThreshold();
  const seen = [15, 16, 14, 11, 10, 14, 15].map((value) => threshold.isAbove(value, 15));
  expect(seen).toEqual([false, true, true, true, false, false, false]);
});
