import fc from "fast-check";
import { describe, expect } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { lapLengthMs } from "../../../src/feeds/replay/event-script.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { closes, gzip, HEADER, LeapingClock, line, MINUTE, only, replay, T0, test } from "./replay-kit.ts";

const DAY = 86_400_000;

function trade(at: number, trader = "w") {
  return {
    kind: "trade",
    at,
    group: "bsc",
    pool: "p",
    token: "t",
    side: "buy",
    price: "1",
    amount: "1",
    quoteUsd: "1",
    trader,
  };
}

const ndjson = (events: readonly object[]) => events.map((event) => JSON.stringify(event));
const brief = (events: readonly MarketEvent[]) =>
  events.map(({ kind, at }) => `${kind}@${(at - T0) / 1_000}`);

describe("ticks", () => {
  test("a clock follows at every whole second, after all events up to it", async ({ write }) => {
    const { events } = await replay(
      write(ndjson([trade(T0 - 400), trade(T0), trade(T0 + 1), trade(T0 + 2_000), trade(T0 + 2_500)])),
    );
    expect(brief(events)).toEqual([
      ...[
        "trade@-0.4",
        "trade@0",
        "clock@0",
        "trade@0.001",
        "clock@1",
        "trade@2",
        "clock@2",
        "trade@2.5",
        "clock@3",
      ],
    ]);
  });

  test("recorded clocks stay in position; a redundant one is dropped", async ({ write }) => {
    const clock = (at: number) => ({ kind: "clock", at });
    const recorded = [
      trade(T0),
      clock(T0),
      trade(T0, "late"),
      clock(T0),
      clock(T0 + 1_500),
      trade(T0 + 1_500),
      clock(T0 + 3_000),
    ];
    const { events } = await replay(write(ndjson(recorded)));
    expect(brief(events)).toEqual([
      ...["trade@0", "clock@0", "trade@0", "clock@1", "clock@1.5", "trade@1.5", "clock@2", "clock@3"],
    ]);
  });

  test("[L4] a recorded replay replays identically", async ({ write }) => {
    const steps = fc.array(fc.tuple(fc.integer({ min: -3_000, max: 4_000 }), fc.boolean()), {
      minLength: 1,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (moves) => {
        let latest = T0;
        const recorded = moves.map(([step, isClock], index) => {
          const at = latest + step;
          latest = Math.max(latest, at);
          return isClock && step >= 0 ? { kind: "clock", at } : trade(at, `w${index}`);
        });
        const once = await replay(write(ndjson(recorded)));
        const again = await replay(write(ndjson(once.events)));
        expect(again.events).toEqual(once.events);
        expect(once.totals).toEqual({});
      }),
      { numRuns: 60 },
    );
  });

  test("time never decreases except for events at most 5 s late, and no second is skipped", async ({
    write,
  }) => {
    const { events } = await replay(write([line(0), line(1), line(3), line(3, "BTC_BBB"), line(60)]));
    const clocks = only("clock", events).map(({ at }) => at);
    expect(clocks).toEqual(Array.from({ length: 60 * 60 + 1 }, (_, second) => T0 + MINUTE + second * 1_000));
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted((a, b) => a - b));
  });

  test("[L4] the events are the same at any speed, warm-up and packing", async ({ write }) => {
    const lines = [HEADER, ...Array.from({ length: 30 }, (_, minute) => line(minute, `P${minute % 3}`))];
    const [first, ...others] = await Promise.all([
      replay(write(lines)),
      replay(write(gzip(lines)), { speed: 1 }),
      replay(write(lines), { speed: 77.7, clock: new LeapingClock() }),
      replay(write(lines), { speed: 100_000, warmupMs: 400_000 }),
    ]);
    expect(first?.events.length).toBeGreaterThan(1_700);
    for (const other of others) expect(other.events).toEqual(first?.events);
  });
});

