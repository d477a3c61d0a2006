import { getEventListeners } from "node:events";
import { expect } from "vitest";
import { waitAtMost } from "../../../src/base/lib/time/wait-at-most.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test } from "../../support/time/still-running.ts";

const never = new Promise<never>(() => {});

test("a wait ends with the promise's result, with undefined after the time limit, or with the abort's reason", async () => {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  expect(await waitAtMost(Promise.resolve("news"), 9_000, clock, signal)).toBe("news");
  await expect(waitAtMost(Promise.reject(new Error("no")), 9_000, clock, signal)).rejects.toThrow("no");
  const timed = waitAtMost(never, 1_000, clock, signal);
  clock.advance(1_000);
  expect(await timed).toBeUndefined();
  expect(getEventListeners(signal, "abort")).toEqual([]);
  const stop = new AbortController();
  const aborted = waitAtMost(never, 1_000, clock, stop.signal);
  stop.abort(new Error("stopping"));
  await expect(aborted).rejects.toThrow("stopping");
  const late = Promise.reject(new Error("late"));
  await expect(waitAtMost(late, 1_000, clock, stop.signal)).rejects.toThrow("stopping");
});
