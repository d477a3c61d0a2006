import { isDeepStrictEqual } from "node:util";
import { describe, expect } from "vitest";
import type { MarketEvent, Origin } from "../../../src/base/market/index.ts";
import { FIRST_EVENT_MS, IN_STEP_MS } from "../../../src/feeds/merge/feed-buffer.ts";
import { mergeFeeds } from "../../../src/feeds/merge/merge-feeds.ts";
import { createGc } from "../../support/create-gc.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { stillRunning, test } from "../../support/time/still-running.ts";
import { Joined, settle } from "./joined.ts";
import { clock, listing, SECOND, START, ToldFeed, trade } from "./told-feed.ts";

const at = (ms: number): MarketEvent => ({ kind: "clock", at: START + ms });
const HOUR_S = 3_600;

describe("a part that is far ahead of the others", () => {
  test("is read at most 20,000 events ahead and loses none", async () => {
    await using market = new Joined(HOUR_S);
    const { bsc, exchange, reported } = market;
    const trades = Array.from({ length: 31_000 }, (_, index) =>
      trade(1 + Math.floor(index / 1_000), `0x${index}`),
    );
    bsc.tell(...trades);
    exchange.tell(clock(0));
    await settle();
    expect(bsc.unread).toBe(11_000);
    // Reading resumes when 10,000 are left, and no earlier.
    exchange.tell(clock(9));
    await settle();
    expect([bsc.unread, market.reported.filter(({ kind }) => kind === "trade").length]).toEqual([
      11_000, 9_000,
    ]);
    exchange.tell(clock(10));
    await settle();
    expect(bsc.unread).toBe(1_000);
    exchange.tell(clock(1_000));
    await settle();
    exchange.end();
    bsc.end();
    await market.ended;
    const all = reported.filter(({ kind }) => kind === "trade");
    expect([all.length, all.findIndex((event, index) => !isDeepStrictEqual(event, trades[index]))]).toEqual([
      31_000, -1,
    ]);
  });

  test("can be closed while it is full", async () => {
    await using market = new Joined(HOUR_S);
    market.bsc.tell(...Array.from({ length: 20_001 }, () => trade(1)));
    market.exchange.tell(clock(0));
    await settle();
    await market.stop();
    expect([market.bsc.isOpen, market.exchange.isOpen]).toEqual([false, false]);
  });

  test("is judged like any other once it has room again, without leaking listeners", async () => {
    await using market = new Joined(HOUR_S);
    const { bsc, exchange } = market;
    exchange.tell(clock(0));
    await settle();
    const running = stillRunning();
    for (const from of [1, 101]) {
      bsc.tell(...Array.from({ length: 20_500 }, (_, index) => trade(from + Math.floor(index / 1_000))));
      await settle();
      expect(bsc.unread).toBe(500);
      bsc.tick(from + 25, from + 26);
      exchange.tick(from, from + 26);
      await settle();
      expect(bsc.unread).toBe(0);
      expect(stillRunning()).toEqual(running);
      // It falls silent, and the other one continues without it.
      await market.run(from + 27, from + 60, [exchange]);
      expect(market.clockS).toBe(from + 60);
      bsc.tick(from + 60, from + 61);
      await market.run(from + 61, from + 70, [bsc, exchange]);
    }
  });

  test("does not count as stuck while it is full because no one reads the market", async () => {
    const time = new ManualClock(START + HOUR_S * SECOND);
    const [bsc, exchange] = [new ToldFeed("bsc"), new ToldFeed("exchange")];
    const notices: string[] = [];
    const feed = mergeFeeds({
      name: "live",
      clock: time,
      notify: (_level: string, message: string) => notices.push(message),
      parts: [bsc, exchange].map((one) => ({ name: one.name, feed: one })),
    });
    bsc.tell(...Array.from({ length: 25_000 }, (_, index) => trade(Math.floor(index / 100))));
    exchange.tick(0, 240);
    const events = feed.events(new AbortController().signal)[Symbol.asyncIterator]();
    const { value: first } = await events.next();
    await settle();
    // It is full at 200 s, 20,000 events behind the first, which is 40 s behind the other part.
    expect([bsc.unread, exchange.unread, first]).toEqual([4_999, 0, trade(0)]);
    let count = 1;
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value.kind === "trade") count += 1;
      // The consumer is slow: a minute passes with each of the first events.
      if (count < 10) time.advance(60 * SECOND);
      if (count === 9_000) for (const part of [bsc, exchange]) part.end();
    }
    expect([count, notices]).toEqual([25_000, []]);
    expect(feed.parts?.().map(({ late }) => late)).toEqual([0, 0]);
  });
});

