import { describe, expect } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { createBinance } from "../../../src/feeds/exchange/binance.ts";
import { createExchangeFeed } from "../../../src/feeds/exchange/exchange-feed.ts";
import { createKucoin } from "../../../src/feeds/exchange/kucoin.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { test as base } from "../../support/time/still-running.ts";
import { candleOf, StandIn, type StandInPair } from "./stand-in.ts";

const START = Date.UTC(2026, 5, 1, 12, 0, 40);
const MINUTE = 60_000;

/** Reads a feed of BTC on Binance and KCS on KuCoin until `leave` is called. */
function follow(clock: PacedClock, server: StandIn, warmupMs: number, startsAtPresent = false) {
  const { url, streamUrl } = server;
  const events: MarketEvent[] = [];
  const notices: string[] = [];
  const stop = new AbortController();
  const feed = createExchangeFeed({
    venues: [createBinance({ url, streamUrl }), createKucoin({ url, connectId: () => "test" })],
    quotes: ["USDT"],
    minVolume: 0,
    warmupMs,
    startsAtPresent,
    clock,
    random: () => 0,
    notify: (_level, message) => notices.push(message),
  });
  const reading = (async () => {
    for await (const event of feed.events(stop.signal)) events.push(event);
  })();
  const leave = async () => {
    stop.abort();
    await reading;
  };
  /** Resolves soon after the condition holds. */
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const timer = setInterval(() => {
        if (!holds()) return;
        clearInterval(timer);
        resolve();
      }, 10);
      reading.then(() => {
        clearInterval(timer);
        reject(new Error("the feed ended"));
      }, reject);
    });
  return { events, notices, leave, until };
}

/** Returns the open times and closes that were emitted for a token. */
const minutesOf = (events: readonly MarketEvent[], token: string) =>
  events.flatMap((event) =>
    event.kind === "candle" && event.token === token ? [[event.openAt, event.close] as const] : [],
  );
const lastClockOf = (events: readonly MarketEvent[]) =>
  events.findLast(({ kind }) => kind === "clock")?.at ?? 0;

const test = base.extend<{ pairs: StandInPair[] }>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern
  pairs: async ({}, use) =>
    use([
      { venue: "binance", base: "BTC", quoteVolume: 9e9 },
      { venue: "kucoin", base: "KCS", quoteVolume: 5e6 },
    ]),
});

describe("a market that is added later", () => {
  test("emits its whole past, in order and once, if the others' past is still loading", async ({ pairs }) => {
    const clock = new PacedClock(8, START);
    await using server = await new StandIn(clock, pairs).listen();
    server.mischief.set("kucoin", "500");
    const { events, leave, until } = follow(clock, server, 5 * MINUTE);
    try {
      await until(() => server.heard.join().includes("btcusdt@kline_1m"));
      server.mischief.set("binance", "hang");
      const isRequested = () => server.requests.some(({ path }) => path.startsWith("/api/v3/klines"));
      await until(() => isRequested());
      server.mischief.delete("kucoin");
      await until(() => events.some(({ kind }) => kind === "candle"));
      const [first] = events;
      const live = Math.floor(START / MINUTE) * MINUTE;
      const expected = [];
      for (let at = first?.at ?? 0; at < live; at += MINUTE)
        expected.push([at, candleOf("KCS-USDT", at).close]);
      await until(() => lastClockOf(events) >= live);
      expect(minutesOf(events, "KCS").filter(([openAt]) => openAt < live)).toEqual(expected);
      expect(expected.length).toBeGreaterThan(3);
      const times = events.map(({ at }) => at);
      expect(times).toEqual(times.toSorted((one, two) => one - two));
    } finally {
      await leave();
    }
  });

  test("gets its past at once, before its first present minute, without delaying others", async ({
    pairs,
  }) => {
    // The second request of the lists comes early in a minute.
    const clock = new PacedClock(60, START - 30_000);
    await using server = await new StandIn(clock, pairs).listen();
    const { events, notices, leave, until } = follow(clock, server, 10 * MINUTE);
    try {
      await until(() => minutesOf(events, "KCS").length > 0);
      pairs.push({ venue: "binance", base: "NEW", quoteVolume: 8e9 });
      const isPresent = (event: MarketEvent) =>
        event.kind === "candle" && event.token === "NEW" && event.at === event.openAt + MINUTE;
      await until(() => events.filter(isPresent).length > 1);
      const minutes = minutesOf(events, "NEW");
      const from = minutes[0]?.[0] ?? 0;
      expect(minutes.length).toBeGreaterThan(10);
      expect(minutes).toEqual(
        minutes.map((_, index) => [from + index * MINUTE, candleOf("NEWUSDT", from + index * MINUTE).close]),
      );
      expect(notices.join("\n")).toContain("past minutes of 1 markets on binance and received those of 1");
      expect(notices.filter((notice) => notice.includes("arrived too late to amend"))).toEqual([]);
      const engine = new TrendEngine();
      for (const event of events) engine.accept(event);
      expect(engine.rejected.late).toBe(0);
      const seconds = events.flatMap((event) => (event.kind === "clock" ? [event.at] : []));
      expect(new Set(seconds.slice(1).map((at, index) => at - (seconds[index] ?? 0)))).toEqual(
        new Set([1_000]),
      );
    } finally {
      await leave();
    }
  });
});

describe("a market that starts at the present", () => {
  test("has its present at once and each token's past as soon as its exchange returns it", async ({
    pairs,
  }) => {
    const clock = new PacedClock(24, START);
    await using server = await new StandIn(clock, pairs).listen();
    const { events, leave, until } = follow(clock, server, 30 * MINUTE, true);
    try {
      const isPresent = (event: MarketEvent) =>
        event.kind === "candle" && event.token === "KCS" && event.at === event.openAt + MINUTE;
      await until(() => events.some(isPresent));
      // The first clock is this minute's, and time never goes back to the past.
      expect(events[0]?.at).toBe(Math.floor(START / MINUTE) * MINUTE);
      const times = events.map(({ at }) => at);
      expect(times).toEqual(times.toSorted((one, two) => one - two));
      for (const token of ["BTC", "KCS"]) {
        const opens = minutesOf(events, token).map(([openAt]) => openAt);
        const from = opens[0] ?? 0;
        expect(opens.length).toBeGreaterThan(29);
        expect(opens).toEqual(opens.map((_, index) => from + index * MINUTE));
      }
      const engine = new TrendEngine();
      for (const event of events) engine.accept(event);
      expect(engine.rejected.late).toBe(0);
    } finally {
      await leave();
    }
  });
});
