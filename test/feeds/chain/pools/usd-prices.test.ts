import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PoolEvent } from "../../../../src/feeds/chain/pools/forms/pool-log.ts";
import { RangeState } from "../../../../src/feeds/chain/pools/forms/ranges.ts";
import { ReserveState } from "../../../../src/feeds/chain/pools/forms/reserves.ts";
import type { Pool } from "../../../../src/feeds/chain/pools/pool.ts";
import { UsdPrices } from "../../../../src/feeds/chain/pools/usd-prices.ts";
import type { QuoteToken } from "../../../../src/feeds/quote-tokens.ts";
import { createGc } from "../../../support/create-gc.ts";
import { E18 } from "../market/exchange.ts";

const USD: QuoteToken = { address: "0x01", symbol: "USD", decimals: 18, isStable: true };
const COIN: QuoteToken = { address: "0x02", symbol: "COIN", decimals: 18, isStable: false };
const ETHER: QuoteToken = { address: "0x03", symbol: "ETHER", decimals: 18, isStable: false };
const MIN_USD = 50_000;

/** A pool between two quote tokens with this many whole tokens of each. */
function anchor(address: string, sides: readonly [QuoteToken, QuoteToken], whole: [bigint, bigint]): Pool {
  const [first, second] = sides;
  return {
    address,
    form: "v2",
    sides: [
      { kind: "quote", quote: first },
      { kind: "quote", quote: second },
    ],
    state: new ReserveState([whole[0] * E18, whole[1] * E18]),
  };
}

/** Changes the pool's reserves. */
function fill(prices: UsdPrices, pool: Pool, reserve0: bigint, reserve1: bigint): void {
  pool.state.apply({ kind: "sync", form: "v2", reserve0, reserve1 }, 1, () => undefined);
  prices.touch(pool);
}

function pricesOf(...pools: readonly Pool[]): UsdPrices {
  const prices = new UsdPrices([USD, COIN, ETHER], MIN_USD);
  for (const pool of pools) prices.add(pool);
  return prices;
}

/** Returns a whole token's value in dollars, rounded down. */
function dollars(prices: UsdPrices, quote: QuoteToken): number | undefined {
  const one = prices.wholeWorth(quote);
  return one === undefined ? undefined : Number(one / E18);
}

/** Sets the pool's price of a coin in dollars, from the previous block on. */
function price(prices: UsdPrices, pool: Pool, usd: bigint): void {
  fill(prices, pool, 1_000n * E18, usd * 1_000n * E18);
}

