import { expect, test } from "vitest";
import { MarketEvent } from "../../../src/base/market/index.ts";
import { REJECT_REASONS, type RejectReason, TrendEngine } from "../../../src/engine/index.ts";
import {
  address,
  candle,
  clock,
  liquidity,
  listing,
  MINUTE,
  profile,
  report,
  SECOND,
  START,
  trade,
} from "../trend-kit.ts";

const TOKEN = address(1);
const NOW = START + 10 * MINUTE;

/** Returns an event with fields that the types forbid, but feeds could send. */
const broken = (event: object, part: object): MarketEvent =>
  JSON.parse(JSON.stringify({ ...event, ...part }));

const GARBAGE: readonly [string, RejectReason, MarketEvent][] = [
  ["an unknown kind", "malformed", broken(clock(NOW), { kind: "rumour" })],
  ["a time that is not a number", "malformed", broken(clock(NOW), { at: "now" })],
  ["a time beyond the year 9999", "malformed", clock(1e30)],
  ["a fraction of a millisecond", "malformed", clock(NOW + 0.5)],
  ["a trade more than five seconds old", "late", trade(NOW - 5_001, TOKEN)],
  ["a clock that goes back by more than five seconds", "late", clock(NOW - 5_001)],
  ["a trade far ahead of the clock", "ahead", trade(NOW + 5_001, TOKEN)],
  ["a group that does not exist", "token", broken(trade(NOW, TOKEN), { group: "moon" })],
  ["a chain's token without address", "token", trade(NOW, "PEPE")],
  ["an address that ends early", "token", trade(NOW, "0x")],
  ["an empty symbol of the exchange", "token", trade(NOW, "", { group: "exchange" })],
  ["a price that is not a number", "price", trade(NOW, TOKEN, { price: "NaN" })],
  ["a negative price", "price", trade(NOW, TOKEN, { price: "-1" })],
  ["a price of zero", "price", trade(NOW, TOKEN, { price: "0.000" })],
  ["a price with an exponent", "price", trade(NOW, TOKEN, { price: "1e5" })],
  ["a price of 10^30", "price", trade(NOW, TOKEN, { price: `1${"0".repeat(30)}` })],
  ["a price as number", "price", broken(trade(NOW, TOKEN), { price: 1 })],
  ["a price of a thousand digits", "price", trade(NOW, TOKEN, { price: "1".repeat(1_000) })],
  ["dollars of 10^30", "amount", trade(NOW, TOKEN, { quoteUsd: `1${"0".repeat(30)}` })],
  ["an amount of Infinity", "amount", trade(NOW, TOKEN, { amount: "Infinity" })],
  ["an unknown side", "malformed", broken(trade(NOW, TOKEN), { side: "hold" })],
  ["a trader without name", "malformed", trade(NOW, TOKEN, { trader: "" })],
  ["a candle of NaN", "price", candle(NOW, address(2), Number.NaN, 1)],
  ["a candle whose low is above its close", "candle", candle(NOW, address(2), 1, 1, { low: "2", high: "3" })],
  ["a candle of less than a minute", "candle", candle(NOW, address(2), 1, 1, { openAt: NOW })],
  ["a candle of a token that trades", "mixed", candle(NOW, TOKEN, 1, 1)],
  [
    "a trade in an unknown pool of a token with a known one",
    "unknown-pool",
    trade(NOW, TOKEN, { pool: "fake" }),
  ],
  ["a trade of less than ten cents", "dust", trade(NOW, TOKEN, { quoteUsd: "0.09" })],
  ["a removal from an unknown pool", "unknown-pool", liquidity(NOW, TOKEN, "1", "remove", "fake")],
  ["negative liquidity", "amount", liquidity(NOW, TOKEN, "-5")],
  ["an unknown cause", "malformed", broken(liquidity(NOW, TOKEN, "5"), { cause: "theft" })],
  ["a second listing of a pool", "duplicate", listing(NOW, TOKEN)],
  ["a profile with a number for a name", "malformed", broken(profile(NOW, TOKEN), { name: 7 })],
];

