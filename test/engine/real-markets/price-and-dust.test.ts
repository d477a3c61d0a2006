import { expect, test } from "vitest";
import { checkpointOf, restoreEngine } from "../../../src/app/data/engine-checkpoints.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { crowdOf, playScripts, type Script } from "../trade-market.ts";
import {
  address,
  clock,
  drive,
  liquidity,
  listing,
  MINUTE,
  SECOND,
  START,
  trade,
  withClocks,
} from "../trend-kit.ts";

const TOKEN = address(1);
const PUMP_AT = 60;
const pump: Script = {
  token: TOKEN,
  rate: (minute) => (minute >= PUMP_AT && minute < PUMP_AT + 10 ? 25 : minute < PUMP_AT ? 2 : 0),
  buyShare: (minute) => (minute >= PUMP_AT ? 0.8 : 0.5),
};

test("two dust trades every ten minutes neither sustain a flare nor set the price", () => {
  const minutes = PUMP_AT + 130;
  const dust: MarketEvent[] = [];
  for (let minute = PUMP_AT + 12; minute < minutes; minute += 5)
    dust.push(
      trade(START + minute * MINUTE, TOKEN, { price: "77", quoteUsd: "0.000003", amount: "0.00000004" }),
    );
  const engine = new TrendEngine();
  const events = [...playScripts([...crowdOf(8), pump], minutes), ...dust];
  const last = drive(engine, withClocks(events, START + minutes * MINUTE, START - 3_000));
  expect(last.flares.pro).toEqual([]);
  const [flare] = last.flares.finished_trending;
  expect(Date.parse(flare?.finished_trending_at ?? "")).toBeLessThanOrEqual(START + (PUMP_AT + 18) * MINUTE);
  expect(flare?.token.price).not.toBe("77");
  expect(engine.rejected.dust).toBe(dust.length);
});

test("the limit for dust grows with the pool", () => {
  const engine = new TrendEngine();
  const events = [
    { ...listing(START + 1, TOKEN), liquidity: "2000000" },
    trade(START + 2, TOKEN, { quoteUsd: "9.99", price: "5" }),
    trade(START + 3, TOKEN, { quoteUsd: "10", price: "6" }),
    trade(START + 4, address(2), { quoteUsd: "0.09" }),
    trade(START + 5, address(3), { quoteUsd: "0.1" }),
  ];
  const { newest } = drive(engine, withClocks(events, START + 6 * SECOND));
  expect(newest.bsc[0]?.token.price).toBe("6");
  expect([engine.rejected.dust, engine.tokenCount]).toEqual([2, 2]);
});

test("the price follows the pool that trades, not a deeper idle one, and its pump flares", () => {
  const minutes = PUMP_AT + 10;
  const engine = new TrendEngine();
  const idle = { ...listing(START - 900, TOKEN, "idle-pool"), liquidity: "60000" };
  const events = [...playScripts([...crowdOf(8), { ...pump, usd: 150 }], minutes), idle];
  const last = drive(engine, withClocks(events, START + minutes * MINUTE, START - 3_000));
  const [flare] = last.flares.pro;
  expect(flare?.token.address).toBe(TOKEN);
  expect(Number(flare?.token.price)).toBeGreaterThan(2);
});

test("a pool takes over the price only with twice the recent volume, and the step between the pools is no price change", () => {
  const engine = new TrendEngine();
  const both = [listing(START + 1, TOKEN, "a"), listing(START + 1, TOKEN, "b")];
  const trades = Array.from({ length: 60 }, (_, n) => [
    trade(START + n * 10 * SECOND + 10, TOKEN, { pool: "a", price: "1", quoteUsd: "100" }),
    trade(START + n * 10 * SECOND + 20, TOKEN, { pool: "b", price: "1.2", quoteUsd: "150" }),
  ]).flat();
  drive(engine, withClocks([...both, ...trades], START + 10 * MINUTE));
  const priceOf = () => engine.snapshot().newest.bsc[0]?.token.price;
  expect(priceOf()).toBe("1");
  const more = Array.from({ length: 60 }, (_, n) =>
    trade(START + 10 * MINUTE + n * SECOND + 10, TOKEN, { pool: "b", price: "1.2", quoteUsd: "900" }),
  );
  drive(engine, withClocks(more, START + 12 * MINUTE, START + 10 * MINUTE));
  expect(engine.readingOf("bsc", TOKEN)?.terms.find(({ name }) => name === "price")?.raw).toBeCloseTo(0, 5);
  expect(engine.trendOf("bsc", TOKEN)?.flaringSinceMs).toBeNull();
  expect(priceOf()).toBe("1.2");
});