describe("the value of quote tokens", () => {
  test("[anchor] a thin pool does not count, whatever its price; among deep ones the deepest counts", () => {
    const thin = anchor("0xa", [COIN, USD], [1n, 49_999n]);
    const deep = anchor("0xb", [COIN, USD], [100n, 60_000n]);
    const prices = pricesOf(thin);
    prices.settle(0);
    expect(dollars(prices, COIN)).toBeUndefined();
    expect(prices.worthOf(COIN, E18)).toBeUndefined();
    prices.add(deep);
    prices.settle(1_000);
    expect(dollars(prices, COIN)).toBe(600);
    prices.add(anchor("0xc", [COIN, USD], [1_000n, 601_000n]));
    prices.settle(100_000);
    prices.settle(200_000);
    expect(dollars(prices, COIN)).toBe(601);
  });

  test("[anchor] a token without a stablecoin pool is valued by a pool with a known token", () => {
    const coin = anchor("0xa", [COIN, USD], [1_000n, 600_000n]);
    const ether = anchor("0xb", [ETHER, COIN], [200n, 1_000n]);
    const prices = pricesOf(ether, coin);
    prices.settle(0);
    expect([dollars(prices, COIN), dollars(prices, ETHER)]).toEqual([600, 3_000]);
  });

  test("[anchor] a price that is gone at the end of its block does not count", () => {
    const pool = anchor("0xa", [COIN, USD], [1_000n, 600_000n]);
    const prices = pricesOf(pool);
    prices.settle(0);
    price(prices, pool, 60_000n);
    expect(dollars(prices, COIN)).toBe(600);
    price(prices, pool, 600n);
    for (let at = 0; at < 120_000; at += 1_000) {
      prices.settle(at);
      expect(dollars(prices, COIN)).toBe(600);
    }
  });

  test("[anchor] a price counts once it has held for half a minute, and never before", () => {
    for (const heldMs of [1_000, 29_000, 30_000, 31_000, 90_000]) {
      const pool = anchor("0xa", [COIN, USD], [1_000n, 600_000n]);
      const prices = pricesOf(pool);
      prices.settle(0);
      price(prices, pool, 6_000n);
      const worths: (number | undefined)[] = [];
      for (let at = 500; at <= 200_000; at += 500) {
        if (at === heldMs) price(prices, pool, 600n);
        prices.settle(at);
        worths.push(dollars(prices, COIN));
      }
      expect(worths.includes(6_000), `held for ${heldMs} ms`).toBe(heldMs > 30_000);
      expect(worths.at(-1)).toBe(600);
      // A price that holds counts after half a minute and one block.
      if (heldMs === 90_000) expect(worths.indexOf(6_000)).toBe(60);
    }
  });

  test("[anchor] a pool that is empty for a moment does not change the value; after a minute it is unknown", () => {
    const pool = anchor("0xa", [COIN, USD], [1_000n, 600_000n]);
    const prices = pricesOf(pool);
    prices.settle(0);
    fill(prices, pool, 0n, 0n);
    prices.settle(1_000);
    expect(dollars(prices, COIN)).toBe(600);
    prices.settle(59_000);
    expect(dollars(prices, COIN)).toBe(600);
    prices.settle(61_000);
    expect(dollars(prices, COIN)).toBeUndefined();
    price(prices, pool, 700n);
    prices.settle(62_000);
    expect(dollars(prices, COIN)).toBe(700);
  });

  test("[anchor] a pool with ranges counts with its liquidity in range: without any, it does not count, whatever its balance", () => {
    // 600 dollars: slightly more than √600 × 2⁹⁶.
    const sqrtPriceX96 = 1_940_685_714_182_491_852_533_977_682_923n;
    const range = { sqrtPriceX96, tick: 63_973, liquidity: 0n };
    const balances = [10_000n * E18, 10_000_000n * E18] as const;
    const state = new RangeState({ balances, range, atBlock: -1 });
    const ranged: Pool = { ...anchor("0xa", [COIN, USD], [0n, 0n]), form: "v3", state };
    const change = (event: Partial<PoolEvent>) => {
      const amounts = { amount0: 1n, amount1: -1n };
      state.apply({ kind: "swap", form: "v3", ...amounts, ...event } as PoolEvent, 1);
      prices.touch(ranged);
    };
    const real = anchor("0xb", [COIN, USD], [1_000n, 599_000n]);
    const prices = pricesOf(ranged, real);
    prices.settle(0);
    expect(dollars(prices, COIN)).toBe(599);
    // Enough for twice 500,000 dollars near the price, and then for twice a million.
    for (const [millions, worth] of [
      [0.5, 599],
      [1, 600],
    ] as const) {
      const liquidity = (BigInt(Math.round(millions * 1e6)) * E18 * (1n << 96n)) / sqrtPriceX96 + 1n;
      change({ range: { ...range, liquidity } });
      prices.settle(1_000_000 * millions);
      prices.settle(1_000_000 * millions + 100_000);
      expect(dollars(prices, COIN)).toBe(worth);
    }
    // Amounts that makers have removed but not collected add no depth.
    change({ kind: "burn", amount0: 0n, amount1: 9_990_000n * E18 });
    prices.settle(2_000_000);
    prices.settle(2_100_000);
    expect(dollars(prices, COIN)).toBe(599);
  });

  test("[anchor] the value is always the median of the last minute's prices, second by second", () => {
    const step = fc.record({
      seconds: fc.integer({ min: 0, max: 40 }),
      usd: fc.integer({ min: 60, max: 9_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const pool = anchor("0xa", [COIN, USD], [1_000n, 600_000n]);
        const prices = pricesOf(pool);
        const bySecond: number[] = Array.from({ length: 60 }, () => 600);
        prices.settle(0);
        let at = 0;
        let usd = 600;
        for (const one of steps) {
          price(prices, pool, BigInt(one.usd));
          usd = one.usd;
          at += one.seconds;
          for (let second = 0; second < one.seconds; second++) bySecond.push(usd);
          prices.settle(at * 1_000);
          const minute = bySecond.slice(-60).toSorted((a, b) => a - b);
          expect(dollars(prices, COIN)).toBe(minute[29]);
        }
      }),
    );
  });

  test("[anchor] only a minute of prices is stored, however long the chain is followed", () => {
    const gc = createGc();
    const pool = anchor("0xa", [COIN, USD], [1_000n, 600_000n]);
    const prices = pricesOf(pool);
    const follow = (from: number, to: number) => {
      for (let second = from; second < to; second++) {
        price(prices, pool, 600n + BigInt(second % 50));
        prices.settle(second * 1_000);
      }
      gc();
      return process.memoryUsage().heapUsed;
    };
    const before = follow(0, 1_000);
    expect(follow(1_000, 21_000) - before).toBeLessThan(500_000);
    expect(dollars(prices, COIN)).toBe(629);
  });
});
