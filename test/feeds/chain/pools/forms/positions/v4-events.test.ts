import { expect, test } from "vitest";
import { MAX_TICK, sqrtPriceAt } from "../../../../../../src/feeds/chain/pools/forms/positions/ticks.ts";
import { Collector, eventsOf } from "../../../market/collect.ts";
import { E18 } from "../../../market/exchange.ts";
import { describeOnV4, SingletonPool, STEP } from "../../../market/singleton.ts";
import { wallet } from "../../../nodes/test-chain.ts";

const NAMES = { symbol: "SGL", name: "Single" };
const WIDE = 14_400 * STEP;

describeOnV4("Uniswap V4's pools on a real EVM", () => {
  test.each([
    ["a wrapped coin", false],
    ["the chain's own coin", true],
  ])(
    "[exact] %s: listing, swaps both ways, liquidity added far from the price and near it, and removed",
    async (_, isNative) => {
      const pool = await SingletonPool.open(isNative);
      await using _chain = pool.chain;
      await pool.change(-WIDE, WIDE, 500n * E18, NAMES);
      await pool.swap(wallet(1), "buy", 3n * E18 + 7n);
      await pool.swap(wallet(2), "sell", 123_456_789_012_345_678n);
      // Coins far from the price do not count as liquidity.
      await pool.change(-200 * STEP, -100 * STEP, 5_000n * E18);
      await pool.change(-10 * STEP, 10 * STEP, 2_000n * E18);
      await pool.swap(wallet(2), "buy", 11n);
      // Through the end of a range, and back.
      await pool.swap(wallet(1), "buy", 90n * E18);
      await pool.swap(wallet(2), "sell", 100n * E18);
      await pool.change(-10 * STEP, 10 * STEP, 0n);
      await pool.change(-10 * STEP, 10 * STEP, -2_000n * E18);
      await pool.change(-WIDE, WIDE, -100n * E18);
      expect(await eventsOf(pool)).toEqual(pool.events);
    },
  );

  test("[depth] a narrow range counts with its coins, which the manager holds", async () => {
    const pool = await SingletonPool.open();
    await using _ = pool.chain;
    await pool.change(-STEP, STEP, 10_000n * E18, NAMES);
    const [, listing] = await eventsOf(pool);
    const usd = listing?.kind === "listing" ? Number(listing.liquidity) : 0;
    expect(usd / ((2 * 600 * Number(await pool.coins())) / 1e18)).toBeCloseTo(1, 9);
    expect(usd).toBeLessThan(40_000);
  });

  test("[before] an existing pool is identified by its id, with all its positions around the price", async () => {
    const pool = await SingletonPool.open();
    await using chain = pool.chain;
    await pool.addPositionManager();
    // Within 16 times the price: a position beyond counts as if it had no end.
    await pool.change(-400 * STEP, 400 * STEP, 500n * E18, NAMES);
    await pool.change(-10 * STEP, 10 * STEP, 2_000n * E18);
    await pool.change(-200 * STEP, -100 * STEP, 700n * E18);
    await pool.swap(wallet(1), "buy", 60n * E18);
    await chain.mine(300);
    const before = pool.events.length;
    await pool.swap(wallet(2), "sell", 120n * E18);
    await pool.change(-10 * STEP, 10 * STEP, -2_000n * E18);
    await pool.swap(wallet(1), "buy", 3n * E18);
    const untilMs = chain.nextAt * 1_000;
    for (let block = 0; block < 4; block++) await chain.mine();
    await using collector = new Collector({ network: pool.network, backfillMs: 60_000 });
    await collector.reached(untilMs);
    const events = collector.facts.filter(({ kind }) => kind !== "profile");
    expect(events).toEqual(pool.events.slice(before));
    expect(events.map(({ kind }) => kind)).toEqual(["liquidity", "trade", "liquidity", "liquidity", "trade"]);
  });

  test("[exact] the price at a tick is the lowest that the contract assigns to it", async () => {
    const pool = await SingletonPool.open();
    await using _ = pool.chain;
    for (const tick of [
      1 - MAX_TICK,
      -400_000,
      -65_537,
      -1,
      0,
      1,
      2,
      4_095,
      123_456,
      600_001,
      MAX_TICK - 1,
    ]) {
      expect(await pool.tickAt(sqrtPriceAt(tick))).toBe(tick);
      expect(await pool.tickAt(sqrtPriceAt(tick) - 1n)).toBe(tick - 1);
    }
  });
});
