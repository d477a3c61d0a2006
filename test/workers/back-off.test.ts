import { expect, test } from "vitest";
import { quickEnds, WORKER_WAIT, workerWaitMs } from "../../src/workers/primary/back-off.ts";

test("the delay doubles with each consecutive quick end, up to its limit, and is 0 after a long run", () => {
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
