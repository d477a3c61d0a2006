import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { playPump } from "../pump-market.ts";
import {
  address,
  candle,
  createRandom,
  drive,
  listing,
  MINUTE,
  profile,
  START,
  trade,
  withClocks,
} from "../trend-kit.ts";

const CANDLES_ONLY = { trades: false, liquidity: false, listings: false, profiles: false };
const HOUR_MINUTES = 60;
const FALL_FROM = 70;

/**
 * Returns one pair's candles. The whole market falls by 6 % in the twenty minutes from `FALL_FROM`.
 * `own` is the pair's additional move.
 */
function pair(
  name: string,
  minutes: number,
  random: () => number,
  {
    own = () => 0,
    trades = () => true,
  }: { own?: (minute: number) => number; trades?: (minute: number) => boolean } = {},
): MarketEvent[] {
  const events: MarketEvent[] = [profile(START, name, { group: "exchange" })];
  let before = 1;
  for (let minute = 0; minute < minutes; minute++) {
    const market = -0.06 * Math.min(1, Math.max(0, (minute - FALL_FROM) / 20));
    const close = Math.exp(market + own(minute) + (random() - 0.5) * 0.002);
    if (!trades(minute)) continue;
    events.push(candle(START + (minute + 1) * MINUTE, name, before, close, { group: "exchange" }));
    before = close;
  }
  return events;
}

function play(events: readonly MarketEvent[], minutes: number, fromMinute: number) {
  const charts: Snapshot["charts"]["exchange"][] = [];
  let minute = -1;
  drive(
    new TrendEngine({ facts: CANDLES_ONLY }),
    withClocks(events, START + minutes * MINUTE),
    (snapshot, at) => {
      const now = Math.floor((at - START) / MINUTE);
      if (now === minute || now < fromMinute) return;
      minute = now;
      charts.push(snapshot.charts.exchange);
    },
  );
  return charts.map((chart) => chart.map(({ token }) => token.symbol));
}

test("tokens without a trade for fifty minutes are not charted while the market falls and three rise", () => {
  const random = createRandom(1);
  const minutes = FALL_FROM + 30;
  const events = [
    ...Array.from({ length: 12 }, (_, n) =>
      pair(`IDLE${n}`, minutes, random, { trades: (at) => at < FALL_FROM - 25 }),
    ),
    ...Array.from({ length: 20 }, (_, n) => pair(`BUSY${n}`, minutes, random)),
    ...Array.from({ length: 3 }, (_, n) =>
      pair(`RISE${n}`, minutes, random, { own: (at) => 0.003 * Math.max(0, at - FALL_FROM) }),
    ),
  ].flat();
  const charts = play(events, minutes, minutes - 5);
  expect(charts.length).toBeGreaterThanOrEqual(5);
  expect(charts.flat().filter((symbol) => symbol.startsWith("IDLE"))).toEqual([]);
  for (const chart of charts) {
    expect(chart.slice(0, 3).toSorted()).toEqual(["RISE0", "RISE1", "RISE2"]);
    expect(chart).toHaveLength(10);
  }
});

test("the pairs of an exchange without data do not lead the chart in the first twenty minutes", () => {
  const random = createRandom(2);
  const minutes = FALL_FROM + 25;
  const isCut = (minute: number) => minute >= FALL_FROM && minute < FALL_FROM + 20;
  const events = [
    ...Array.from({ length: 10 }, (_, n) => pair(`CUT${n}`, minutes, random, { trades: (at) => !isCut(at) })),
    ...Array.from({ length: 25 }, (_, n) => pair(`ON${n}`, minutes, random)),
  ].flat();
  const before = play(events, FALL_FROM, FALL_FROM - 20);
  const charts = play(events, FALL_FROM + 20, FALL_FROM + 1);
  const shareOfCut = (lists: readonly string[][]) =>
    lists.flat().filter((symbol) => symbol.startsWith("CUT")).length / lists.flat().length;
  // Ten of thirty-five pairs: by chance alone, they would be two of seven in a chart.
  expect(shareOfCut(before)).toBeGreaterThan(0.1);
  expect(Math.max(...charts.map((chart) => shareOfCut([chart])))).toBeLessThanOrEqual(0.5);
  expect(shareOfCut(charts.slice(10))).toBe(0);
});

test("streak and time_trended do not grow without data", () => {
  const random = createRandom(3);
  const events = Array.from({ length: 12 }, (_, n) => pair(`P${n}`, HOUR_MINUTES, random)).flat();
  const engine = new TrendEngine({ facts: CANDLES_ONLY });
  const heard = drive(engine, withClocks(events, START + HOUR_MINUTES * MINUTE));
  const streaks = new Map(heard.charts.exchange.map(({ token, streak }) => [token.symbol, streak]));
  const times = new Map(
    heard.leaderboards.exchange.map((entry) => [entry.object.symbol, entry.time_trended]),
  );
  const silence = withClocks([], START + 115 * MINUTE, START + HOUR_MINUTES * MINUTE + 1_000);
  let grown = 0;
  const last = drive(engine, silence, ({ charts }) => {
    for (const { token, streak } of charts.exchange)
      grown = Math.max(grown, streak - (streaks.get(token.symbol) ?? Number.POSITIVE_INFINITY));
  });
  expect(Math.max(...streaks.values())).toBeGreaterThan(10);
  expect(grown).toBeLessThanOrEqual(0);
  for (const entry of last.leaderboards.exchange) {
    // When the silence begins, the last chart counts for one more minute.
    expect(entry.time_trended).toBeLessThanOrEqual((times.get(entry.object.symbol) ?? 0) + 60);
  }
});

test("a token that a bot trades for cents is not charted", () => {
  const bots = Array.from({ length: 12 }, (_, n) => address(300 + n));
  const extra = bots.flatMap((token, n) => [
    profile(START - 2_000, token),
    listing(START - 1_000, token),
    ...Array.from({ length: 24 }, (_, round) =>
      trade(START + round * 3 * MINUTE + n * 11, token, {
        quoteUsd: "0.3",
        trader: "0xbot",
        side: round % 2 === 0 ? "buy" : "sell",
      }),
    ),
  ]);
  const charted = playPump({ extra }).last.charts.bsc.map(({ flare }) => flare.token.address);
  expect(charted.length).toBeGreaterThan(5);
  expect(charted.filter((token) => bots.includes(token))).toEqual([]);
});