describe("laps", () => {
  test("a lap is the span rounded up to whole minutes under 12 hours, else to whole days, and always longer", () => {
    const spans = [0, 1, MINUTE - 1, MINUTE, DAY / 2 - 1, DAY / 2, DAY - MINUTE, DAY, 10 * DAY - 1];
    expect(spans.map(lapLengthMs)).toEqual([
      ...[MINUTE, MINUTE, MINUTE, 2 * MINUTE, DAY / 2, DAY, DAY, 2 * DAY, 10 * DAY],
    ]);
  });

  test("each lap repeats the events later, without a gap in time and without new profiles", async ({
    write,
  }) => {
    const lines = [HEADER, line(0), line(1), "bad", line(3)];
    const perLap = 4 * 60;
    const { events, totals, skipped } = await replay(write(lines), { loop: true }, 3 * perLap);
    expect(closes(events)).toEqual([1, 2, 4, 5, 6, 8, 9, 10, 12]);
    expect(only("candle", events).every(({ at, openAt }) => at === openAt + MINUTE)).toBe(true);
    expect(only("profile", events).length).toBe(1);
    const clocks = only("clock", events).map(({ at }) => at);
    expect(clocks).toEqual(clocks.map((_, second) => T0 + MINUTE + second * 1_000));
    expect(totals).toEqual({ "bad-columns": 1 });
    expect(skipped.length).toBe(1);
  });

  test("a token's profile is emitted again after a silence of more than six hours", async ({ write }) => {
    const lines = [line(0, "A"), line(0, "B"), line(300, "B"), line(361, "A"), line(361, "B")];
    const { events } = await replay(write(lines));
    const introduced = only("profile", events).map(({ token, at }) => [token, (at - T0) / MINUTE]);
    expect(introduced).toEqual([
      ["A", 1],
      ["B", 1],
      ["A", 362],
    ]);
  });

  test("market events are shifted, except for their facts about the past", async ({ write }) => {
    const profile = { kind: "profile", at: T0, group: "bsc", token: "t", createdAt: 5 };
    const candle = {
      kind: "candle",
      at: T0 + 1_000,
      group: "bsc",
      token: "t",
      openAt: T0 + 1_000 - MINUTE,
      open: "1",
      high: "1",
      low: "1",
      close: "1",
      volume: "0",
    };
    const { events } = await replay(write(ndjson([profile, candle])), { loop: true }, 65);
    expect(events.filter(({ kind }) => kind !== "clock").slice(2)).toEqual([
      { ...profile, at: T0 + MINUTE },
      { ...candle, at: T0 + 1_000 + MINUTE, openAt: T0 + 1_000 },
    ]);
  });

  test("laps end before the year 10000", async ({ write }) => {
    const end = Date.UTC(9999, 11, 31, 23, 50);
    const { events, error } = await replay(write(ndjson([trade(end), trade(end + 4 * MINUTE)])), {
      loop: true,
    });
    expect(error).toBeUndefined();
    expect(only("trade", events).length).toBe(4);
  });

  test("a truncated file ends the replay in its first lap", async ({ write }) => {
    const packed = gzip([HEADER, ...Array.from({ length: 500 }, (_, minute) => line(minute))]);
    const { error, events } = await replay(write(packed.subarray(0, -9)), { loop: true });
    expect(error).toHaveProperty("line", 501);
    expect(closes(events).length).toBe(500);
  });
});

describe("progress", () => {
  test("it is reported at the end, with bytes, events and event time", async ({ write }) => {
    const packed = gzip([HEADER, line(0), line(1)]);
    const progress: unknown[] = [];
    const feed = new ReplayFeed({
      path: write(packed),
      speed: 60,
      clock: new LeapingClock(),
      onProgress: (now) => progress.push(now),
    });
    for await (const _ of feed.events(new AbortController().signal));
    expect(progress.length).toBeGreaterThan(2);
    expect(progress.at(-1)).toEqual({
      bytesRead: packed.length,
      bytesTotal: packed.length,
      events: 3,
      observedAtMs: T0 + 2 * MINUTE,
    });
  });
});
