import { expect, test } from "vitest";
import { EngineSource, type FeedEvent, type PolledEngine } from "../../src/app/engine-source.ts";
import { HeadLag } from "../../src/feeds/head-lag.ts";
import { mergeFeeds } from "../../src/feeds/merge/merge-feeds.ts";
import { type Feed, runPoller } from "../../src/gateway/source/index.ts";
import { flare, snapshotOf } from "../gateway/source/sample-snapshots.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { START, ToldFeed } from "./merge/told-feed.ts";

const JUDGE_MS = 40;
const PUBLISH_MS = 7;

/** An engine that takes 40 ms for each second, and changes the snapshot in every one. */
class SlowEngine implements PolledEngine {
  readonly nextChangeAtMs = 0;
  clockMs = 0;
  readonly #time: ManualClock;

  constructor(time: ManualClock) {
    this.#time = time;
  }

  accept({ kind, at }: FeedEvent): void {
    this.clockMs = at;
    if (kind === "clock") this.#time.advance(JUDGE_MS);
  }

  snapshot() {
    return snapshotOf({ pro: [flare("BCC", { latest_buy_count: this.clockMs - START })] });
  }
}

const settle = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Runs a market until the signal aborts: each batch takes 7 ms to publish. */
function run(feed: Feed, time: ManualClock, lag: HeadLag, signal: AbortSignal, warmupMs = 0) {
  const source = new EngineSource({ feed, engine: new SlowEngine(time), clock: time, lag, warmupMs });
  const publish = () => time.advance(PUBLISH_MS);
  return runPoller({ source, publish, clock: time, signal, onError: (error) => expect.fail(`${error}`) });
}

/** Runs a market of two feeds while `act` drives them, and returns what was measured. */
async function measured(
  names: readonly [string, string],
  act: (time: ManualClock, first: ToldFeed, second: ToldFeed) => Promise<void>,
): Promise<HeadLag> {
  const time = new ManualClock(START);
  const [first, second] = [new ToldFeed(names[0]), new ToldFeed(names[1])];
  const lag = new HeadLag(time);
  const parts = [first, second].map((feed) => ({ name: feed.name, feed }));
  const over = new AbortController();
  const polled = run(mergeFeeds({ name: "live", parts, clock: time, lag }), time, lag, over.signal);
  await act(time, first, second);
  over.abort();
  await polled;
  return lag;
}

const shown = (lag: HeadLag) =>
  Object.fromEntries(
    lag.stages.map(({ stage, part, recentMs, seconds }) => [
      `${stage} ${part}`.trim(),
      [...(recentMs ?? []), seconds.counts.at(-1)],
    ]),
  );

test("each stage of a merged market is measured: a part's own delay, its wait for the slowest part, and the server's share", async () => {
  const lag = await measured(["bsc", "exchange"], async (time, bsc, exchange) => {
    for (let second = 0; second < 12; second++) {
      time.advance(START + second * 1_000 - time.now() + 200);
      exchange.tick(second, second);
      await settle();
      // The last block but one comes late.
      time.advance(second === 10 ? 700 : 300);
      bsc.tick(second, second);
      await settle();
    }
  });
  // The first second is the base, which ends the warm-up.
  expect(shown(lag)).toEqual({
    "seen bsc": [500, 900, 11],
    "waited bsc": [0, 0, 11],
    "seen exchange": [200, 200, 11],
    "waited exchange": [300, 700, 11],
    judged: [JUDGE_MS, JUDGE_MS, 11],
    sent: [PUBLISH_MS, PUBLISH_MS, 11],
  });
});

