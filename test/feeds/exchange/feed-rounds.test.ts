import { describe, expect } from "vitest";
import { TrendEngine } from "../../../src/engine/index.ts";
import { LAG_MS } from "../../../src/feeds/exchange/exchange-feed.ts";
import { stillRunning, test } from "../../support/time/still-running.ts";
import { candlesOf, MINUTE, market, START } from "./scripted-market.ts";
import { candleNews, HANGS, settle, until } from "./scripted-venue.ts";

const SECOND = 1_000;
/** Time of the last clock ten seconds after the start. */
const PUBLISHED = SECOND * Math.floor((10_000 - LAG_MS) / SECOND);

describe("the exchanges' market", () => {
  test("emits a minute soon after its end, amends it for five more seconds, and emits a token's profile once", async () => {
    await using run = await market({ binance: { A: 1 } });
    const { connected, pass, server, events, clockMs } = run;
    await connected();
    await pass(1_000);
    server().say(candleNews("A", START, undefined, 1));
    await pass(MINUTE + LAG_MS - 2_000);
    expect([clockMs(), candlesOf(events)]).toEqual([MINUTE - 1_000, []]);
    await pass(1_000);
    expect([clockMs(), candlesOf(events)]).toEqual([MINUTE, ["A 0 1"]]);
    await pass(5_000);
    server().say(candleNews("A", START, undefined, 2));
    await pass(250);
    await pass(250);
    expect([clockMs(), candlesOf(events)]).toEqual([MINUTE + 5_000, ["A 0 1", "A 0 2"]]);
    await pass(1_000);
    server().say(candleNews("A", START, undefined, 3));
    server().say(candleNews("A", START + MINUTE, undefined, 1));
    await pass(MINUTE);
    expect(candlesOf(events)).toEqual(["A 0 1", "A 0 2", "A 1 1"]);
    expect(events.filter(({ kind }) => kind === "profile")).toHaveLength(1);
  });

  test("emits trades in the order of their times, each before the clock of its second and the minute's candle", async () => {
    await using run = await market({ binance: { A: 1, B: 1 } });
    const { connected, pass, server, events } = run;
    await connected();
    await pass(1_000);
    server().say(candleNews("A", START));
    server().sayTrade("A", 1, START + 1_500, START);
    server().sayTrade("B", 1, START + 1_400, START);
    server().sayTrade("A", 2, START + 2_000, START);
    await pass(1);
    await pass(58_500);
    server().sayTrade("B", 2, START + 59_999, START);
    server().sayTrade("A", 3, START + MINUTE, START);
    await pass(1);
    await pass(1_000);
    const told = events.slice(events.findIndex(({ kind }) => kind === "profile")).map((event) => {
      const at = event.at - START;
      return event.kind === "trade" ? `${event.token}${event.amount} ${at}` : `${event.kind} ${at}`;
    });
    expect(told.slice(0, 7)).toEqual([
      "profile 1400",
      "B1 1400",
      "profile 1500",
      "A1 1500",
      "clock 2000",
      "A2 2000",
      "clock 3000",
    ]);
    const tail = told.slice(told.indexOf("clock 59000") + 1);
    expect(tail).toEqual(["B2 59999", "candle 60000", "clock 60000", "A3 60000"]);
    expect(events.filter(({ kind }) => kind === "trade")[0]).toEqual({
      ...{ kind: "trade", at: START + 1_400, group: "exchange", pool: "B/USDT", token: "B" },
      ...{ side: "buy", price: "1", amount: "1", quoteUsd: "1" },
    });
  });

  test("emits a trade that comes more than five seconds late as a past trade", async () => {
    await using run = await market({ binance: { A: 1 } });
    const { connected, pass, server, events, clockMs } = run;
    await connected();
    await pass(20_000);
    const reached = clockMs();
    server().sayTrade("A", 1, START + reached - 5_001);
    server().sayTrade("A", 2, START + reached - 5_000);
    await until("both are emitted", () => {
      run.clock.advance(100);
      return events.filter(({ kind }) => kind === "trade").length === 2;
    });
    expect(events.filter(({ kind }) => kind === "trade")).toMatchObject([
      { amount: "1", at: START + reached, tradedAt: START + reached - 5_001 },
      { amount: "2", at: START + reached - 5_000 },
    ]);
  });

  test("names an unknown message only while no known one has followed", async () => {
    await using run = await market({ binance: { A: 1 } });
    const { connected, pass, server, feed } = run;
    await connected();
    const unknown = {
      kind: "unusable",
      what: "stream messages",
      reason: "it is of an unknown kind",
    } as const;
    server().say(...Array.from({ length: 40 }, () => unknown));
    await pass(1_000);
    await until("it is named", () => /of an unknown kind/.test(feed.trouble?.() ?? ""));
    server().say(...Array.from({ length: 60 }, () => candleNews("A", START)));
    await pass(1_000);
    await until("it is no longer named", () => feed.trouble?.() === undefined);
  });

  test("ignores minutes from the future", async () => {
    await using run = await market({ binance: { A: 1 } });
    const { connected, pass, server, events } = run;
    await connected();
    await pass(1_000);
    server().say(candleNews("A", START + MINUTE), candleNews("A", START + 2 * MINUTE));
    await pass(3 * MINUTE + LAG_MS);
    expect(candlesOf(events)).toEqual(["A 1 1"]);
  });

  test("resumes after a clock without emitting it again", async () => {
    await using run = await market({ binance: { A: 1 } }, { resumeAfterMs: START - 90_500 });
    const { connected, pass, events } = run;
    await connected();
    await pass(10_000);
    expect(events[0]).toEqual({ kind: "clock", at: START - 90_000 });
    expect(candlesOf(events)).toEqual(["A -2 1", "A -1 1"]);
  });

  test("uses the median of the exchanges' times", async () => {
    const volumes = { binance: { A: 1 }, kucoin: { B: 1 }, gate: { C: 1 } };
    await using run = await market(volumes);
    const { connected, server, pass, clockMs, feed } = run;
    for (const name of ["binance", "kucoin", "gate"] as const) await connected(name);
    server("kucoin").say(candleNews("B", 0, START + 20_000));
    server("gate").say(candleNews("C", 0, START - 40_000));
    await until("both exchanges are live", () => !/kucoin|gate/.test(feed.trouble?.() ?? ""));
    await pass(8_000, "binance", 5_000);
    expect(clockMs()).toBe(SECOND * Math.floor((13_000 - LAG_MS) / SECOND));
  });

  test("requests lists again after a second if they failed, and after ten minutes otherwise", async () => {
    await using run = await market({ binance: { A: 1 } }, {}, (servers) => {
      const one = servers.get("binance");
      if (one) one.answer = () => undefined;
    });
    const { clock, server, connected, pass, notices } = run;
    const lists = () => server().asked.filter((path) => path === "/pairs").length;
    for (const count of [1, 2, 3]) {
      await until(`the lists are requested for time ${count}`, () => lists() === count);
      await until(
        "the feed waits for the next attempt",
        () => clock.slept.filter((ms) => ms === 1_000).length === count,
      );
      if (count === 3) server().answer = (path) => server().usual(path);
      clock.advance(1_000);
    }
    await connected();
    server().volumes = { A: 1, B: 1 };
    const before = lists();
    await pass(598_000);
    expect(lists()).toBe(before);
    await pass(2_000);
    await until("the new token is followed", () => server().open.at(-1)?.heard.at(-1) === "+B");
    expect(notices).toContainEqual(
      expect.stringContaining("binance listed its markets; following 2 tokens, 1 new, 0 removed"),
    );
  });

  test("leaves a token on an exchange whose lists fail, even if another one lists it in the meantime", async () => {
    const volumes = { binance: { A: 10 }, kucoin: { A: 5, C: 5 } };
    await using run = await market(volumes);
    const { clock, server, connected } = run;
    await connected("binance");
    await connected("kucoin");
    const listed = (count: number) =>
      until("the lists were requested", () => clock.slept.filter((ms) => ms === 600_000).length === count);
    await listed(2);
    server("binance").answer = () => undefined;
    clock.advance(600_000);
    await listed(3);
    await until("binance's lists fail", () => clock.slept.includes(1_000));
    server("kucoin").volumes = { A: 100, B: 5, C: 5 };
    clock.advance(600_000);
    const heard = () => server("kucoin").served.flatMap((one) => one.heard);
    await until("the new token is followed", () => heard().includes("+B"));
    expect(heard()).not.toContain("+A");
  });

  test("waits at most 15 s at the start for an exchange that does not answer", async () => {
    const volumes = { binance: { A: 1 }, kucoin: { B: 1 } };
    await using run = await market(volumes, {}, (servers) => {
      const slow = servers.get("kucoin");
      if (slow) slow.answer = () => HANGS;
    });
    const { connected, pass, events } = run;
    await connected();
    await pass(14_000);
    expect(events).toEqual([]);
    await pass(2_000);
    await until("a clock event arrives", () => events.length > 0);
  });

  test.for([false, true])(
    "fills in each outage, emits nothing during it, and leaks no timers or listeners, starting at the present: %s",
    async (startsAtPresent) => {
      await using run = await market({ binance: { A: 1 } }, { startsAtPresent });
      const { clock, connected, reconnected, pass, server, events, clockMs, notices, feed } = run;
      await connected();
      // Soon after the start, when a leaked wait of the start would still be pending.
      await pass(5_000);
      const running = stillRunning();
      const requests = () =>
        notices.filter((one) => /^requested \d+ past minutes of 1 markets .* received those of 1$/.test(one));
      const first = requests().length;
      for (const round of [1, 2]) {
        const stoppedAt = clockMs();
        server().cut();
        server().isRefusing = true;
        clock.advance(11_000);
        await settle();
        const reported = events.length;
        clock.advance(5 * MINUTE);
        await settle();
        expect(events.length).toBe(reported);
        expect(feed.trouble?.()).toMatch(/^binance /);
        await reconnected();
        await pass(10_000);
        expect(clockMs()).toBeGreaterThan(stoppedAt + 5 * MINUTE);
        expect(requests()).toHaveLength(first + round);
        await until("nothing more runs", () => stillRunning().join() === running.join());
      }
      const minutes = candlesOf(events).map((one) => Number(one.split(" ")[1]));
      expect(minutes).toEqual(minutes.map((_, index) => (minutes[0] ?? 0) + index));
      expect(minutes.length).toBeGreaterThanOrEqual(10);
    },
  );

  test("resumes at the present, and its missed minutes follow as past candles when they arrive", async () => {
    const waiting: (() => void)[] = [];
    const options = { resumeAfterMs: START - 90_500, startsAtPresent: true };
    await using run = await market({ binance: { A: 1 } }, options, (servers) => {
      const one = servers.get("binance");
      if (!one) return;
      one.answer = (path, response) => {
        if (!path.startsWith("/minutes")) return one.usual(path);
        const head = { "content-type": "application/json" };
        waiting.push(() => response.writeHead(200, head).end(JSON.stringify(one.usual(path))));
        return HANGS;
      };
    });
    const { connected, pass, events, clockMs, feed } = run;
    await connected();
    await pass(10_000);
    expect([clockMs(), candlesOf(events)]).toEqual([PUBLISHED, []]);
    expect(feed.filling?.()).toMatchObject({ readMs: 0 });
    await until("the past has arrived", () => {
      for (const answer of waiting.splice(0)) answer();
      return feed.filling?.() === undefined;
    });
    await pass(1_000);
    expect(candlesOf(events)).toEqual(["A -2 1", "A -1 1"]);
    expect(new Set(events.flatMap(({ kind, at }) => (kind === "candle" ? [at] : [])))).toEqual(
      new Set([START + PUBLISHED]),
    );
  });

  test("requests the minutes that one exchange missed while another continued, and emits each minute once", async () => {
    await using run = await market({ binance: { A: 1 }, kucoin: { B: 1 } });
    const { clock, connected, pass, server, events, clockMs, feed } = run;
    await connected("binance");
    await connected("kucoin");
    const passBoth = async (minutes: number) => {
      for (let second = 0; second < minutes * 60; second++) {
        server().say(candleNews("QUIET", 0));
        await pass(1_000, "kucoin");
      }
    };
    await passBoth(2);
    server().say(candleNews("A", START + MINUTE));
    await passBoth(1);
    server().isRefusing = true;
    server().cut();
    await pass(4 * MINUTE, "kucoin");
    const silent = candlesOf(events).filter((one) => one.startsWith("A"));
    expect(silent).toEqual(["A 1 1"]);
    server().isRefusing = false;
    const requests = () => server().asked.filter((path) => path.startsWith("/minutes")).length;
    const before = requests();
    for (let tries = 0; tries < 100 && requests() === before; tries++) await pass(1_000, "kucoin");
    await until("the past has arrived", () => feed.filling?.() === undefined);
    await passBoth(1);
    const minutes = candlesOf(events).filter((one) => one.startsWith("A"));
    expect(minutes.slice(0, 5)).toEqual([1, 2, 3, 4, 5].map((minute) => `A ${minute} 1`));
    expect(new Set(minutes).size).toBe(minutes.length);
    const engine = new TrendEngine();
    for (const event of events) engine.accept(event);
    expect(engine.rejected.late).toBe(0);
    expect(clockMs()).toBeGreaterThan(clock.monotonic() - LAG_MS - 2_000);
  });

  test("can be read only once", async () => {
    await using run = await market({ binance: { A: 1 } });
    await run.connected();
    const again = run.feed.events(new AbortController().signal)[Symbol.asyncIterator]();
    await expect(again.next()).rejects.toThrow("only once");
  });
});
