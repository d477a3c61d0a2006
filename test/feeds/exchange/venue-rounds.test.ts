import { describe, expect } from "vitest";
import type { MinuteCandle } from "../../../src/feeds/exchange/venue.ts";
import { VenueFollower } from "../../../src/feeds/exchange/venue-follower.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test } from "../../support/time/still-running.ts";
import { candleNews, ScriptedVenue, type ScriptedVenueOptions, settle, until } from "./scripted-venue.ts";

const MINUTE = 60_000;

/** Follows a scripted exchange with a manual clock. */
async function follow(pairs: readonly string[], options: ScriptedVenueOptions = {}) {
  const clock = new ManualClock();
  const server = await new ScriptedVenue(options).listen();
  const candles: string[] = [];
  const notices: string[] = [];
  const gaps: string[] = [];
  const stop = new AbortController();
  const onCandle = (pair: string, { openAt }: MinuteCandle) => candles.push(`${pair} ${openAt}`);
  const fill = (some: readonly string[], fromMs: number, toMs: number) =>
    follower.fill(some, fromMs, toMs, onCandle, () => {});
  const follower = new VenueFollower({
    venue: server.venue,
    clock,
    random: () => 0.5,
    signal: stop.signal,
    onCandle,
    onTrade: () => {},
    onGap: (some, sinceMs) => gaps.push(`${some.join()} ${sinceMs}`),
    notify: (_level, message) => notices.push(message),
  });
  follower.follow(new Set(pairs));
  const run = { follower, server, clock, candles, notices, gaps, fill };
  /** Returns the pairs of each open connection. */
  const carried = () =>
    server.open.map(({ heard }) => {
      const held = new Set<string>();
      for (const text of heard) {
        if (text.startsWith("+")) held.add(text.slice(1));
        else held.delete(text.slice(1));
      }
      return [...held].join();
    });
  const carries = (...lists: readonly string[]) =>
    until(`${lists.join(" and ")} are carried`, () => carried().toSorted().join(" ") === lists.join(" "));
  return {
    ...run,
    carries,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await until("every connection is closed", () => server.open.length === 0);
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("a followed exchange", () => {
  test("is live for 10 s after its last message, and again with the next", async () => {
    await using run = await follow(["A"]);
    const { follower, server, clock, carries } = run;
    await carries("A");
    expect([follower.isLive, follower.trouble]).toEqual([false, "sends nothing"]);
    for (const round of [0, 1]) {
      server.say(candleNews("A", round * MINUTE));
      await until("its news arrive", () => follower.isLive);
      expect(follower.trouble).toBeUndefined();
      clock.advance(10_000);
      expect(follower.isLive).toBe(true);
      clock.advance(1);
      expect([follower.isLive, follower.trouble]).toEqual([false, "sends nothing"]);
    }
  });

  test("estimates its time by the fastest message of this minute and the previous one", async () => {
    await using run = await follow(["A"]);
    const { follower, server, clock, candles, carries } = run;
    await carries("A");
    expect(follower.nowMs).toBeUndefined();
    const ahead = async (ms: number) => {
      const count = candles.length;
      server.say(candleNews("A", 0, clock.monotonic() + ms));
      await until("a candle arrives", () => candles.length > count);
      return (follower.nowMs ?? Number.NaN) - clock.monotonic();
    };
    expect([await ahead(1_000), await ahead(500)]).toEqual([1_000, 1_000]);
    const almostAMinute = async () => {
      for (let step = 0; step < 2; step++) {
        clock.advance(20_000);
        expect(await ahead(0)).toBe(1_000);
      }
    };
    await almostAMinute();
    clock.advance(20_000);
    expect(await ahead(700)).toBe(1_000);
    clock.advance(1);
    expect([await ahead(300), await ahead(400)]).toEqual([1_000, 1_000]);
    await almostAMinute();
    clock.advance(20_001);
    expect([await ahead(200), await ahead(900)]).toEqual([400, 900]);
  });

  test("puts its pairs on as many streams as needed, and adds pairs to streams with free capacity", async () => {
    await using run = await follow(["A", "B", "C"], { maxPairs: 2 });
    const { follower, carries, server } = run;
    await carries("A,B", "C");
    follower.follow(new Set(["A", "C", "D", "E"]));
    await carries("A,D", "C,E");
    follower.follow(new Set(["A", "C", "D", "E", "F"]));
    await carries("A,D", "C,E", "F");
    follower.follow(new Set(["A", "C", "D", "E", "F"]));
    await settle();
    expect(server.served).toHaveLength(3);
  });

  test("reports how many of its streams are down, and since when a broken stream has missed data", async () => {
    await using run = await follow(["A", "B"], { maxPairs: 1 });
    const { follower, server, clock, notices, candles, carries, gaps } = run;
    await carries("A", "B");
    // The third round is the second interruption of the first stream.
    for (const round of [1, 2, 3]) {
      server.say(candleNews("A", 0));
      await until("its news arrive", () => follower.isLive);
      const [first] = server.open;
      const pair = first?.heard[0]?.slice(1);
      const missed = `${pair} ${clock.now()}`;
      const heard = candles.length;
      first?.socket.send(JSON.stringify(candleNews(pair ?? "", 0)));
      await until("its last news arrive", () => candles.length > heard);
      // The loss is noticed later.
      clock.advance(2_000);
      first?.socket.terminate();
      await until("the loss is noticed", () => follower.trouble !== undefined);
      expect(follower.trouble).toBe("1 of 2 streams are down: closed the connection (1006)");
      clock.advance(round === 1 ? 1_500 : 2_500);
      await until("the gap is reported", () => gaps.includes(missed));
      await carries("A", "B");
      await until(
        "the new connection is reported",
        () => notices.filter((one) => /^\w+ stream is connected again/.test(one)).length === round,
      );
    }
    expect(notices.filter((one) => /connected again/.test(one))).toHaveLength(3);
  });

  test("is reported with its trouble when all its streams are down", async () => {
    await using run = await follow(["A", "B"], { maxPairs: 1 });
    const { follower, server, carries } = run;
    await carries("A", "B");
    server.isRefusing = true;
    server.cut();
    await until("both losses are noticed", () => follower.trouble === "closed the connection (1006)");
    expect(follower.report()).toMatchObject({ part: "exchange", service: "binance", isUp: false });
  });

  test("is reported for at most five of its refusals", async () => {
    await using run = await follow(["A"]);
    const { follower, server, notices, carries } = run;
    await carries("A");
    for (let count = 1; count <= 7; count++) server.say({ kind: "refused", reason: `refuses ${count}` });
    server.say(candleNews("A", 0));
    await until("all messages arrive", () => follower.isLive);
    expect(notices).toEqual([1, 2, 3, 4, 5].map((count) => `binance refuses ${count}`));
  });

  test("passes on whole minutes only, and lists its stream's last volumes", async () => {
    await using run = await follow(["A"]);
    const { follower, server, candles, carries } = run;
    server.volumes = { A: 1, B: 2 };
    await carries("A");
    server.say(
      candleNews("A", 30_000),
      { kind: "volume", pair: "A", quoteVolume: 7 },
      candleNews("A", MINUTE),
    );
    await until("all messages arrive", () => candles.length > 0);
    expect(candles).toEqual([`A ${MINUTE}`]);
    expect(Object.fromEntries((await follower.list())?.volumes ?? [])).toEqual({ A: 7, B: 2 });
    server.answer = (path) => (path === "/volumes" ? undefined : server.usual(path));
    expect(await follower.list()).toBeUndefined();
  });
});

describe("a back-fill", () => {
  test("requests as many minutes at once as the exchange allows, up to the end, and accepts nothing else", async () => {
    await using run = await follow([]);
    const { server, candles, fill } = run;
    const minutes = (from: number, to: number) => `/minutes/A/${from * MINUTE}/${to * MINUTE}`;
    server.answer = (path) => {
      const body = server.usual(path);
      const [, , , from = 0, to = 0] = path.split("/").map(Number);
      return Array.isArray(body) ? [from - MINUTE, ...body, from + 1, to] : body;
    };
    expect(await fill(["A"], 0, 5 * MINUTE)).toBe(1);
    expect(server.asked).toEqual([minutes(0, 2), minutes(2, 4), minutes(4, 5)]);
    expect(candles).toEqual([0, 1, 2, 3, 4].map((minute) => `A ${minute * MINUTE}`));
  });

  test("stops after three consecutive failures, but not after scattered ones", async () => {
    await using run = await follow([]);
    const { server, fill } = run;
    const pairs = Array.from({ length: 40 }, (_, index) => `P${index}`);
    server.answer = (path) => (/P\d*[05]\//.test(path) ? undefined : server.usual(path));
    expect(await fill(pairs, 0, MINUTE)).toBe(32);
    expect(server.asked).toHaveLength(40);
    server.asked.length = 0;
    server.answer = () => undefined;
    expect(await fill(pairs, 0, MINUTE)).toBe(0);
    // Eight run concurrently. Each of the first two failures lets one more start.
    expect(server.asked.length).toBeGreaterThanOrEqual(3);
    expect(server.asked.length).toBeLessThanOrEqual(10);
  });
});
