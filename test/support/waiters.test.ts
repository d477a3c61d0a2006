import { expect, test, vi } from "vitest";
import { IndependentClient } from "./independent-client.ts";
import { ManualClock } from "./manual-clock.ts";
import { eventually, MAX_WAIT_MS, Waiters } from "./waiters.ts";

test("a wait that fails says what it waited for and what it saw last", async () => {
  const seen = ["a", "b"];
  const waiters = new Waiters(() => seen, 20);
  const waited = waiters.until(() => seen.length > 2);
  waiters.look();
  await expect(waited).rejects.toThrow('waited 0.02 s in vain for seen.length > 2; seen last: ["a","b"]');
  await expect(waiters.until(() => false, "a third message")).rejects.toThrow("in vain for a third message");
});

test("a wait that fails names the line of the test that waits", async () => {
  const waiters = new Waiters(() => "", 1);
  const error = await waiters.until(() => false).catch((caught: unknown) => caught);
  expect(String((error as Error).stack)).toContain("waiters.test.ts");
});

test("each wait ends with the look at which its own condition holds, round after round", async () => {
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

test("a wait in turns fails likewise", async () => {
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
  ).rejects.toThrow("waited 0.005 s in vain for turns < 0; seen last: 4");
});

test.each([
  [
    "a client's message",
    () => new IndependentClient("http://127.0.0.1:9").until(() => false),
    'for false; seen last: {"seq":0,"resets":0,"errors":[]}',
  ],
  ["a sleep on a clock", () => new ManualClock().nextSleep(), "for a sleep; seen last: []"],
])("%s that never comes fails the test before its time is up", async (_name, wait, sentence) => {
  vi.useFakeTimers();
  try {
    const waited = expect(wait()).rejects.toThrow(sentence);
    await vi.advanceTimersByTimeAsync(MAX_WAIT_MS);
    await waited;
  } finally {
    vi.useRealTimers();
  }
});
