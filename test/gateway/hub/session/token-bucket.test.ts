import { expect, test } from "vitest";
import { TokenBucket } from "../../../../src/gateway/hub/session/token-bucket.ts";

test("tokens used elsewhere are deducted, and a deficit must be refilled in full before the next token", () => {
  const bucket = new TokenBucket(1, 10, 0);
  bucket.charge(4, 0);
  expect([bucket.left, bucket.take(0)]).toEqual([6, true]);
  bucket.charge(8, 0);
  expect([bucket.left, bucket.take(0), bucket.take(3_999)]).toEqual([0, false, false]);
  expect(bucket.take(4_000)).toBe(true);
  bucket.charge(1_000, 4_000);
  expect(bucket.waitMs(1)).toBe(1_001_000);
  expect([bucket.take(1_004_999), bucket.take(1_005_000)]).toEqual([false, true]);
});

test("[W20] [K6] after any pause, at most the burst is available, and a partial token is not enough", () => {
  const bucket = new TokenBucket(5, 20, 0);
  const taken = (nowMs: number) => {
    let count = 0;
    while (count < 100 && bucket.take(nowMs)) count += 1;
    return count;
  };
  expect([0, 0, 199, 200, 399, 400, 86_400_000, 86_400_200].map(taken)).toEqual([20, 0, 0, 1, 0, 1, 20, 1]);
  expect([bucket.left, bucket.waitMs(1), bucket.waitMs(20)]).toEqual([0, 200, 4_000]);
  const once = new TokenBucket(0, 1, 0);
  expect([once.take(0), once.take(1e15), once.waitMs(1)]).toEqual([true, false, Number.POSITIVE_INFINITY]);
});
