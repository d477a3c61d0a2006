import { expect, test } from "vitest";
import type { MarketEvent, MarketGroup } from "../../../src/base/market/index.ts";
import { Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import {
  address,
  candle,
  drive,
  liquidity,
  listing,
  MINUTE,
  profile,
  SECOND,
  START,
  trade,
  withClocks,
} from "../trend-kit.ts";

const RECORDED = { trades: false, liquidity: false, listings: false, profiles: true };
const nameOf = (group: MarketGroup, n: number) => (group === "exchange" ? `T${n}` : address(n));

/**
 * Returns candles of one token whose close after minute i is `closes[i]`; a hole is a minute
 * without candle.
 */
function candles(
  token: string,
  closes: readonly (number | null)[],
  group: MarketGroup = "bsc",
): MarketEvent[] {
  return closes.flatMap((close, minute) =>
    close === null ? [] : [candle(START + (minute + 1) * MINUTE, token, close, close, { group })],
  );
}

const rising = (percent: number, minutes: number) =>
  Array.from({ length: minutes }, (_, minute) => 1 + (percent / 100) * (minute / minutes));

test("average, change and candles cover the last sixty minutes; silent minutes are flat", () => {
  const closes = [9, ...Array.from({ length: 59 }, () => 2), null, 4];
  const engine = new TrendEngine({ facts: RECORDED });
  const events = [profile(START, address(1)), ...candles(address(1), closes)];
  const { charts } = drive(engine, withClocks(events, START + 60 * MINUTE));
  const [before] = charts.bsc;
  expect(before?.most_recent_price_average).toBe("2.116666667");
  expect(before?.latest_candle_prices).toHaveLength(60);
  expect(before?.latest_candle_prices[0]).toBe(325.1969);
  const [item] = drive(
    engine,
    withClocks(events.slice(-1), START + 62 * MINUTE, START + 60 * MINUTE + SECOND),
  ).charts.bsc;
  expect(item?.most_recent_price_average).toBe("2.033333333");
  expect(item?.most_recent_price).toBe("4.0000000000");
  expect(item?.price_change_from_average).toBe(96.7213);
  expect(item?.latest_candle_prices).toEqual([...Array.from({ length: 59 }, () => -1.6393), 96.7213]);
  Snapshot.parse(engine.snapshot());
});

test("a chart ranks by rise relative to risk: a smooth rise comes before a volatile one of the same size", () => {
  const smooth = rising(5, 30);
  const wild = smooth.map((close, minute) => close * (minute % 2 && minute < 29 ? 1.04 : 1));
  const falling = rising(-5, 30);
  const events = [1, 2, 3].map((n) => profile(START, address(n)));
  const all = [...candles(address(1), falling), ...candles(address(2), wild), ...candles(address(3), smooth)];
  const { charts } = drive(
    new TrendEngine({ facts: RECORDED }),
    withClocks([...events, ...all], START + 30 * MINUTE),
  );
  expect(charts.bsc.map(({ flare }) => flare.token.address)).toEqual([3, 2, 1].map(address));
});

test("a rise of all tokens changes no rank: ranks are neutral to the market", () => {
  const events = [0, 1, 2, 3, 4, 5].flatMap((n) => [
    profile(START, address(n)),
    ...candles(address(n), rising(n === 0 ? 6 : 5 - n / 10, 30)),
  ]);
  const [first] = drive(new TrendEngine({ facts: RECORDED }), withClocks(events, START + 30 * MINUTE)).charts
    .bsc;
  expect(first?.flare.token.address).toBe(address(0));
});

test.each(["bsc", "exchange", "matic", "avalanche"] as const)(
  "the chart of %s has its ten best tokens, in the group's own format",
  (group) => {
    const events = Array.from({ length: 12 }, (_, n) => [
      profile(START, nameOf(group, n), { group }),
      ...candles(nameOf(group, n), rising(n, 20), group),
    ]).flat();
    const snapshot = drive(new TrendEngine({ facts: RECORDED }), withClocks(events, START + 21 * MINUTE));
    Snapshot.parse(snapshot);
    const names = snapshot.charts[group].map((item) => {
      if ("flare" in item) return item.flare.token.address;
      return "address" in item.token ? item.token.address : item.token.symbol;
    });
    expect(names).toHaveLength(10);
    expect(names.slice(0, 2)).toEqual([nameOf(group, 11), nameOf(group, 10)]);
    expect(snapshot.leaderboards[group]).toHaveLength(10);
  },
);

test("only tokens that an aggregator lists are charted, except on the exchange and without profiles", () => {
  const plain = { marketData: null };
  const events = [
    profile(START, address(1), plain),
    profile(START, "T1", { ...plain, group: "exchange" }),
    ...candles(address(1), rising(5, 20)),
    ...candles("T1", rising(5, 20), "exchange"),
  ];
  const run = (profiles: boolean) =>
    drive(new TrendEngine({ facts: { ...RECORDED, profiles } }), withClocks(events, START + 20 * MINUTE))
      .charts;
  expect([run(true).bsc.length, run(true).exchange.length]).toEqual([0, 1]);
  expect([run(false).bsc.length, run(false).exchange.length]).toEqual([1, 1]);
  expect(run(true).exchange[0]?.market_data).toBeNull();
});

test("quote tokens, shallow pools and tokens of fewer than five minutes are not charted", () => {
  const trades = (n: number, minutes: number) =>
    Array.from({ length: minutes }, (_, minute) => trade(START + minute * MINUTE + 9, address(n)));
  const events = [
    ...[1, 2, 3, 4].map((n) => profile(START, address(n), { quote: n === 1 })),
    ...[1, 2, 3, 4].map((n) => listing(START + 1, address(n))),
    liquidity(START + 2, address(2), "4999.99"),
    ...trades(1, 9),
    ...trades(2, 9),
    ...trades(3, 9),
    ...trades(4, 9).slice(-4),
  ];
  const { charts } = drive(new TrendEngine(), withClocks(events, START + 9 * MINUTE));
  expect(charts.bsc.map(({ flare }) => flare.token.address)).toEqual([address(3)]);
});

test("an item counts the trades of its sixty minutes; a chart changes only at whole minutes", () => {
  const trades = Array.from({ length: 70 }, (_, minute) => [
    trade(START + minute * MINUTE + 1, address(1)),
    trade(START + minute * MINUTE + 2, address(1), { side: "sell" }),
    trade(START + minute * MINUTE + 3, address(1), { side: "sell" }),
  ]).flat();
  const engine = new TrendEngine();
  const events = withClocks([profile(START, address(1)), ...trades], START + 70 * MINUTE);
  const { charts } = drive(engine, events);
  expect([charts.bsc[0]?.buy_count, charts.bsc[0]?.sell_count, charts.bsc[0]?.streak]).toEqual([60, 120, 66]);
  const later = Array.from({ length: 50 }, (_, n) =>
    trade(START + 70 * MINUTE + n * SECOND, address(1), { price: "7" }),
  );
  const frozen = drive(engine, withClocks(later, START + 71 * MINUTE - SECOND, START + 70 * MINUTE + SECOND));
  expect(frozen.charts).toBe(charts);
  const next = drive(engine, withClocks([], START + 71 * MINUTE, START + 71 * MINUTE));
  expect(next.charts.bsc[0]?.most_recent_price).toBe("7");
});

test("a token that returns to the chart has the same id, a new streak and its times of relevance", () => {
  const engine = new TrendEngine({ facts: RECORDED });
  const closes = [...rising(5, 10), ...Array.from({ length: 61 }, () => null), ...rising(5, 10)];
  const other = Array.from({ length: 81 }, () => 1);
  const events = [1, 2].map((n) => profile(START, address(n)));
  const all = [...events, ...candles(address(1), closes), ...candles(address(2), other)];
  const ids = new Set<string>();
  const streaks: number[] = [];
  const last = drive(engine, withClocks(all, START + 81 * MINUTE), ({ charts }) => {
    const item = charts.bsc.find(({ flare }) => flare.token.address === address(1));
    if (item) ids.add(item.id);
    streaks.push(item?.streak ?? 0);
  });
  expect(ids.size).toBe(1);
  const item = last.charts.bsc.find(({ flare }) => flare.token.address === address(1));
  // Charted from the fifth candle on, while three of the last ten minutes have a candle. Charted
  // again from the third candle after the pause.
  expect(Math.max(...streaks)).toBe(13);
  expect(item?.streak).toBe(8);
  expect(item?.flare).toMatchObject({
    relevant: true,
    last_irrelevant_at: new Date(START + 18 * MINUTE).toISOString(),
    last_relevant_at: new Date(START + 74 * MINUTE).toISOString(),
    canary: false,
    upvote_site_data: null,
  });
});

test("a token that lost nine tenths is not charted until ten minutes after its price is above a tenth again", () => {
  const closes = [...rising(5, 20), ...Array.from({ length: 80 }, (_, n) => 0.1 + n / 10_000)];
  const events = [1, 2].map((n) => profile(START, address(n)));
  const calm = candles(
    address(2),
    Array.from({ length: 100 }, () => 1),
  );
  const charted = new Set<number>();
  drive(
    new TrendEngine({ facts: RECORDED }),
    withClocks([...events, ...candles(address(1), closes), ...calm], START + 100 * MINUTE),
    ({ charts }, at) => {
      const isCharted = charts.bsc.some(({ flare }) => flare.token.address === address(1));
      if (isCharted) charted.add((at - START) / MINUTE);
    },
  );
  const minutes = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
  // The price falls in minute 21. In minute 69, it closes above a tenth of its peak of 1.0475.
  expect([...charted]).toEqual([...minutes(5, 20), ...minutes(79, 100)]);
});
