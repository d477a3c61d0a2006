import { afterEach, expect } from "vitest";
import { FIRST_EVENT_MS } from "../../../src/feeds/merge/feed-buffer.ts";
import { test } from "../../support/time/still-running.ts";
import { Joined, settle } from "./joined.ts";
import { candle, clock, report, SECOND, START, trade } from "./told-feed.ts";

const open: Joined[] = [];
/** Joins two parts. The machine's clock starts this many seconds after START. */
function join(nowS = 0): Joined {
  const joined = new Joined(nowS);
  open.push(joined);
  return joined;
}
afterEach(async () => {
  for (const joined of open.splice(0)) await joined.stop().catch(() => {});
});

test("a minute's candles precede its clock and trades of that second follow it, in any order of arrival", async () => {
  const { bsc, exchange, reported } = join(61);
  bsc.tell(clock(60), trade(60), clock(61));
  await settle();
  expect(reported).toEqual([]);
  exchange.tell(candle(60), clock(60), clock(61));
  await settle();
  expect(reported).toEqual([candle(60), clock(60), trade(60), clock(61)]);
});

test("silence of all parts is reported with advice, and so is its end", async () => {
  const market = join();
  await market.run(0, 20, []);
  expect(market.notices.at(-1)).toBe(
    "no part of the market responds, so there is no new data; try npm run flarewire -- doctor, which checks every endpoint",
  );
  const before = market.notices.length;
  await market.run(21, 30, [market.bsc]);
  expect(market.notices.slice(before)).toContain("the market responds again");
  expect(market.clockS).toBe(30);
});

test("if all parts have trouble from the start, the advice comes after three seconds", async () => {
  const market = join();
  for (const part of [market.bsc, market.exchange]) part.amiss = "no network";
  await market.run(0, 2, []);
  expect(market.notices).toEqual([]);
  await market.run(3, 3, []);
  expect(market.notices.join()).toContain("try npm run flarewire -- doctor");
  expect(market.feed.trouble?.()).toBe(
    "bsc has no data yet: no network; exchange has no data yet: no network",
  );
});

test("while a market starts, parts without data are not reported as trouble", async () => {
  const market = join();
  await market.run(0, 14, []);
  expect(market.notices).toEqual(
    ["bsc", "exchange"].map((name) => `${name} has no data yet; starting without it`),
  );
  await market.run(15, 17, [market.exchange]);
  expect(market.notices.slice(2).join()).not.toMatch(/no part of the market|silent/);
  expect(market.clockS).toBe(17);
});

test("a silent part delays the others for at most 13 seconds, and is reported with its age", async () => {
  const market = join();
  const { bsc, exchange } = market;
  await market.run(0, 5, [bsc, exchange]);
  expect(market.clockS).toBe(5);
  await market.run(6, 30, [exchange]);
  expect(market.clockS).toBe(30);
  // The wait itself is not reported, only its end.
  expect(market.notices).toEqual([
    "bsc is silent or more than 10 s behind the rest of the market; continuing without it",
  ]);
  const [silent, other] = market.feed.parts?.() ?? [];
  expect(silent).toMatchObject({
    name: "bsc",
    state: "stale",
    reason: "bsc has had no new data for more than 15 s",
    ageMs: 26_000,
  });
  expect(silent?.observedAtMs).toBe(START + 5 * SECOND);
  expect(other).toMatchObject({ name: "exchange", state: "live", reason: "" });
  expect(market.feed.trouble?.()).toBe("bsc has had no new data for more than 15 s");
});

test("a part that is behind what it could read is stale and as old as that; the market is only if every part that reports is", async () => {
  const market = join();
  const { bsc, exchange } = market;
  await market.run(0, 5, [bsc, exchange]);
  const parts = () => (market.feed.parts?.() ?? []).map(({ state, ageMs }) => [state, ageMs]);
  bsc.behind = 300_000;
  expect([parts(), market.feed.behindMs?.()]).toEqual([
    [
      ["stale", 300_000],
      ["live", SECOND],
    ],
    0,
  ]);
  expect(market.feed.trouble?.()).toBe("bsc is behind and catching up");
  exchange.behind = 60_000;
  expect(market.feed.behindMs?.()).toBe(60_000);
  exchange.behind = 0;
  await market.run(6, 30, [bsc]);
  expect(market.feed.behindMs?.()).toBe(300_000);
  bsc.end();
  await settle();
  expect(market.feed.behindMs?.()).toBe(0);
});

