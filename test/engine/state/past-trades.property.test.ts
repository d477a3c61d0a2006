import fc from "fast-check";
import { expect, test } from "vitest";
import {
  checkpointOf,
  type EngineCheckpoint,
  restoreEngine,
  unpackEngine,
} from "../../../src/app/data/engine-checkpoints.ts";
import type { MarketEvent, Trade } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import {
  advanceRing,
  type BucketRing,
  closeAt,
  knownSteps,
  tradesWithin,
} from "../../../src/engine/state/bucket-ring.ts";
import { address, decimal, liquidity, MINUTE, SECOND, START, trade, withClocks } from "../trend-kit.ts";

const TOKENS = [address(1), address(2)] as const;
/** Live trades begin here. Earlier trades are read later. */
const PRESENT = START + 10 * MINUTE;
const END = START + 21 * MINUTE;
/** Baselines learn at the same speed at any score. */
const SETTINGS = { settings: { frozenRate: 1 } };

const Trades = fc
  .array(
    fc.record({
      at: fc.integer({ min: START + SECOND, max: END - 2 * MINUTE }),
      token: fc.constantFrom(...TOKENS),
      side: fc.constantFrom("buy", "buy", "sell"),
      price: fc.integer({ min: 90, max: 110 }).map((cents) => decimal(cents / 100)),
      usd: fc.integer({ min: 1, max: 500 }),
      trader: fc.constantFrom(..."abcdefgh"),
    }),
    { minLength: 1, maxLength: 120 },
  )
  .map((some) =>
    some
      .map(({ at, token, usd, ...rest }) => trade(at, token, { ...rest, quoteUsd: decimal(usd) }))
      .toSorted((a, b) => a.at - b.at),
  );
/** When the reading of past trades begins, and how many are read per second. */
const Pace = fc.record({ afterS: fc.integer({ min: 1, max: 300 }), each: fc.integer({ min: 1, max: 40 }) });

/** Returns the past trades as events that are read while live ones arrive. */
function readLater(trades: readonly Trade[], pace: { afterS: number; each: number }): Trade[] {
  const past = trades.filter(({ at }) => at < PRESENT);
  return past.map((one, index) => ({
    ...one,
    at: PRESENT + (pace.afterS + Math.floor(index / pace.each)) * SECOND,
    tradedAt: one.at,
  }));
}

const depths = (at: number) => TOKENS.map((token) => liquidity(at, token, "50000"));

function engineOf(events: readonly MarketEvent[]): TrendEngine {
  const engine = new TrendEngine(SETTINGS);
  for (const event of events) engine.accept(event);
  return engine;
}

const stateOf = (checkpoint: EngineCheckpoint, token: string) =>
  unpackEngine(checkpoint).tokens.find(({ key }) => key === token);

function stepsOf(ring: BucketRing | undefined): readonly (readonly number[])[] {
  if (!ring || ring.last < 0) return [];
  // Silent steps are filled on access.
  advanceRing(ring, END / MINUTE);
  const steps = [];
  const count = knownSteps(ring, ring.last, Number.POSITIVE_INFINITY);
  for (let step = ring.last - count + 1; step <= ring.last; step++) {
    const { buys, sells } = tradesWithin(ring, step, step);
    steps.push([step, closeAt(ring, step), buys, sells]);
  }
  return steps;
}

test("after past trades, sums, averages and charts equal those of a token that was always followed", () => {
  fc.assert(
    fc.property(Trades, Pace, (trades, pace) => {
      const always = checkpointOf(engineOf(withClocks([...depths(START), ...trades], END)));
      const live = trades.filter(({ at }) => at >= PRESENT);
      const past = readLater(trades, pace);
      const events = [...depths(PRESENT), ...live, ...past];
      const engine = engineOf(withClocks(events, END, PRESENT));
      expect(Object.values(engine.rejected).every((count) => count === 0)).toBe(true);
      const later = checkpointOf(engine);
      for (const token of TOKENS) {
        const [one, other] = [stateOf(always, token), stateOf(later, token)];
        expect([other?.price, other?.firstMarketMs, other?.lastMarketMs, other?.events]).toEqual([
          ...[one?.price, one?.firstMarketMs, one?.lastMarketMs, one?.events],
        ]);
        expect(other?.activeMinutes).toBe(one?.activeMinutes);
        expect(stepsOf(other?.minutes)).toEqual(stepsOf(one?.minutes));
        if (!one?.trades || !other?.trades) continue;
        const [a, b] = [one.trades, other.trades];
        for (const field of [
          ...([
            "buyers",
            "netUsd",
            "squareUsd",
            "usd",
            "inflow",
            "longPrice",
            "price",
            "slowUsd",
            "slowMs",
          ] as const),
          ...(["longBuyers", "longSellers", "longBuys", "longBuyUsd", "longUsd"] as const),
        ])
          expect(Math.abs(b[field] - a[field]), field).toBeLessThan(1e-6 * Math.max(1, Math.abs(a[field])));
        // Each past purchase of a wallet that also buys live may count as one more buyer.
        const buys = trades.filter((each) => each.token === token && each.side === "buy");
        const present = new Set(buys.filter(({ at }) => at >= PRESENT).map(({ trader }) => trader));
        const onBoth = buys.filter(({ at, trader }) => at < PRESENT && present.has(trader)).length;
        expect(b.slowBuyers).toBeGreaterThan(a.slowBuyers - 1e-6);
        expect(b.slowBuyers).toBeLessThan(a.slowBuyers + onBoth + 1e-6);
      }
    }),
    { numRuns: 100 },
  );
});

test("[L4] past trades survive a checkpoint at any moment while they are read", () => {
  fc.assert(
    fc.property(Trades, Pace, fc.nat(), (trades, pace, cut) => {
      const live = trades.filter(({ at }) => at >= PRESENT);
      const events = withClocks([...depths(PRESENT), ...live, ...readLater(trades, pace)], END, PRESENT);
      const uninterrupted = engineOf(events);
      const at = cut % events.length;
      const before = engineOf(events.slice(0, at));
      const text = JSON.stringify(checkpointOf(before));
      const after = restoreEngine(JSON.parse(text), SETTINGS);
      for (const event of events.slice(at)) after.accept(event);
      expect(after.snapshot()).toEqual(uninterrupted.snapshot());
      expect(checkpointOf(after)).toEqual(checkpointOf(uninterrupted));
    }),
    { numRuns: 20 },
  );
});
