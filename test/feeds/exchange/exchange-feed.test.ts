import { describe, expect } from "vitest";
import type { Candle, MarketEvent } from "../../../src/base/market/index.ts";
import { createBinance } from "../../../src/feeds/exchange/binance.ts";
import { createExchangeFeed } from "../../../src/feeds/exchange/exchange-feed.ts";
import { createGate } from "../../../src/feeds/exchange/gate.ts";
import { createKucoin } from "../../../src/feeds/exchange/kucoin.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { test } from "../../support/time/still-running.ts";
import type { Mischief } from "./mischief.ts";
import { candleOf, StandIn, type StandInPair } from "./stand-in.ts";

const START = Date.UTC(2026, 5, 1, 12, 0, 40);
const MINUTE = 60_000;
const PAIRS: readonly StandInPair[] = [
  { venue: "binance", base: "BTC", quoteVolume: 9e9 },
  { venue: "binance", base: "BTC", quote: "USDC", quoteVolume: 1e9 },
  { venue: "binance", base: "SOL", quoteVolume: 5e8 },
  { venue: "binance", base: "USDC", quoteVolume: 8e9 },
  { venue: "binance", base: "DUST", quoteVolume: 10 },
  { venue: "kucoin", base: "BTC", quoteVolume: 2e9 },
  { venue: "kucoin", base: "KCS", quoteVolume: 5e6 },
  { venue: "gate", base: "GT", quoteVolume: 7e6 },
  { venue: "gate", base: "ETH3L", quoteVolume: 7e6 },
  { venue: "gate", base: "ODD", quote: "TRY", quoteVolume: 7e6 },
];
/** The market in which each token is followed. */
const HOME: Readonly<Record<string, string>> = {
  BTC: "BTCUSDT",
  SOL: "SOLUSDT",
  KCS: "KCS-USDT",
  GT: "GT_USDT",
};

/** Starts a stand-in and a feed that follows it, at up to `factor` times real time. */
async function followed(factor = 40, minutes = 5) {
  const clock = new PacedClock(factor, START);
  const server = await new StandIn(clock, PAIRS).listen();
  const notices: string[] = [];
  const stop = new AbortController();
  const { url, streamUrl } = server;
  const feed = createExchangeFeed({
    venues: [
      createBinance({ url, streamUrl }),
      createKucoin({ url, connectId: () => "test" }),
      createGate({ url, streamUrl, now: () => clock.now() }),
    ],
    quotes: ["USDT", "USDC"],
    minVolume: 1e6,
    warmupMs: minutes * MINUTE,
    clock,
    notify: (_level, message) => notices.push(message),
  });
  const events: MarketEvent[] = [];
  let check: () => void = () => {};
  const reading = (async () => {
    for await (const event of feed.events(stop.signal)) {
      events.push(event);
      check();
    }
  })();
  return {
    clock,
    server,
    feed,
    notices,
    events,
    /** Resolves when the condition holds for the emitted events. */
    until: (holds: () => boolean) =>
      new Promise<void>((resolve, reject) => {
        const timer = setInterval(() => check(), 20);
        check = () => {
          if (!holds()) return;
          clearInterval(timer);
          resolve();
        };
        reading.then(() => reject(new Error("the feed ended")), reject);
        check();
      }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await reading;
      await server[Symbol.asyncDispose]();
    },
  };
}

const candles = (events: readonly MarketEvent[]) =>
  events.filter((event): event is Candle => event.kind === "candle");
const clocks = (events: readonly MarketEvent[]) =>
  events.flatMap((event) => (event.kind === "clock" ? [event.at] : []));
/** Returns the last version of each token's minutes. */
const finalOf = (events: readonly MarketEvent[]) =>
  new Map(candles(events).map((candle) => [`${candle.token} ${candle.openAt}`, candle]));

/** Returns the errors in the emitted minutes up to this one: gaps and wrong numbers. */
function faults(
  events: readonly MarketEvent[],
  tokens: readonly string[],
  fromMs: number,
  toMs: number,
): string[] {
  const reported = finalOf(events);
  const wrong: string[] = [];
  for (let openAt = fromMs; openAt < toMs; openAt += MINUTE) {
    for (const token of tokens) {
      const candle = reported.get(`${token} ${openAt}`);
      const { open, high, low, close, volume } = candleOf(HOME[token] ?? "", openAt);
      if (!candle) wrong.push(`${token} ${new Date(openAt).toISOString()} is missing`);
      else if (
        [candle.open, candle.high, candle.low, candle.close, candle.volume].join() !==
        [open, high, low, close, volume].join()
      )
        wrong.push(`${token} ${new Date(openAt).toISOString()} is wrong`);
    }
  }
  return wrong;
}

