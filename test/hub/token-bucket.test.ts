import { expect, test } from "vitest";
import { TokenBucket } from "../../src/hub/token-bucket.ts";

test("what was had elsewhere comes off, and what there is not comes off what is gained later, all of it", () => {
  const bucket = new TokenBucket(1, 10, 0);
  bucket.owe(4, 0);
  expect([bucket.left, bucket.take(0)]).toEqual([6, true]);
  bucket.owe(8, 0);
  expect([bucket.left, bucket.take(0), bucket.take(3_999)]).toEqual([0, false, false]);
  expect(bucket.take(4_000)).toBe(true);
  bucket.owe(1_000, 4_000);
  expect([bucket.waitMs(1), bucket.spent(4_000)]).toEqual([1_001_000, 1_010]);
  expect([bucket.take(1_004_999), bucket.take(1_005_000)]).toEqual([false, true]);
});