/** Creates an engine with one listed token with trades, at NOW. */
function begin(): TrendEngine {
  const engine = new TrendEngine();
  engine.accept(clock(START));
  engine.accept(listing(START + 1, TOKEN));
  for (let at = START; at < NOW; at += SECOND) {
    engine.accept(clock(at));
    engine.accept(trade(at + 1, TOKEN, { price: "1.5" }));
  }
  engine.accept(clock(NOW));
  return engine;
}

test.each(GARBAGE)("%s is counted as %s and changes nothing else", (_, reason, event) => {
  const [engine, calm] = [begin(), begin()];
  engine.snapshot();
  engine.accept(event);
  const counts = Object.fromEntries(REJECT_REASONS.map((name) => [name, name === reason ? 1 : 0]));
  expect(engine.rejected).toEqual(counts);
  expect(engine.clockMs).toBe(NOW);
  expect(engine.tokenCount).toBe(calm.tokenCount);
  for (const one of [engine, calm]) {
    one.accept(trade(NOW + 1, TOKEN, { price: "1.6" }));
    one.accept(clock(NOW + MINUTE));
  }
  expect(engine.snapshot()).toEqual(calm.snapshot());
});

test("every reason of rejection has a case above", () => {
  expect(new Set(GARBAGE.map(([, reason]) => reason))).toEqual(new Set(REJECT_REASONS));
});

const FULL: readonly MarketEvent[] = [
  trade(NOW, TOKEN, { tradedAt: NOW - 1 }),
  candle(NOW, address(2), 1, 1, { trades: 1, buyVolume: "1" }),
  report(NOW, address(3)),
  {
    kind: "listing",
    at: NOW,
    listedAt: NOW - 1,
    group: "bsc",
    pool: "pool",
    token: address(4),
    liquidity: "5",
  },
  liquidity(NOW, TOKEN, "5"),
  profile(NOW, TOKEN, { symbol: "A", name: "A", createdAt: NOW, quote: false, marketData: null }),
  { kind: "observed", at: NOW, group: "bsc", since: NOW },
  clock(NOW),
];
const ODD = [undefined, null, true, -1, 0.5, Number.NaN, 2 ** 60, "", "-1", ".5", "1.", "x".repeat(200), {}];

test("[L4] a replay reads every event that the engine accepts: each field of each kind, with each odd value", () => {
  let accepted = 0;
  for (const event of FULL) {
    for (const [field, value] of Object.keys(event).flatMap((name) =>
      ODD.map((odd) => [name, odd] as const),
    )) {
      const changed = Object.assign({ ...event }, { [field]: value });
      const engine = new TrendEngine();
      engine.accept(clock(NOW));
      engine.accept(changed);
      if (Object.values(engine.rejected).some((count) => count > 0)) continue;
      accepted += 1;
      const line = JSON.stringify(changed);
      expect(MarketEvent.safeParse(JSON.parse(line)).success, line).toBe(true);
    }
  }
  expect(accepted).toBeGreaterThan(FULL.length);
});

test("values that are not events are counted as malformed", () => {
  const engine = new TrendEngine();
  for (const text of ["null", "3", '"x"', "[]", "{}"]) engine.accept(JSON.parse(text));
  expect(engine.rejected.malformed).toBe(5);
  expect(engine.clockMs).toBe(0);
});

test("events of five seconds ago and of the same second are accepted", () => {
  const engine = begin();
  engine.accept(trade(NOW - 5_000, TOKEN));
  engine.accept(trade(NOW + 5_000, TOKEN));
  expect(Object.values(engine.rejected).every((count) => count === 0)).toBe(true);
});

test("addresses that differ in case are one token, shown in the first spelling", () => {
  const engine = new TrendEngine();
  const [mixed, lower] = [
    "0xAbCdEf0000000000000000000000000000000001",
    "0xabcdef0000000000000000000000000000000001",
  ];
  engine.accept(clock(START));
  engine.accept(listing(START + 1, mixed));
  for (const spelling of [lower, lower.toUpperCase().replace("0X", "0x"), mixed]) {
    engine.accept(trade(START + 2, spelling, { pool: `pool-${mixed}` }));
  }
  engine.accept(clock(START + SECOND));
  expect(engine.tokenCount).toBe(1);
  expect(engine.snapshot().newest.bsc[0]?.token.address).toBe(mixed);
});
