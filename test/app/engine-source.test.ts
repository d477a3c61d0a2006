import { expect, test } from "vitest";
import { EngineSource, type FeedEvent, type PolledEngine } from "../../src/app/engine-source.ts";
import { InputError } from "../../src/base/lib/input-error.ts";
import type { Snapshot } from "../../src/base/model/index.ts";
import type { Feed } from "../../src/gateway/source/feed.ts";
import type { Poll, SnapshotSource } from "../../src/gateway/source/index.ts";
import { flare, snapshotOf } from "../gateway/source/sample-snapshots.ts";
import { ManualClock } from "../support/time/manual-clock.ts";

const START = Date.UTC(2017, 10, 12);
const tick = (ms: number): FeedEvent => ({ kind: "clock", at: START + ms });
const trade = (ms: number): FeedEvent => ({
  kind: "trade",
  at: START + ms,
  group: "bsc",
  pool: "p",
  token: "0x1",
  side: "buy",
  price: "1",
  amount: "1",
  quoteUsd: "1",
  trader: "0x2",
});

/** Returns a feed of these events. A function among them is called in its turn, and may throw. */
function feedOf(...script: readonly (FeedEvent | (() => void))[]): Feed {
  return {
    name: "scripted",
    origin: "recorded",
    facts: { trades: true, liquidity: false, listings: false, profiles: false },
    async *events() {
      for (const step of script) {
        if (typeof step === "function") step();
        else yield step;
      }
    },
  };
}

/** An engine that records its events. Its snapshot shows the number of trades. */
class CountingEngine implements PolledEngine {
  clockMs = 0;
  nextChangeAtMs = 0;
  trades = 0;
  snapshots = 0;

  accept(event: FeedEvent): void {
    this.clockMs = event.at;
    if (event.kind === "trade") this.trades += 1;
  }

  snapshot(): Snapshot {
    this.snapshots += 1;
    return snapshotOf({ pro: [flare("BCC", { latest_buy_count: this.trades })] });
  }
}

async function allPolls(source: SnapshotSource): Promise<readonly Poll[]> {
  const polls: Poll[] = [];
  const { signal } = new AbortController();
  for (let poll = await source.poll(signal); poll; poll = await source.poll(signal)) polls.push(poll);
  return polls;
}

const seen = (polls: readonly Poll[]) =>
  polls.map(({ observedAtMs, snapshot }) => [observedAtMs - START, snapshot.flares.pro[0]?.latest_buy_count]);

function sourceOf(feed: Feed, clock = new ManualClock()) {
  const engine = new CountingEngine();
  return { engine, clock, source: new EngineSource({ feed, engine, clock, staleAfterMs: 10_000 }) };
}

test("the base is returned when the warm-up is over, and nothing before: until then, the market has no data", async () => {
  const states: unknown[] = [];
  const look = () => states.push(source.freshness().state);
  const feed = feedOf(
    ...[tick(0), trade(500), tick(1_000), look, trade(1_500), tick(2_000), look, trade(2_500), tick(3_000)],
  );
  const source = new EngineSource({
    feed,
    engine: new CountingEngine(),
    clock: new ManualClock(),
    warmupMs: 2_000,
  });
  expect(seen(await allPolls(source))).toEqual([
    [2_000, 2],
    [3_000, 3],
  ]);
  expect(states).toEqual(["stale", "live"]);
});

test("an event waits, for one turn after the other, while state must be packed before it", async () => {
  const feed = feedOf(tick(0), trade(100), tick(60_000), trade(60_500), tick(61_000));
  const [engine, clock] = [new CountingEngine(), new ManualClock()];
  let left = 3;
  const packed: string[] = [];
  const packBefore = (event: FeedEvent) => {
    if (event.at < START + 60_000 || left === 0) return false;
    packed.push(`${event.kind} at ${engine.clockMs - START}`);
    left -= 1;
    return left > 0;
  };
  const source = new EngineSource({ feed, engine, clock, packBefore });
  expect(seen(await allPolls(source))).toEqual([
    [0, 0],
    [60_000, 1],
    [61_000, 2],
  ]);
  expect(packed).toEqual(["clock at 100", "clock at 100", "clock at 100"]);
  expect(clock.slept.filter((ms) => ms === 0)).toHaveLength(2);
});

test("if a feed ends within its warm-up, its last state is the base", async () => {
  const feed = feedOf(tick(0), trade(500), tick(1_000));
  const source = new EngineSource({
    feed,
    engine: new CountingEngine(),
    clock: new ManualClock(),
    warmupMs: 60_000,
  });
  expect(seen(await allPolls(source))).toEqual([[1_000, 1]]);
});

