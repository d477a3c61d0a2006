import { describe, expect } from "vitest";
import { ReplayFeed, type ReplayOptions } from "../../../src/feeds/replay/replay-feed.ts";
import { HEADER, LeapingClock, line, MINUTE, T0, test } from "./replay-kit.ts";

const FIRST = T0 + MINUTE;
const HOUR = [HEADER, ...Array.from({ length: 61 }, (_, minute) => line(minute))];

/** Replays, and records the wall time and the event time of each event since the start. */
async function paced(
  path: string,
  clock: LeapingClock,
  options: Partial<ReplayOptions>,
  onEvent: () => void = () => undefined,
) {
  const released: { wallMs: number; eventMs: number }[] = [];
  const feed = new ReplayFeed({ path, clock, ...options });
  for await (const { at } of feed.events(new AbortController().signal)) {
    released.push({ wallMs: clock.mono, eventMs: at - FIRST });
    onEvent();
  }
  return released;
}

describe("pacing", () => {
  test.for([0.5, 1, 60, 600, 12_345.6])(
    "event time tracks start + %s × wall time, without drift",
    async (speed, { expect, write }) => {
      const clock = new LeapingClock();
      clock.mono = 1_234.5;
      const released = await paced(write(HOUR), clock, { speed });
      expect(released.length).toBe(62 + 3_601);
      for (const { wallMs, eventMs } of released) {
        const dueMs = 1_234.5 + eventMs / speed;
        expect(wallMs).toBeGreaterThanOrEqual(dueMs - 1e-6);
        expect(wallMs).toBeLessThan(dueMs + 1 + 1e-6);
      }
      expect(Math.min(...clock.slept)).toBeGreaterThanOrEqual(1);
    },
  );

  test("real time is the default", async ({ write }) => {
    const released = await paced(write([line(0), line(1)]), new LeapingClock(), {});
    expect(released.at(-1)).toEqual({ wallMs: 60_000, eventMs: 60_000 });
  });

  test("at high speed several event seconds are released by one sleep", async ({ write }) => {
    const clock = new LeapingClock();
    await paced(write(HOUR), clock, { speed: 10_000 });
    expect(clock.slept.length).toBe(360);
  });

  test("setting the wall clock forward or back changes nothing", async ({ write }) => {
    const clock = new LeapingClock();
    clock.onSleep = () => {
      clock.wall += clock.slept.length % 2 === 0 ? 86_400_000 : -86_400_000;
    };
    const released = await paced(write(HOUR), clock, { speed: 60 });
    expect(released.at(-1)).toEqual({ wallMs: 60_000, eventMs: 3_600_000 });
  });

  test("a slow consumer gets the due events and no others", async ({ write }) => {
    const clock = new LeapingClock();
    let events = 0;
    const released = await paced(write(HOUR), clock, { speed: 60 }, () => {
      events += 1;
      // One event takes ten seconds, in which ten minutes of event time become due.
      if (events === 100) clock.mono += 10_000;
    });
    for (const { wallMs, eventMs } of released) expect(eventMs).toBeLessThanOrEqual(wallMs * 60 + 1e-6);
    const burst = released.slice(100).filter(({ wallMs }) => wallMs === released[100]?.wallMs);
    expect(burst.at(-1)?.eventMs).toBe(Math.floor(((released[100]?.wallMs ?? 0) * 60) / 1_000) * 1_000);
    expect(released.at(-1)?.wallMs).toBe(60_000);
  });

  test("the warm-up runs at full speed, and pacing begins after it", async ({ write }) => {
    const clock = new LeapingClock();
    const released = await paced(write(HOUR), clock, { speed: 60, warmupMs: 30 * MINUTE });
    const warm = released.filter(({ eventMs }) => eventMs <= 30 * MINUTE);
    expect(warm.every(({ wallMs }) => wallMs === 0)).toBe(true);
    for (const { wallMs, eventMs } of released.slice(warm.length)) {
      expect(Math.abs(wallMs - (eventMs - 30 * MINUTE) / 60)).toBeLessThan(1);
    }
  });

  test("a warm-up longer than the recording never paces", async ({ write }) => {
    const clock = new LeapingClock();
    await paced(write(HOUR), clock, { speed: 1, warmupMs: Number.POSITIVE_INFINITY });
    expect(clock.slept).toEqual([]);
  });
});

describe("the event loop and the signal", () => {
  test("at full speed there is no timer, and the event loop still runs other tasks", async ({ write }) => {
    const clock = new LeapingClock();
    let turns = 0;
    const turn = () => {
      turns += 1;
      immediate = setImmediate(turn);
    };
    let immediate = setImmediate(turn);
    const day = Array.from({ length: 24 }, (_, hour) => line(hour * 60 + (hour % 2)));
    const released = await paced(write(day), clock, { speed: Number.POSITIVE_INFINITY });
    clearImmediate(immediate);
    expect(clock.slept).toEqual([]);
    expect(turns).toBeGreaterThan(released.length / 5_000);
  });

  test("with a slow consumer, the event loop still runs other tasks soon", async ({ write }) => {
    const clock = new LeapingClock();
    let since = 0;
    let longest = 0;
    const turn = () => {
      since = 0;
      immediate = setImmediate(turn);
    };
    let immediate = setImmediate(turn);
    await paced(write(HOUR), clock, { speed: Number.POSITIVE_INFINITY }, () => {
      clock.mono += 1;
      longest = Math.max(longest, ++since);
    });
    clearImmediate(immediate);
    expect(longest).toBeLessThanOrEqual(64);
  });

  test("the signal ends a replay that runs, sleeps or has not started, without an error", async ({
    write,
  }) => {
    const path = write(HOUR);
    for (const [speed, after] of [
      [Number.POSITIVE_INFINITY, 500],
      [Number.POSITIVE_INFINITY, 0],
      [60, 500],
      [60, 0],
    ] as const) {
      const abort = new AbortController();
      if (after === 0) abort.abort();
      let count = 0;
      const feed = new ReplayFeed({ path, clock: new LeapingClock(), speed, loop: true });
      for await (const _ of feed.events(abort.signal)) {
        count += 1;
        if (count === after) abort.abort();
      }
      expect(count).toBe(after);
    }
  });

  test("the signal ends a long sleep", async ({ write }) => {
    const abort = new AbortController();
    const clock = new LeapingClock();
    clock.onSleep = () => abort.abort(new Error("stop"));
    const feed = new ReplayFeed({ path: write(HOUR), clock, speed: 1 });
    const kinds: string[] = [];
    for await (const { kind } of feed.events(abort.signal)) kinds.push(kind);
    expect(kinds).toEqual(["profile", "candle", "clock"]);
  });
});
