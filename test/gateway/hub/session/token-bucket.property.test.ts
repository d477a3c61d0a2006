import fc from "fast-check";
import { expect, test } from "vitest";
import { TokenBucket } from "../../../../src/gateway/hub/session/token-bucket.ts";

const PER_MINUTE = 60;
const PER_MS = PER_MINUTE / 60_000;
/** Delay after which a bucket learns of the requests at another one. */
const LATE_MS = 50;

/** Makes up to `times` requests at one of the buckets, `afterMs` after the previous ones. */
const requests = fc.record({
  at: fc.nat(3),
  times: fc.integer({ min: 1, max: 90 }),
  afterMs: fc.oneof(fc.nat(LATE_MS), fc.nat(20_000), fc.constant(240_000)),
});

test("[K6] from buckets that learn late of each other, a key gets at most one burst each, and over time no more than its rate", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 4 }),
      fc.array(requests, { minLength: 1, maxLength: 60 }),
      (count, all) => {
        const buckets = Array.from({ length: count }, () => new TokenBucket(PER_MINUTE / 60, PER_MINUTE, 0));
        const reported: { readonly by: TokenBucket; readonly atMs: number }[] = [];
        let nowMs = 0;
        let granted = 0;
        for (const { at, times, afterMs } of all) {
          nowMs += afterMs;
          for (let next = reported[0]; next && next.atMs + LATE_MS <= nowMs; next = reported[0]) {
            for (const other of buckets) if (other !== next.by) other.charge(1, next.atMs + LATE_MS);
            reported.shift();
          }
          const bucket = buckets[at % count];
          for (let asked = 0; bucket && asked < times; asked += 1) {
            if (!bucket.take(nowMs)) break;
            granted += 1;
            reported.push({ by: bucket, atMs: nowMs });
          }
          const unreported = (count - 1) * (PER_MINUTE + LATE_MS * PER_MS);
          expect(granted).toBeLessThanOrEqual(PER_MINUTE + nowMs * PER_MS + unreported);
        }
      },
    ),
  );
});

test("[K6] a client that empties every bucket each minute gets its rate over ten hours, and no more", () => {
  const count = 4;
  const buckets = Array.from({ length: count }, () => new TokenBucket(PER_MINUTE / 60, PER_MINUTE, 0));
  const minutes = 600;
  let granted = 0;
  for (let minute = 0; minute < minutes; minute += 1) {
    const nowMs = minute * 60_000;
    const taken = buckets.map((bucket) => {
      let own = 0;
      while (bucket.take(nowMs)) own += 1;
      return own;
    });
    const all = taken.reduce((sum, own) => sum + own, 0);
    for (const [at, bucket] of buckets.entries()) bucket.charge(all - (taken[at] ?? 0), nowMs + LATE_MS);
    granted += all;
  }
  expect(granted).toBeLessThanOrEqual((minutes + count) * PER_MINUTE);
  expect(granted).toBeGreaterThanOrEqual((minutes - count) * PER_MINUTE);
});