test("each whole second of event time that a clock reaches is polled once, and the poll has that second", async () => {
  const { source } = sourceOf(
    feedOf(tick(0), trade(100), tick(400), trade(900), tick(1_250), tick(1_900), trade(2_000), tick(2_000)),
  );
  expect(seen(await allPolls(source))).toEqual([
    [0, 0],
    [1_000, 2],
    [2_000, 3],
  ]);
});

test("no snapshot is taken in a second in which the engine cannot have changed, but the first is always taken", async () => {
  const feed = feedOf(tick(0), tick(1_000), tick(2_000), tick(3_000), tick(4_000));
  const { source, engine } = sourceOf(feed);
  engine.nextChangeAtMs = START + 3_000;
  expect(seen(await allPolls(source)).map(([at]) => at)).toEqual([0, 3_000, 4_000]);
  expect(engine.snapshots).toBe(3);
});

test("event time that goes back is never polled", async () => {
  const { source } = sourceOf(feedOf(tick(5_000), tick(3_000), tick(5_500), tick(6_000)));
  expect(seen(await allPolls(source)).map(([at]) => at)).toEqual([5_000, 6_000]);
});

test("the data is stale before the first clock, live after it, and stale when the clock stands still; its age is measured by the monotonic clock", async () => {
  const { source, clock } = sourceOf(feedOf(tick(0), tick(1_000), tick(1_000)));
  expect(source.freshness()).toMatchObject({
    state: "stale",
    observed_at: null,
    last_success_at: null,
    data_age_ms: 0,
  });
  clock.advance(700);
  expect(source.freshness().data_age_ms).toBe(700);
  const { signal } = new AbortController();
  await source.poll(signal);
  expect(source.freshness()).toEqual({
    state: "live",
    reason: "",
    observed_at: "2017-11-12T00:00:00.000Z",
    last_success_at: "2026-01-01T00:00:00.700Z",
    data_age_ms: 0,
  });
  clock.jumpWall(86_400_000);
  clock.advance(10_000);
  expect(source.freshness()).toMatchObject({ state: "live", data_age_ms: 10_000 });
  clock.advance(1);
  expect(source.freshness()).toMatchObject({
    state: "stale",
    reason: "the market has had no new data for more than 10 s",
    data_age_ms: 10_001,
  });
  await source.poll(signal);
  expect(source.freshness()).toMatchObject({ state: "live", observed_at: "2017-11-12T00:00:01.000Z" });
});

test("a clock event with the same time again is no sign of life", async () => {
  const clock = new ManualClock();
  const { source } = sourceOf(
    feedOf(tick(0), () => clock.advance(700), tick(0)),
    clock,
  );
  await allPolls(source);
  expect(source.freshness().data_age_ms).toBe(700);
});

/**
 * Returns a source that continues a run whose lists are of START + 2 s, one minute later. A poll
 * reads one second: 1, 2, 30, 59, 60.
 */
function resumedSource(origin: Feed["origin"], filling?: Feed["filling"]) {
  const clock = new ManualClock(START + 60_000);
  const events = feedOf(...[1, 2, 30, 59, 60].map((second) => tick(1_000 * second)));
  const feed: Feed = { ...events, origin, ...(filling ? { filling } : {}) };
  const presentAtMs = START + (origin === "recorded" ? 2_000 : 60_000);
  const resume = { observedAtMs: START + 2_000, presentAtMs };
  const source = new EngineSource({ feed, engine: new CountingEngine(), clock, resume });
  const poll = async () => {
    await source.poll(new AbortController().signal);
    const { state, observed_at, data_age_ms } = source.freshness();
    return [state, observed_at?.slice(14, 19), data_age_ms];
  };
  return { source, clock, poll };
}

test.each(["live", "simulated"] as const)(
  "a resumed %s market is as old as its event time until it reaches the present, stale while that is too old, and its time is never before that of the previous run's lists",
  async (origin) => {
    const { source, poll } = resumedSource(origin, () => ({ readMs: 0, ofMs: 60_000 }));
    expect(await poll()).toEqual(["stale", undefined, 0]);
    expect(await poll()).toEqual(["stale", "00:02", 58_000]);
    expect(await poll()).toEqual(["stale", "00:30", 30_000]);
    expect(source.freshness().reason).toBe("the market is behind and catching up");
    expect(source.isCatchingUp).toBe(true);
    expect(await poll()).toEqual(["live", "00:59", 1_000]);
    expect(source.isCatchingUp).toBe(false);
    expect(await poll()).toEqual(["live", "01:00", 0]);
  },
);

test("a resumed live market that has read its past has caught up, although this machine's clock is ahead of it", async () => {
  let filling: ReturnType<NonNullable<Feed["filling"]>> = { readMs: 0, ofMs: 60_000 };
  const { poll } = resumedSource("live", () => filling);
  await poll();
  expect(await poll()).toEqual(["stale", "00:02", 58_000]);
  filling = undefined;
  expect(await poll()).toEqual(["live", "00:30", 0]);
});

