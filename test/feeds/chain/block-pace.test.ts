import { expect, test } from "vitest";
import { BlockPace } from "../../../src/feeds/chain/block-pace.ts";

/** A pace after blocks at these times in ms. The last one has number `length`. */
function paceOf(...times: readonly number[]): BlockPace {
  const pace = new BlockPace();
  for (const [index, atMs] of times.entries()) pace.follow({ number: index + 1, atMs });
  return pace;
}

const every = (ms: number, count: number, fromMs = 0) =>
  Array.from({ length: count }, (_, index) => fromMs + index * ms);

test("later blocks are estimated from the pace of those before; earlier ones and a single block give 0", () => {
  const pace = paceOf(...every(450, 100));
  expect([pace.msTo(200), pace.msTo(100), pace.msTo(1)]).toEqual([45_000, 0, 0]);
  expect(paceOf(1_000).msTo(50)).toBe(0);
  expect(new BlockPace().msTo(50)).toBe(0);
});

test("right after a halt of five hours, the latest blocks do not look far away", () => {
  const halted = every(2_000, 1, 5 * 3_600_000);
  const pace = paceOf(...every(2_000, 50), ...halted);
  expect(pace.msTo(54)).toBeGreaterThan(6_000);
  expect(pace.msTo(54)).toBeLessThan(12_000);
});

test("a chain that becomes slower for good is measured by its new pace within 150 blocks", () => {
  const slower = every(20_000, 150, 50_000);
  expect(paceOf(...every(1_000, 50), ...slower).msTo(201)).toBeGreaterThan(19_000);
});
