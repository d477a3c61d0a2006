import { expect, test } from "vitest";
import {
  advanceRing,
  closeAt,
  createRing,
  knownSteps,
  recordInRing,
  tradesWithin,
} from "../../../src/engine/state/bucket-ring.ts";

test("a silent step has the last price and no trades", () => {
  const ring = createRing(8);
  recordInRing(ring, 10, 5, 1, 2);
  recordInRing(ring, 13, 7, 1, 0);
  expect([9, 10, 11, 12, 13, 14].map((step) => closeAt(ring, step))).toEqual([5, 5, 5, 5, 7, 7]);
  expect([
    tradesWithin(ring, 10, 13).buys,
    tradesWithin(ring, 11, 13).buys,
    tradesWithin(ring, 10, 10).sells,
  ]).toEqual([2, 1, 2]);
  expect(knownSteps(ring, 13, 60)).toBe(4);
});

test("steps older than the ring's capacity are dropped, even after a gap longer than that", () => {
  const ring = createRing(4);
  recordInRing(ring, 1, 5, 9, 9);
  advanceRing(ring, 100);
  expect(tradesWithin(ring, 0, 100).buys).toBe(0);
  expect(closeAt(ring, 50)).toBe(5);
  recordInRing(ring, 2, 8, 1, 1);
  expect(tradesWithin(ring, 0, 100).buys).toBe(0);
  expect(closeAt(ring, 100)).toBe(5);
  expect(knownSteps(ring, 100, 60)).toBe(4);
});

test("a late trade counts in its own step and does not change the close", () => {
  const ring = createRing(8);
  recordInRing(ring, 10, 5, 1, 0);
  recordInRing(ring, 11, 6, 1, 0);
  recordInRing(ring, 10, 9, 1, 0);
  expect([closeAt(ring, 10), closeAt(ring, 11), tradesWithin(ring, 10, 10).buys]).toEqual([5, 6, 2]);
});

test("an empty ring returns zeros", () => {
  const ring = createRing(4);
  advanceRing(ring, 7);
  expect([closeAt(ring, 7), tradesWithin(ring, 0, 9).buys, knownSteps(ring, 7, 60)]).toEqual([0, 0, 0]);
});
