import { expect, test } from "vitest";
import { TokenBucket } from "../../src/hub/token-bucket.ts";

test("what was had elsewhere comes off, and what there is not comes off what is gained later, a burst at most", () => {
  const bucket = new TokenBucket(1, 10, 0);
  bucket.owe(4, 0);
  expect([bucket.left, bucket.take(0)]).toEqual([6, true]);
  bucket.owe(8, 0);
  expect([bucket.left, bucket.take(0), bucket.take(3_999)]).toEqual([0, false, false]);
  expect(bucket.take(4_000)).toBe(true);
  bucket.owe(1_000, 4_000);
  expect(bucket.waitMs(1)).toBe(11_000);
  expect([bucket.take(14_999), bucket.take(15_000)]).toEqual([false, true]);
});
