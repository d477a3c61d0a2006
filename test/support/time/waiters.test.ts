import { expect, test, vi } from "vitest";
import { IndependentClient } from "../clients/independent-client.ts";
import { ManualClock } from "./manual-clock.ts";
import { eventually, MAX_WAIT_MS, Waiters } from "./waiters.ts";

test("the error of a failed wait has the condition and the last state", async () => {
  const seen = ["a", "b"];
  const waiters = new Waiters(() => seen, 20);
  const waited = waiters.until(() => seen.length > 2);
  waiters.look();
  await expect(waited).rejects.toThrow(
    'waited 0.02 s without success for seen.length > 2; last seen: ["a","b"]',
  );
  await expect(waiters.until(() => false, "a third message")).rejects.toThrow(
    "without success for a third message",
  );
});

test("the stack of a failed wait has the line of the test", async () => {
  const waiters = new Waiters(() => "", 1);
  const error = await waiters.until(() => false).catch((caught: unknown) => caught);
  expect(String((error as Error).stack)).toContain("waiters.test.ts");
});

test("each wait ends with the first check at which its condition is true", async () => {
  let count = 0;
  const waiters = new Waiters(() => count);
  for (const round of [0, 2]) {
    const ended: number[] = [];
    const waits = [1, 2].map((more) =>
      waiters.until(() => count >= round + more).then(() => ended.push(more)),
    );
    count += 1;
    waiters.look();
    await waits[0];
    expect(ended).toEqual([1]);
    count += 1;
    waiters.look();
    await Promise.all(waits);
    expect(ended).toEqual([1, 2]);
  }
});

test("`eventually` checks in each turn, and fails with the condition and the last state", async () => {
  let turns = 0;
  await eventually(
    () => ++turns > 3,
    () => turns,
  );
  expect(turns).toBe(4);
  await expect(
    eventually(
      () => turns < 0,
      () => turns,
      { maxWaitMs: 5 },
    ),
  ).rejects.toThrow("waited 0.005 s without success for turns < 0; last seen: 4");
});

test.each([
  [
    "a client's message",
    () => new IndependentClient("http://127.0.0.1:9").until(() => false),
    'for false; last seen: {"seq":0,"resets":0,"errors":[]}',
  ],
  ["a sleep on a clock", () => new ManualClock().nextSleep(), "for a sleep; last seen: []"],
])("waiting for %s that never comes fails before the test's timeout", async (_name, wait, message) => {
  vi.useFakeTimers();
  try {
    const waited = expect(wait()).rejects.toThrow(message);
    await vi.advanceTimersByTimeAsync(MAX_WAIT_MS);
    await waited;
  } finally {
    vi.useRealTimers();
  }
});
