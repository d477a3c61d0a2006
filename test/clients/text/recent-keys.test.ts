import { expect, test } from "vitest";
import { RecentKeys } from "../../../src/clients/text/recent-keys.ts";

test("a key repeats until newer ones have displaced it", () => {
  const keys = new RecentKeys<string>(2);
  expect(["a", "a", "b", "a", "c", "b", "a"].map((key) => keys.isRepeat(key))).toEqual([
    ...[false, true, false, true, false, true, false],
  ]);
});
