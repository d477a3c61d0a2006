import { expect, test } from "vitest";
import { KeyCounts } from "../../../src/gateway/http/key-counts.ts";

test("the first hundred keys are counted by id and all others together, which limits the number of series", () => {
  const counts = new KeyCounts();
  for (let round = 0; round < 2; round += 1)
    for (let key = 0; key < 1_000; key += 1) counts.admit(`key${key}`);
  counts.limit("key99");
  counts.limit("key100");
  expect(Object.keys(counts.admitted)).toHaveLength(101);
  expect(counts.admitted).toMatchObject({ key0: 2, key99: 2, other: 1_800 });
  expect(counts.limited).toEqual({ key99: 1, other: 1 });
});

test("an id that is a property of every object is counted like any other", () => {
  const counts = new KeyCounts();
  counts.admit("constructor");
  counts.admit("__proto__");
  expect(Object.entries(counts.admitted)).toEqual([
    ["constructor", 1],
    ["__proto__", 1],
  ]);
});