test("the others wait for at most 14 seconds", async () => {
  const market = join();
  const { bsc, exchange } = market;
  await market.run(0, 5, [bsc, exchange]);
  await market.run(6, 18, [exchange]);
  expect(market.clockS).toBe(5);
  await market.run(19, 20, [exchange]);
  expect(market.clockS).toBe(20);
});

test("a recovered part emits its facts, and its trades and candles as past ones, and is waited for again once it is in step", async () => {
  const market = join();
  const { bsc, exchange, reported } = market;
  await market.run(0, 5, [bsc, exchange]);
  await market.run(6, 60, [exchange]);
  const before = reported.length;
  const pool = { group: "bsc", pool: "0xq", token: "0xbb" } as const;
  bsc.tell(trade(20), { kind: "listing", at: START + 21 * SECOND, ...pool, liquidity: "5000" });
  bsc.tell({ kind: "liquidity", at: START + 22 * SECOND, ...pool, usd: "9", cause: "remove" });
  bsc.tell(candle(22), report(22));
  bsc.tell({ kind: "profile", at: START + 23 * SECOND, group: "bsc", token: "0xbb", symbol: "B" });
  await settle();
  exchange.tell(clock(61));
  await settle();
  expect(reported.slice(before)).toEqual([
    { ...trade(20), at: START + 60 * SECOND, tradedAt: START + 20 * SECOND },
    {
      kind: "listing",
      at: START + 60 * SECOND,
      listedAt: START + 21 * SECOND,
      ...pool,
      liquidity: "5000",
    },
    { kind: "liquidity", at: START + 60 * SECOND, ...pool, usd: "9", cause: "remove" },
    { ...candle(22), at: START + 60 * SECOND },
    { kind: "profile", at: START + 60 * SECOND, group: "bsc", token: "0xbb", symbol: "B" },
    clock(61),
  ]);
  expect(market.feed.parts?.()[0]?.late).toBe(1);
  bsc.tick(24, 57);
  bsc.tell(trade(57));
  await settle();
  exchange.tell(clock(62));
  await settle();
  expect(reported.slice(before + 6)).toEqual([trade(57)]);
  expect(market.notices.at(-1)).toBe(
    "bsc has caught up with the rest of the market; 1 of its reports came too late so far",
  );
  expect(market.clockS).toBe(61);
  bsc.tick(58, 62);
  await settle();
  expect(market.clockS).toBe(62);
});

test("a part more than a minute behind is not waited for, joins when it is in step, and nothing is emitted twice", async () => {
  const market = join(3_600);
  const { bsc, exchange, reported } = market;
  exchange.tick(3_500, 3_561);
  bsc.tell(clock(3_501));
  await settle();
  // Exactly a minute behind, so the market waits for it.
  expect(market.clockS).toBe(3_501);
  exchange.tell(clock(3_562));
  await settle();
  expect(market.clockS).toBe(3_562);
  expect(market.feed.parts?.()[0]).toMatchObject({
    state: "stale",
    reason: "bsc is more than 10 s behind the rest of the market",
  });
  // However fast it catches up, the others continue.
  for (let second = 3_502; second < 3_540; second++) {
    bsc.tell(trade(second), clock(second));
    exchange.tell(clock(second + 61));
    await settle();
    expect(market.clockS).toBe(second + 61);
  }
  for (let second = 3_540; second <= 3_600; second++) bsc.tell(trade(second), clock(second));
  await settle();
  expect(market.notices.at(-1)).toMatch(/^bsc has caught up with the rest of the market/);
  bsc.tell(clock(3_601));
  exchange.tell(trade(3_602, "0xcc", "matic"), clock(3_602));
  await settle();
  expect(market.clockS).toBe(3_601);
  const clocks = reported.flatMap((event) => (event.kind === "clock" ? [event.at] : []));
  expect(clocks).toEqual([...new Set(clocks)].toSorted((a, b) => a - b));
  const trades = reported.flatMap((event) => (event.kind === "trade" ? [event.tradedAt ?? event.at] : []));
  // All of them, the late ones as past trades.
  expect(trades.map((at) => (at - START) / SECOND)).toEqual(
    Array.from({ length: 99 }, (_, index) => 3_502 + index),
  );
  expect(market.feed.parts?.()[0]?.late).toBe(0);
});