describe("late, early and missing events", () => {
  test("a trade counts at its own time up to five seconds behind the clock", async () => {
    await using market = new Joined(0);
    const { bsc, exchange, reported } = market;
    await market.run(0, 2, [bsc, exchange]);
    await market.run(3, 60, [exchange]);
    const inTime = { ...trade(55), at: START + 55_000 };
    const tooLate = { ...trade(54), at: START + 54_999 };
    bsc.tell(tooLate, inTime);
    exchange.tell(clock(61));
    await settle();
    expect(market.clockS).toBe(60);
    expect(reported.filter(({ kind }) => kind === "trade")).toEqual([
      { ...tooLate, at: START + 60_000, tradedAt: START + 54_999 },
      inTime,
    ]);
    expect(market.feed.parts?.()[0]?.late).toBe(0);
  });

  test("a late trade or listing keeps the time that its feed states, even if the feed states it late", async () => {
    await using market = new Joined(0);
    const { bsc, exchange, reported } = market;
    await market.run(0, 2, [bsc, exchange]);
    await market.run(3, 60, [exchange]);
    const listed = { ...listing(20), listedAt: START + 10_000 };
    const traded = { ...trade(21), tradedAt: START + 11_000 };
    bsc.tell(listing(19), listed, traded);
    exchange.tell(clock(61));
    await settle();
    const at = START + 60_000;
    expect(reported.filter(({ kind }) => kind !== "clock")).toEqual([
      { ...listing(19), at, listedAt: START + 19_000 },
      { ...listed, at },
      { ...traded, at },
    ]);
  });

  test("events dated up to a minute ahead are accepted; later ones are dropped and reported once", async () => {
    await using market = new Joined(0);
    const { bsc, exchange, notices } = market;
    bsc.tell(at(60_000), at(60_001), at(60_002));
    exchange.tell(at(0));
    await settle();
    expect(market.feed.parts?.()[0]?.observedAtMs).toBe(START + 60_000);
    expect(notices).toHaveLength(1);
    bsc.tell(at(90_000));
    await settle();
    expect(notices).toHaveLength(1);
    expect(market.feed.parts?.()[0]?.observedAtMs).toBe(START + 60_000);
  });

  test("the market waits for a part that is ten seconds behind, and no longer", async () => {
    for (const [aheadMs, clockS] of [
      [IN_STEP_MS, 0],
      [IN_STEP_MS + 1, 10.001],
    ] as const) {
      await using market = new Joined(HOUR_S);
      const { bsc, exchange, time } = market;
      bsc.tell(at(0));
      exchange.tell(at(0), at(aheadMs));
      await settle();
      for (let step = 0; step < 40; step++) {
        time.advance(250);
        await settle();
      }
      expect(market.clockS).toBe(clockS);
    }
  });

  test("a part that caught up at first is judged by its current progress", async () => {
    await using market = new Joined(HOUR_S);
    const { bsc, exchange, time } = market;
    const pass = async () => {
      for (let step = 0; step < 13; step++) {
        time.advance(250);
        await settle();
      }
    };
    bsc.tell(clock(0));
    exchange.tick(0, 50);
    await settle();
    bsc.tick(1, 25);
    await pass();
    expect([market.clockS, market.notices]).toEqual([25, []]);
    await pass();
    expect(market.clockS).toBe(50);
    expect(market.notices).toEqual([expect.stringMatching(/^bsc is silent or more than 10 s behind/)]);
  });

  test("a part that ended normally does not affect the others", async () => {
    await using market = new Joined(HOUR_S);
    const { bsc, exchange } = market;
    exchange.tick(0, 60);
    exchange.end();
    await market.run(0, 20, [bsc]);
    expect([market.clockS, market.notices]).toEqual([20, []]);
    expect(market.feed.parts?.().map(({ state }) => state)).toEqual(["live", "down"]);
  });

  test("a part is also accepted up to a minute ahead of the others if this machine's clock is slow", async () => {
    await using market = new Joined(0);
    const { bsc, exchange } = market;
    bsc.tell(at(60_000));
    await settle();
    exchange.tell(at(120_000), at(120_001));
    await settle();
    expect(market.feed.parts?.()[1]?.observedAtMs).toBe(START + 120_000);
    expect(market.notices).toEqual([expect.stringMatching(/^exchange sends events more than 60 s/)]);
  });

  test("a part with only dropped events lets other tasks run after 1,024 of them", async () => {
    await using market = new Joined(0);
    const { bsc, exchange, time } = market;
    bsc.tell(clock(0));
    exchange.tell(clock(0));
    const turns = () => time.slept.filter((ms) => ms === 0).length;
    for (const [count, expected] of [
      [1_023, 0],
      [1, 1],
      [1_023, 1],
      [1, 2],
    ] as const) {
      bsc.tell(...Array.from({ length: count }, () => at(3_600_000)));
      await settle();
      expect([bsc.unread, turns()]).toEqual([0, expected]);
    }
  });

  test("the market waits 5 s for a part's first event, and still accepts it later", async () => {
    await using market = new Joined(HOUR_S);
    const { bsc, exchange, time } = market;
    exchange.tell(clock(0), clock(1));
    await settle();
    time.advance(FIRST_EVENT_MS);
    await settle();
    expect(market.reported).toEqual([]);
    time.advance(250);
    await settle();
    expect(market.clockS).toBe(1);
    bsc.tell(clock(1), trade(1));
    exchange.tell(clock(2));
    await settle();
    // It is in step, so the market waits for it.
    expect(market.reported.at(-1)).toEqual(trade(1));
    expect(market.notices.at(-1)).toMatch(/^bsc has caught up with the rest of the market/);
  });

  test("a part is live after 15 s without events, and stale beyond that", async () => {
    await using market = new Joined(HOUR_S);
    const { bsc, exchange, time } = market;
    bsc.tell(clock(0));
    exchange.tell(clock(0));
    await settle();
    time.advance(15_000);
    expect(market.feed.parts?.().map(({ state, ageMs }) => [state, ageMs])).toEqual([
      ["live", 15_000],
      ["live", 15_000],
    ]);
    time.advance(1);
    expect(market.feed.parts?.().map(({ state }) => state)).toEqual(["stale", "stale"]);
  });

  test("silence of all parts and its end are reported each time", async () => {
    await using market = new Joined(HOUR_S);
    const { bsc, exchange, notices } = market;
    const words = () =>
      notices
        .filter((one) => /the market responds|no part of the market/.test(one))
        .map((one) => /again/.test(one));
    await market.run(0, 20, []);
    expect(words()).toEqual([false]);
    await market.run(21, 25, [bsc, exchange]);
    expect(words()).toEqual([false, true]);
  });

  test("a part that falls behind and recovers is judged independently the next time", async () => {
    await using market = new Joined(0);
    const { bsc, exchange, notices } = market;
    await market.run(0, 5, [bsc, exchange]);
    for (const from of [6, 66]) {
      await market.run(from, from + 29, [exchange]);
      expect(market.clockS).toBe(from + 29);
      bsc.tick(from, from + 29);
      await settle();
      await market.run(from + 30, from + 59, [bsc, exchange]);
      expect(market.clockS).toBe(from + 59);
    }
    expect(notices.map((one) => /caught up/.test(one))).toEqual([false, true, false, true]);
    const [part] = market.feed.parts?.() ?? [];
    expect(part).toMatchObject({ state: "live", reason: "" });
  });
});

