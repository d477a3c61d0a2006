import { expect, test } from "vitest";
import { quickEnds, WORKER_WAIT, workerWaitMs } from "../../src/workers/primary/back-off.ts";

test("the wait doubles with each end soon after a beginning, up to its bound, and is none after a long life", () => {
  let ends = 0;
  const waits: number[] = [];
  for (let at = 0; at < 9; at += 1) {
    ends = quickEnds(ends, WORKER_WAIT.soundAfterMs - 1);
    waits.push(workerWaitMs(ends));
  }
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  ends = quickEnds(ends, WORKER_WAIT.soundAfterMs);
  expect(workerWaitMs(ends)).toBe(0);
});
