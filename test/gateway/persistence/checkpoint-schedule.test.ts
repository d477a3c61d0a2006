import { expect, test } from "vitest";
import { CheckpointSchedule, PacedWork } from "../../../src/gateway/persistence/checkpoint-schedule.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

/** Returns after how many milliseconds the state at `seq` is due, to the millisecond. */
function dueAfter(schedule: CheckpointSchedule, clock: ManualClock, seq: number): number {
  for (let ms = 0; ms <= 100_000; ms += 1) {
    if (schedule.isDue(seq)) return ms;
    clock.advance(1);
  }
  return Number.POSITIVE_INFINITY;
}

test("a first state is stored at once, the next one after half a minute, and that again in every round", () => {
  const clock = new ManualClock();
  const schedule = new CheckpointSchedule(clock);
  for (const [round, waitMs] of [0, 30_000, 30_000].entries()) {
    expect(dueAfter(schedule, clock, round)).toBe(waitMs);
    schedule.stored(round, 1);
  }
  schedule.reset();
  expect(schedule.isDue(3)).toBe(true);
});

test("a process that continues from a stored state waits half a minute, unless 5,000 events follow", () => {
  const clock = new ManualClock();
  const schedule = new CheckpointSchedule(clock, 10);
  expect([schedule.isDue(5_009), schedule.isDue(5_010)]).toEqual([false, true]);
  expect(dueAfter(schedule, clock, 5_009)).toBe(30_000);
});

test("storing takes at most two thousandths of the time; from 5,000 events or two minutes on, two hundredths", () => {
  const clock = new ManualClock();
  for (const [seq, tookMs, waitMs] of [
    [4_999, 60, 30_000],
    [4_999, 61, 30_500],
    [4_999, 241, 120_000],
    [4_999, 2_401, 120_050],
    [5_000, 61, 3_050],
    [5_000, 1_000, 50_000],
  ] as const) {
    const schedule = new CheckpointSchedule(clock);
    schedule.stored(0, tookMs);
    clock.advance(waitMs - 1);
    const before = schedule.isDue(seq);
    clock.advance(1);
    expect([before, schedule.isDue(seq)], `${seq} ${tookMs}`).toEqual([false, true]);
  }
});

test("work is paused from five milliseconds on, for four times as long or 200 ms, and counts without its pauses", async () => {
  const clock = new ManualClock();
  const work = new PacedWork(clock, new AbortController().signal);
  const pauseAfter = async (ms: number, isLong: boolean) => {
    clock.advance(ms);
    const before = clock.slept.length;
    const pausing = work.pauseIfDue(isLong);
    const [pauseMs] = clock.slept.slice(before);
    clock.advance(pauseMs ?? 0);
    await pausing;
    return pauseMs;
  };
  expect(await pauseAfter(4, true)).toBeUndefined();
  expect(await pauseAfter(1, true)).toBe(20);
  expect(await pauseAfter(5, false)).toBe(0);
  expect(await pauseAfter(49, true)).toBe(196);
  expect(await pauseAfter(51, true)).toBe(200);
  clock.advance(3);
  expect(work.ms).toBe(5 + 5 + 49 + 51 + 3);
});
