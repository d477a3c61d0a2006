import { expect, test } from "vitest";
import { withFirst, withLast } from "../../../src/clients/dashboard/state/feed/news.ts";

/** Returns the list after adding these items one by one. */
function addAll(add: typeof withFirst<number>, max: number, items: readonly number[]): readonly number[] {
  return items.reduce<readonly number[]>((list, item) => add(list, item, max), []);
}

test("a list that grows at its start has the newest item first and respects its limit", () => {
  expect(addAll(withFirst, 3, [1, 2])).toEqual([2, 1]);
  expect(addAll(withFirst, 3, [1, 2, 3])).toEqual([3, 2, 1]);
  expect(addAll(withFirst, 3, [1, 2, 3, 4, 5])).toEqual([5, 4, 3]);
  expect(addAll(withFirst, 1, [1, 2])).toEqual([2]);
});

test("a list that grows at its end has the newest item last and respects its limit", () => {
  expect(addAll(withLast, 3, [1, 2])).toEqual([1, 2]);
  expect(addAll(withLast, 3, [1, 2, 3])).toEqual([1, 2, 3]);
  expect(addAll(withLast, 3, [1, 2, 3, 4, 5])).toEqual([3, 4, 5]);
  expect(addAll(withLast, 1, [1, 2])).toEqual([2]);
});