test("a part that runs at half speed, and so does not catch up, is not waited for", async () => {
  const market = join();
  const { bsc, exchange } = market;
  await market.run(0, 5, [bsc, exchange]);
  for (let second = 6; second <= 40; second++) {
    if (second % 2 === 0) bsc.tell(clock(5 + (second - 4) / 2));
    await market.run(second, second, [exchange]);
  }
  expect(market.clockS).toBe(40);
  expect(market.feed.parts?.()[0]).toMatchObject({
    state: "stale",
    reason: "bsc is more than 10 s behind the rest of the market",
  });
});

test("a part without any event is waited for only as long as a first event may take", async () => {
  const market = join();
  const { exchange } = market;
  await market.run(0, FIRST_EVENT_MS / SECOND - 1, [exchange]);
  expect(market.reported).toEqual([]);
  await market.run(FIRST_EVENT_MS / SECOND, FIRST_EVENT_MS / SECOND + 2, [exchange]);
  expect(market.clockS).toBeGreaterThanOrEqual(FIRST_EVENT_MS / SECOND + 1);
  expect(market.feed.parts?.()[0]).toMatchObject({
    state: "stale",
    reason: "bsc has no data yet",
    observedAtMs: undefined,
  });
});

test("events dated far ahead of this machine's clock are dropped and reported, without loss for their part or the others", async () => {
  const market = join();
  const { bsc, exchange, reported } = market;
  await market.run(0, 5, [bsc, exchange]);
  const year = 365 * 24 * 3_600;
  bsc.tell(trade(year), clock(year), ...Array.from({ length: 3_000 }, () => clock(year)));
  await settle();
  for (let second = 6; second <= 100; second++) {
    bsc.tell(trade(second));
    exchange.tell(trade(second, "0xcc", "matic"));
    await market.run(second, second, [bsc, exchange]);
    expect(market.clockS).toBe(second);
  }
  // All trades of both parts, and none that is dated a year ahead.
  expect(reported.filter(({ kind }) => kind === "trade").length).toBe(190);
  expect(market.feed.parts?.().map(({ late, state }) => [late, state])).toEqual([
    [0, "live"],
    [0, "live"],
  ]);
  expect(market.notices).toEqual([
    "bsc sends events more than 60 seconds ahead of this machine's clock and of the others; dropping them",
  ]);
});

test("a part slightly ahead of this machine's clock waits for the others", async () => {
  const market = join();
  const { bsc, exchange, reported } = market;
  await market.run(0, 5, [bsc, exchange]);
  bsc.tell(clock(60), trade(60));
  for (let second = 6; second <= 60; second++) {
    exchange.tell(trade(second, "0xcc", "matic"));
    await market.run(second, second, [exchange]);
    expect(market.clockS).toBe(second);
  }
  bsc.tell(clock(61));
  await market.run(61, 61, [exchange]);
  expect(reported.filter(({ kind }) => kind === "trade").length).toBe(56);
  expect(market.notices).toEqual([]);
});

test("setting the machine's clock back does not make current events count as future", async () => {
  const market = join();
  const { bsc, exchange } = market;
  await market.run(0, 5, [bsc, exchange]);
  market.time.jumpWall(-3_600_000);
  await market.run(6, 90, [bsc, exchange]);
  expect([market.clockS, market.notices]).toEqual([90, []]);
});

test("the market continues without a failed part, and fails when all have", async () => {
  const market = join();
  const { bsc, exchange } = market;
  await market.run(0, 2, [bsc, exchange]);
  bsc.end(new Error("no endpoint is of chain 56"));
  await market.run(3, 3, [exchange]);
  expect(market.clockS).toBe(3);
  expect(market.feed.parts?.()[0]).toMatchObject({
    state: "down",
    reason: "bsc has failed: no endpoint is of chain 56",
  });
  exchange.amiss = "kucoin is out";
  expect(market.feed.trouble?.()).toBe("bsc has failed: no endpoint is of chain 56; kucoin is out");
  exchange.end(new Error("gone"));
  await expect(market.ended).rejects.toThrow(
    "no part of the market is left: bsc has failed: no endpoint is of chain 56; exchange has failed: gone",
  );
});

test("leaving or aborting closes all parts", async () => {
  const market = join();
  const { bsc, exchange } = market;
  await market.run(0, 1, [bsc, exchange]);
  expect([bsc.isOpen, exchange.isOpen]).toEqual([true, true]);
  await market.stop();
  expect([bsc.isOpen, exchange.isOpen]).toEqual([false, false]);
  expect(() => market.feed.events(new AbortController().signal)).toThrow("only once");
});