test("pools that alternately set the price do not add up to a rise that nobody traded", () => {
  const engine = new TrendEngine();
  const both = [listing(START + 1, TOKEN, "a"), listing(START + 1, TOKEN, "b")];
  const trades = Array.from({ length: 12 }, (_, cycle) => {
    const pool = cycle % 2 === 0 ? "a" : "b";
    return ["0.8", "0.9", "1"].map((price, step) =>
      trade(START + (cycle * 30 + step * 5) * SECOND + 10, TOKEN, {
        pool,
        price,
        quoteUsd: String(100 * 3 ** cycle),
      }),
    );
  }).flat();
  drive(engine, withClocks([...both, ...trades], START + 6 * MINUTE));
  const price = engine.readingOf("bsc", TOKEN)?.terms.find(({ name }) => name === "price")?.raw;
  expect(price).toBeLessThan(Math.log(1 / 0.8) * 2);
});

test("a shallow pool never sets the price, regardless of its volume", () => {
  const engine = new TrendEngine();
  const events = [
    listing(START + 1, TOKEN, "deep"),
    { ...listing(START + 2, TOKEN, "shallow"), liquidity: "4000" },
    trade(START + 3, TOKEN, { pool: "deep", price: "1" }),
    ...Array.from({ length: 50 }, (_, n) =>
      trade(START + 4 + n, TOKEN, { pool: "shallow", price: "50", quoteUsd: "500" }),
    ),
  ];
  expect(drive(engine, withClocks(events, START + 6 * SECOND)).newest.bsc[0]?.token.price).toBe("1");
});

test("a late trade counts, but does not overwrite a newer price", () => {
  const engine = new TrendEngine();
  drive(engine, withClocks([listing(START + 1, TOKEN)], START + 10 * SECOND));
  engine.accept(trade(START + 9_000, TOKEN, { price: "2" }));
  engine.accept(trade(START + 6_000, TOKEN, { price: "9" }));
  engine.accept(liquidity(START + 9_000, TOKEN, "70000"));
  engine.accept(liquidity(START + 6_000, TOKEN, "10000"));
  engine.accept(clock(START + 15 * SECOND));
  const [item] = engine.snapshot().newest.bsc;
  expect([item?.token.price, item?.liquidity]).toEqual(["2", "70000"]);
  expect(Object.values(engine.rejected).every((count) => count === 0)).toBe(true);
});

test("an event far in the future does not set a new engine's clock", () => {
  const engine = new TrendEngine();
  engine.accept(trade(START + 365 * 24 * 60 * MINUTE, TOKEN, { price: "9" }));
  engine.accept(trade(START - 500, address(2)));
  expect(engine.clockMs).toBe(0);
  const restored = restoreEngine(JSON.parse(JSON.stringify(checkpointOf(engine))));
  for (const one of [engine, restored]) {
    one.accept(clock(START));
    one.accept(trade(START + 1, address(2), { price: "4" }));
    one.accept(clock(START + SECOND));
    expect([one.clockMs, one.tokenCount, one.rejected.ahead]).toEqual([START + SECOND, 1, 1]);
  }
});

test("a pool whose price is far off never takes over while the current pool trades, despite wash trading", () => {
  const engine = new TrendEngine();
  const wash = [0, 1].map((n) =>
    trade(START + 5 * SECOND + n, TOKEN, {
      pool: "side",
      price: "987654",
      quoteUsd: "60000",
      trader: "0xabc",
      side: n === 0 ? "buy" : "sell",
    }),
  );
  const events = [
    listing(START + 1, TOKEN, "real"),
    { ...listing(START + 2, TOKEN, "side"), liquidity: "5100" },
    trade(START + 3, TOKEN, { pool: "real", price: "1" }),
    ...wash,
  ];
  expect(drive(engine, withClocks(events, START + 11 * SECOND)).newest.bsc[0]?.token.price).toBe("1");
});

test("a momentary price does not count as the peak of a collapse", () => {
  const minutes = PUMP_AT + 5;
  const moment = START + (PUMP_AT + 3) * MINUTE + 9_000;
  const pool = `pool-${TOKEN}`;
  const spike = [
    trade(moment, TOKEN, { pool, price: "40", quoteUsd: "250000", trader: "0xabc" }),
    trade(moment + 1_000, TOKEN, { pool, price: "2", side: "sell", quoteUsd: "250000", trader: "0xabc" }),
  ];
  const engine = new TrendEngine();
  const events = [...playScripts([...crowdOf(8), pump], minutes), ...spike];
  const last = drive(engine, withClocks(events, START + minutes * MINUTE, START - 3_000));
  expect(last.flares.pro.map(({ token }) => token.address)).toEqual([TOKEN]);
});

test("the volumes of two pools are compared at the same moment", () => {
  const engine = new TrendEngine();
  const events = [
    listing(START + 1, TOKEN, "a"),
    listing(START + 1, TOKEN, "b"),
    trade(START + 5 * MINUTE, TOKEN, { pool: "a", price: "1", quoteUsd: "100" }),
    trade(START + 5 * MINUTE + 59 * SECOND, TOKEN, { pool: "b", price: "1.1", quoteUsd: "190" }),
  ];
  expect(drive(engine, withClocks(events, START + 7 * MINUTE)).newest.bsc[0]?.token.price).toBe("1");
});
