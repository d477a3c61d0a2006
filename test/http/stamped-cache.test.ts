import { expect, test } from "vitest";
import { StampedCache } from "../../src/http/history/stamped-cache.ts";

test("a read that fails late does not drop what was read since", async () => {
  const cache = new StampedCache<number>(4);
  const late = Promise.withResolvers<number>();
  const first = cache.get("a", "1", () => late.promise);
  let reads = 0;
  const read = async () => {
    reads += 1;
    return reads;
  };
  await cache.get("a", "2", read);
  late.reject(new Error("late"));
  await expect(first).rejects.toThrow("late");
  expect(await cache.get("a", "2", read)).toBe(1);
});
