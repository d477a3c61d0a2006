import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import {
  createSimulatedFeed,
  type SimulatedFeedOptions,
} from "../../../src/feeds/simulated/simulated-feed.ts";
import { LeapingClock, StoppedClock } from "./fake-clock.ts";
import { HOUR, MIDNIGHT, MINUTE } from "./run.ts";

const SMALL = {
  startAtMs: MIDNIGHT + 12 * HOUR,
  warmupMs: 10 * MINUTE,
  durationMs: 5 * MINUTE,
  tokens: 40,
} as const;

async function read(
  options: Partial<SimulatedFeedOptions> & { readonly clock: SimulatedFeedOptions["clock"] },
) {
  const events: MarketEvent[] = [];
  for await (const event of createSimulatedFeed({ ...SMALL, ...options }).events(
    new AbortController().signal,
  )) {
    events.push(event);
  }
  return events;
}

test("[L4] the events are the same at any speed and on any clock", async () => {
  const fast = await read({ clock: new LeapingClock(), speed: Number.POSITIVE_INFINITY });
  expect(fast.length).toBeGreaterThan(1_000);
  expect(fast.at(-1)).toEqual({ kind: "clock", at: SMALL.startAtMs + SMALL.durationMs });
  expect(await read({ clock: new LeapingClock() })).toEqual(fast);
  expect(await read({ clock: new LeapingClock(() => 777), speed: 60 })).toEqual(fast);
});

test.each([1, 60, 0.5])(
  "at speed %s no event comes early or late, and late wake-ups do not add up",
  async (speed) => {
    const oversleepMs = 40;
    const clock = new LeapingClock(() => oversleepMs);
    let maxDelayMs = 0;
    let paced = 0;
    for await (const event of createSimulatedFeed({ ...SMALL, clock, speed }).events(
      new AbortController().signal,
    )) {
      const now = SMALL.startAtMs + clock.monotonic() * speed;
      if (event.at <= SMALL.startAtMs) continue;
      expect(event.at).toBeLessThanOrEqual(now);
      maxDelayMs = Math.max(maxDelayMs, (now - event.at) / speed);
      paced += 1;
    }
    expect(paced).toBeGreaterThan(300);
    // At most the shortest sleep, the late wake-up, and a millisecond of event time by rounding.
    expect(maxDelayMs).toBeLessThanOrEqual(20 + oversleepMs + 1 / speed);
  },
);

test("[L4] a resumed market emits exactly the events that would have followed, and missed ones at once", async () => {
  const whole = await read({ clock: new LeapingClock() });
  const afterMs = SMALL.startAtMs - 3 * MINUTE;
  const resume = { beginAtMs: SMALL.startAtMs - SMALL.warmupMs, afterMs };
  const clock = new LeapingClock();
  const later: MarketEvent[] = [];
  const feed = createSimulatedFeed({ ...SMALL, clock, resume });
  expect(feed.beginAtMs).toBe(resume.beginAtMs);
  for await (const event of feed.events(new AbortController().signal)) {
    if (event.at <= SMALL.startAtMs) expect(clock.monotonic()).toBe(0);
    later.push(event);
  }
  expect(later).toEqual(whole.filter(({ at }) => at > afterMs));
  for (const wrong of [
    { beginAtMs: afterMs + 1, afterMs },
    { ...resume, afterMs: SMALL.startAtMs + 1 },
  ])
    expect(() => createSimulatedFeed({ ...SMALL, clock, resume: wrong })).toThrow(/out of order/);
});

test("the warm-up is emitted at once and lets other tasks run in between", async () => {
  const clock = new StoppedClock();
  const controller = new AbortController();
  const feed = createSimulatedFeed({ startAtMs: MIDNIGHT, tokens: 300, warmupMs: HOUR, clock });
  let count = 0;
  let last = 0;
  const reading = (async () => {
    for await (const event of feed.events(controller.signal)) {
      count += 1;
      last = event.at;
    }
  })();
  await clock.asleep.promise;
  expect(last).toBe(MIDNIGHT);
  expect(count).toBeGreaterThan(20_000);
  expect(clock.sleeps.length).toBeGreaterThanOrEqual(Math.floor(count / 11_000));
  expect(new Set(clock.sleeps)).toEqual(new Set([0]));
  controller.abort();
  await reading;
});

test("a feed that is aborted during the warm-up ends without another event", async () => {
  const controller = new AbortController();
  let count = 0;
  for await (const _ of createSimulatedFeed({ ...SMALL, clock: systemClock }).events(controller.signal)) {
    count += 1;
    if (count === 500) controller.abort();
  }
  expect(count).toBe(500);
});

test("a feed whose signal is already aborted emits nothing", async () => {
  const feed = createSimulatedFeed({ ...SMALL, clock: systemClock });
  for await (const event of feed.events(AbortSignal.abort())) expect.unreachable(event.kind);
});

test("a second iteration is rejected", () => {
  const feed = createSimulatedFeed({ ...SMALL, clock: systemClock });
  feed.events(new AbortController().signal);
  expect(() => feed.events(new AbortController().signal)).toThrow(/only once/);
});