describe("three exchanges", () => {
  test("are merged into one market: the past first, then each minute at its end, each token from its preferred market", async () => {
    await using run = await followed();
    const { events, until } = run;
    const live = Math.ceil(START / MINUTE) * MINUTE + 2 * MINUTE;
    await until(() => clocks(events).some((at) => at >= live + MINUTE + 6_000));
    const [first = 0] = clocks(events);
    expect(faults(events, Object.keys(HOME), first, live)).toEqual([]);
    expect(new Set(candles(events).map(({ token }) => token))).toEqual(new Set(Object.keys(HOME)));
    const steps = clocks(events).map((at, index, all) => at - (all[index - 1] ?? at - 1_000));
    expect(new Set(steps)).toEqual(new Set([1_000]));
    for (const token of Object.keys(HOME)) {
      const ofToken = events.filter((event) => "token" in event && event.token === token);
      expect(ofToken[0]).toMatchObject({ kind: "profile", symbol: token });
      expect(ofToken.slice(1).every(({ kind }) => kind === "candle")).toBe(true);
    }
    // A candle precedes the clock of its minute's end, or amends it within the engine's bound.
    let clock = 0;
    const tooLate = events.filter((event) => {
      if (event.kind === "clock") clock = event.at;
      return event.kind === "candle" && event.at < clock - 5_000;
    });
    expect(tooLate).toEqual([]);
    expect(run.feed.trouble?.()).toBeUndefined();
  });

  test("continue without one that is down, which is reported and rejoins later", async () => {
    await using run = await followed();
    const { events, until, server, feed } = run;
    server.mischief.set("kucoin", "500");
    server.cut("kucoin");
    await until(() => clocks(events).length > 0 && candles(events).some(({ token }) => token === "GT"));
    await until(() => /kucoin/.test(feed.trouble?.() ?? ""));
    expect(feed.trouble?.()).toMatch(/^kucoin /);
    const seen = clocks(events).length;
    await until(() => clocks(events).length > seen + 30);
    server.mischief.delete("kucoin");
    const back = events.length;
    await until(() => candles(events.slice(back)).some(({ token }) => token === "KCS"));
    await until(() => feed.trouble?.() === undefined);
  });

  test("stop time while none is live, then fill in the missing minutes without loss or repetition", async () => {
    await using run = await followed(80);
    const { events, until, server, clock } = run;
    const first = Math.ceil(START / MINUTE) * MINUTE + MINUTE;
    await until(() => clocks(events).some((at) => at >= first));
    const venues = ["binance", "kucoin", "gate"] as const;
    for (const venue of venues) {
      server.mischief.set(venue, "hang");
      server.cut(venue);
    }
    await until(() => clock.now() - (clocks(events).at(-1) ?? 0) > 20_000);
    const stoppedAt = clocks(events).at(-1) ?? 0;
    await until(() => clock.now() - stoppedAt > 3 * MINUTE);
    expect(clocks(events).at(-1)).toBe(stoppedAt);
    for (const venue of venues) server.mischief.delete(venue);
    const backAt = Math.ceil(clock.now() / MINUTE) * MINUTE;
    await until(() => clocks(events).some((at) => at >= backAt + 2 * MINUTE));
    const [began = 0] = clocks(events);
    // The exchange that returns first is complete. The others may reconnect a little later.
    const wrong = Object.keys(HOME).map((token) => faults(events, [token], began, backAt - MINUTE).length);
    expect(Math.min(...wrong)).toBe(0);
    const steps = clocks(events).map((at, index, all) => at - (all[index - 1] ?? at - 1_000));
    expect(new Set(steps)).toEqual(new Set([1_000]));
    const untouched = candles(events).filter(({ openAt }) => openAt < backAt - 2 * MINUTE);
    expect(new Set(untouched.map(({ token, openAt, volume }) => `${token} ${openAt} ${volume}`)).size).toBe(
      untouched.length,
    );
  });

  test("use their own time if the machine's clock is wrong", async () => {
    const clock = new PacedClock(40, START);
    await using server = await new StandIn(clock, PAIRS.slice(0, 1)).listen();
    const stop = new AbortController();
    const { url, streamUrl } = server;
    const feed = createExchangeFeed({
      venues: [createBinance({ url, streamUrl })],
      quotes: ["USDT"],
      minVolume: 0,
      warmupMs: 0,
      clock: clock.offBy(-3 * MINUTE),
    });
    let candle: Candle | undefined;
    let at = 0;
    for await (const event of feed.events(stop.signal)) {
      if (event.kind === "clock") at = event.at;
      if (event.kind === "candle" && event.openAt > START) candle ??= event;
      if (candle && at > candle.at + 6_000) break;
    }
    expect(clock.now() - at).toBeLessThan(MINUTE);
    expect(candle?.token).toBe("BTC");
  });

  test.each(["429", "429 after", "cut", "html", "types", "missing"] satisfies Mischief[])(
    "an exchange that answers with %s at the start is queried again until it succeeds",
    async (mischief) => {
      const clock = new PacedClock(40, START);
      await using server = await new StandIn(clock, PAIRS.slice(0, 1)).listen();
      server.mischief.set("binance", mischief);
      const notices: string[] = [];
      const { url, streamUrl } = server;
      const feed = createExchangeFeed({
        venues: [createBinance({ url, streamUrl })],
        quotes: ["USDT"],
        minVolume: 0,
        warmupMs: MINUTE,
        clock,
        notify: (_level, message) => {
          notices.push(message);
          server.mischief.delete("binance");
        },
      });
      const reported: MarketEvent[] = [];
      for await (const event of feed.events(new AbortController().signal)) {
        reported.push(event);
        if (event.kind === "candle") break;
      }
      expect(notices[0]).toMatch(/^binance (returned|answered|broke off)/);
      expect(candles(reported)).toHaveLength(1);
    },
  );
});