describe("a merged market", () => {
  test("leaks no timers or listeners while it waits", async () => {
    await using market = new Joined(HOUR_S);
    const { bsc, exchange } = market;
    await market.run(0, 1, [bsc, exchange]);
    const running = stillRunning();
    // The timer of the wait, and its listener on the signal of the feed.
    expect(running).toHaveLength(2);
    await market.run(2, 10, [bsc, exchange]);
    await market.run(11, 40, [exchange]);
    expect(stillRunning()).toEqual(running);
  });

  test("stores no events that were read, however long it runs", async () => {
    const gc = createGc();
    const refs: WeakRef<MarketEvent>[] = [];
    const part = new ToldFeed("bsc");
    part.events = async function* (signal) {
      for (let second = 0; second < 5_000; second++) {
        const event = clock(second);
        if (second % 1_000 === 0) refs.push(new WeakRef(event));
        yield event;
      }
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    };
    const time = new ManualClock(START + HOUR_S * 2 * SECOND);
    const feed = mergeFeeds({ name: "live", clock: time, parts: [{ name: "bsc", feed: part }] });
    let count = 0;
    for await (const _ of feed.events(new AbortController().signal)) {
      count += 1;
      if (count < 5_000) continue;
      await settle();
      gc();
      // Only the last event may still be referenced.
      expect(refs.slice(0, 4).map((ref) => ref.deref())).toEqual(Array(4).fill(undefined));
      break;
    }
    expect(count).toBe(5_000);
  });

  test("closes its parts when the reader stops without aborting", async () => {
    const parts = [new ToldFeed("bsc"), new ToldFeed("exchange")];
    const feed = mergeFeeds({
      name: "live",
      clock: new ManualClock(START),
      parts: parts.map((one) => ({ name: one.name, feed: one })),
    });
    for (const part of parts) part.tell(clock(0));
    for await (const _ of feed.events(new AbortController().signal)) break;
    expect(parts.map(({ isOpen }) => isOpen)).toEqual([false, false]);
  });

  test("ends normally if one part ended and another failed", async () => {
    await using market = new Joined(0);
    market.bsc.end(new Error("gone"));
    market.exchange.end();
    await market.ended;
    expect(market.notices).toEqual(["bsc has failed: gone; continuing without it"]);
  });

  test.each([
    [["live", "live"], "live"],
    [["live", "recorded"], "recorded"],
    [["simulated", "recorded"], "simulated"],
    [["live", "simulated"], "simulated"],
  ] satisfies (readonly [Origin[], Origin])[])("of origins %j has the weakest one: %s", (origins, origin) => {
    const facts = { trades: false, liquidity: false, listings: false, profiles: false };
    const parts = origins.map((one, index) => ({
      name: one,
      feed: Object.assign(new ToldFeed(one), {
        origin: one,
        facts: { ...facts, ...(index === 0 ? { trades: true } : { listings: true }) },
      }),
    }));
    const feed = mergeFeeds({ name: "all", parts, clock: new ManualClock() });
    expect(feed.origin).toBe(origin);
    expect(feed.facts).toEqual({ ...facts, trades: true, listings: true });
  });
});