test("a part that the market does not wait for is seen, late, and delays no other stage", async () => {
  const lag = await measured(["bsc", "polygon"], async (time, bsc, polygon) => {
    // 100 seconds behind from the start.
    for (let second = 100; second < 120; second++) {
      time.advance(START + second * 1_000 - time.now());
      polygon.tick(second - 100, second - 100);
      bsc.tick(second, second);
      await settle();
    }
  });
  const { "seen polygon": late, "waited polygon": waited, "waited bsc": own, judged } = shown(lag);
  expect([late?.[0], waited, own?.[1]]).toEqual([100_000, undefined, 0]);
  expect(judged?.[0]).toBe(JUDGE_MS);
});

test("while the market waits for a part that stands still, the others wait: the server's share does not grow", async () => {
  const lag = await measured(["bsc", "polygon"], async (time, bsc, polygon) => {
    // Polygon stops after three seconds.
    for (let second = 0; second < 30; second++) {
      time.advance(START + second * 1_000 - time.now());
      if (second < 3) polygon.tick(second, second);
      bsc.tick(second, second);
      await settle();
    }
  });
  const { "waited bsc": waited, judged } = shown(lag);
  expect(waited?.[1]).toBeGreaterThan(9_000);
  // The seconds that had to wait come one after the other.
  expect(judged?.[0]).toBe(JUDGE_MS);
  expect(judged?.[1]).toBeLessThan(20 * (JUDGE_MS + PUBLISH_MS));
});

test("a market of one feed has its name, and its warm-up is not counted", async () => {
  const time = new ManualClock(START + 60_000);
  const feed = new ToldFeed("chain");
  const lag = new HeadLag(time);
  const single: Feed = { ...feed, events: (signal) => feed.events(signal) };
  const over = new AbortController();
  const polled = run(single, time, lag, over.signal, 30_000);
  feed.tick(0, 30);
  await settle();
  expect(shown(lag)).toEqual({});
  time.advance(START + 70_000 - time.now());
  feed.tick(31, 31);
  await settle();
  over.abort();
  await polled;
  const own = { judged: [JUDGE_MS, JUDGE_MS, 1], sent: [PUBLISH_MS, PUBLISH_MS, 1] };
  expect(shown(lag)).toEqual({ "seen chain": [39_000, 39_000, 1], "waited chain": [0, 0, 1], ...own });
});

test("the quantiles are those of the last 300 seconds, while the histogram has all", () => {
  const time = new ManualClock(START);
  const lag = new HeadLag(time);
  for (let second = 0; second < 400; second++) {
    time.advance(START + second * 1_000 + (second < 100 ? 900 : second % 300 === 0 ? 800 : 10) - time.now());
    lag.seen("bsc", START + second * 1_000);
    lag.reached(START + second * 1_000, true);
  }
  expect(shown(lag)["seen bsc"]).toEqual([10, 10, 400]);
  expect(lag.stages[0]?.seconds.sum).toBeCloseTo(100 * 0.9 + 0.8 + 299 * 0.01);
});

test("durations older than five minutes do not count in the quantiles, so those of a part that stopped end", () => {
  const time = new ManualClock(START);
  const lag = new HeadLag(time);
  const report = (lateMs: number, ...parts: readonly string[]) => {
    time.advance(1_000);
    for (const part of parts) lag.seen(part, time.now() - lateMs);
    lag.reached(time.now() - lateMs, true);
  };
  report(900, "bsc", "polygon");
  for (let second = 0; second < 200; second++) report(100, "bsc");
  expect(shown(lag)["seen polygon"]).toEqual([900, 900, 1]);
  time.advance(250_000);
  report(200, "bsc");
  expect(shown(lag)).toMatchObject({ "seen bsc": [100, 200, 202], "seen polygon": [1] });
  time.advance(301_000);
  expect(shown(lag)["seen bsc"]).toEqual([202]);
});

test("a clock set back by an hour hides no delay", () => {
  const time = new ManualClock(START);
  const lag = new HeadLag(time);
  time.jumpWall(-3_600_000);
  time.advance(1_000);
  lag.seen("bsc", START + 300);
  lag.reached(START + 300, true);
  expect(shown(lag)["seen bsc"]).toEqual([700, 700, 1]);
});