test("a resumed market has caught up at once when the machine's clock, which was ahead, is set right", async () => {
  const { clock, poll } = resumedSource("simulated");
  await poll();
  await poll();
  expect(await poll()).toEqual(["stale", "00:30", 30_000]);
  clock.jumpWall(-29_500);
  expect(await poll()).toEqual(["live", "00:59", 0]);
});

test("a market that is behind what its feed could read is as old as that, and stale while that is too old", async () => {
  let behindMs = 0;
  const feed = { ...feedOf(tick(0), tick(1_000)), behindMs: () => behindMs };
  const { source } = sourceOf(feed);
  await source.poll(new AbortController().signal);
  const look = () => {
    const { state, reason, data_age_ms } = source.freshness();
    return [state, reason, data_age_ms, source.isCatchingUp];
  };
  expect(look()).toEqual(["live", "", 0, false]);
  behindMs = 40_000;
  expect(look()).toEqual(["stale", "the market is behind and catching up", 40_000, true]);
  behindMs = 7_000;
  expect(look()).toEqual(["stale", "the market is behind and catching up", 7_000, false]);
  behindMs = 4_000;
  expect(look()).toEqual(["live", "", 4_000, false]);
  behindMs = 9_900;
  expect(look()).toEqual(["live", "", 9_900, false]);
});

test("a resumed recording is live, without an age, at the event time of the previous run's lists", async () => {
  const { poll } = resumedSource("recorded");
  expect(await poll()).toEqual(["stale", undefined, 0]);
  expect(await poll()).toEqual(["live", "00:02", 0]);
  expect(await poll()).toEqual(["live", "00:30", 0]);
});

test("when the recording ends, polls report it and the data is stale for that reason", async () => {
  const { source } = sourceOf(feedOf(tick(0)));
  await allPolls(source);
  expect(source.freshness()).toMatchObject({ state: "stale", reason: "the recording has ended" });
  expect(await source.poll(new AbortController().signal)).toBeUndefined();
});

test.each([
  [
    "invalid-input",
    new InputError("day.csv", "cut in the middle", { line: 9 }),
    "day.csv, line 9: cut in the middle",
  ],
  ["internal", new Error("no socket"), "the scripted feed failed: no socket"],
])(
  "a feed's error is reported once as %s with its cause; then the source has ended and is down",
  async (code, cause, message) => {
    const { source } = sourceOf(
      feedOf(tick(0), () => {
        throw cause;
      }),
    );
    const { signal } = new AbortController();
    expect(await source.poll(signal)).toBeDefined();
    await expect(source.poll(signal)).rejects.toMatchObject({ name: "FlarewireError", code, message, cause });
    expect(await source.poll(signal)).toBeUndefined();
    expect(source.freshness()).toMatchObject({ state: "down", reason: message });
  },
);

test("an error of the engine is reported as internal, and the feed is released", async () => {
  let released = false;
  const feed: Feed = {
    ...feedOf(),
    async *events() {
      try {
        yield tick(0);
        yield tick(1_000);
      } finally {
        released = true;
      }
    },
  };
  const engine = new CountingEngine();
  engine.snapshot = () => {
    throw new Error("out of order");
  };
  const source = new EngineSource({ feed, engine, clock: new ManualClock() });
  const { signal } = new AbortController();
  await expect(source.poll(signal)).rejects.toMatchObject({ code: "internal", message: /out of order/ });
  expect(await source.poll(signal)).toBeUndefined();
  expect(released).toBe(true);
});

test("a poll rejects with the signal's reason, whether it aborts before or while the feed is silent", async () => {
  const stop = new AbortController();
  const feed: Feed = {
    ...feedOf(),
    async *events(signal) {
      yield tick(0);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
  const { source } = sourceOf(feed);
  await source.poll(stop.signal);
  const waiting = source.poll(stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(source.poll(stop.signal)).rejects.toThrow("enough");
});

test("a feed is closed when the signal aborts between two polls, without another poll", async () => {
  const stop = new AbortController();
  let closed: () => void = () => {};
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const feed: Feed = {
    ...feedOf(),
    async *events() {
      try {
        for (let second = 0; ; second += 1) yield tick(second * 1_000);
      } finally {
        closed();
      }
    },
  };
  const { source } = sourceOf(feed);
  await source.poll(stop.signal);
  stop.abort(new Error("enough"));
  await isClosed;
});

test("a feed at full speed yields to the event loop after every 50 ms of work", async () => {
  const clock = new ManualClock();
  const work = () => clock.advance(30);
  const feed = feedOf(tick(0), work, tick(1), work, tick(2), work, tick(3), work, tick(4), work, tick(1_000));
  const { source } = sourceOf(feed, clock);
  await allPolls(source);
  expect(clock.slept).toEqual([0, 0]);
});
