import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Actor, ActorQueue } from "../../../src/feeds/simulated/market/actors/actor.ts";
import { Arrivals } from "../../../src/feeds/simulated/market/actors/arrivals.ts";
import { decimal, dollars } from "../../../src/feeds/simulated/market/decimal.ts";
import { rhythmAt } from "../../../src/feeds/simulated/market/episodes/market-factor.ts";
import { Random } from "../../../src/feeds/simulated/market/random.ts";
import { Pool } from "../../../src/feeds/simulated/market/venues/pool.ts";

const PLAIN = /^\d+(\.\d+)?$/;

describe("random numbers", () => {
  test("equal names give equal numbers, and similar names unrelated ones", () => {
    const draw = (name: string) =>
      Array.from(
        { length: 8 },
        (
          (random) => () =>
            random.word()
        )(new Random(name)),
      );
    expect(draw("a/1")).toEqual(draw("a/1"));
    const all = Array.from({ length: 500 }, (_, serial) => draw(`a/${serial}`)).flat();
    expect(new Set(all).size).toBeGreaterThan(all.length - 3);
  });

  test("draws have the means and deviations of their distributions", () => {
    const random = new Random("moments");
    const sample = (draw: () => number) => {
      const values = Array.from({ length: 40_000 }, draw);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
      return { mean, variance };
    };
    expect(sample(() => random.unit()).mean).toBeCloseTo(0.5, 1);
    const normal = sample(() => random.normal());
    expect(Math.abs(normal.mean)).toBeLessThan(0.03);
    expect(Math.abs(normal.variance - 1)).toBeLessThan(0.05);
    expect(sample(() => random.waiting(7)).mean / 7).toBeCloseTo(1, 1);
    for (const mean of [0.3, 4, 80]) {
      const counts = sample(() => random.poisson(mean));
      expect(counts.mean / mean).toBeCloseTo(1, 1);
      expect(Math.abs(counts.variance / mean - 1)).toBeLessThan(0.08);
    }
  });
});

describe("numbers as text", () => {
  test("any non-negative number becomes a plain decimal close to it", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-40, max: 1e20, noNaN: true }), (value) => {
        expect(decimal(value)).toMatch(PLAIN);
        expect(Math.abs(Number(decimal(value)) / value - 1)).toBeLessThan(1e-8);
        expect(dollars(value)).toMatch(PLAIN);
      }),
    );
  });

  test("an invalid amount becomes 0, and one that is too large the maximum", () => {
    expect([decimal(0), decimal(-1), decimal(Number.NaN)]).toEqual(["0", "0", "0"]);
    expect(decimal(Number.MAX_VALUE)).toBe("100000000000000000000");
    expect(decimal(Number.MIN_VALUE)).toMatch(PLAIN);
  });
});

describe("a pool", () => {
  const reserves = fc.double({ min: 1e-3, max: 1e15, noNaN: true });
  const swap = fc.record({ buys: fc.boolean(), share: fc.double({ min: 1e-9, max: 50, noNaN: true }) });

  test("no swap decreases x·y, and reserves and price stay above 0", () => {
    fc.assert(
      fc.property(reserves, reserves, fc.array(swap, { maxLength: 60 }), (tokens, quote, swaps) => {
        const pool = new Pool(tokens, quote, 0.0025);
        for (const { buys, share } of swaps) {
          const before = pool.tokens * pool.quote;
          const price = pool.price;
          const got = buys ? pool.buy(pool.quote * share) : pool.sell(pool.tokens * share);
          expect(got).toBeGreaterThan(0);
          expect(pool.tokens * pool.quote).toBeGreaterThanOrEqual(before * (1 - 1e-12));
          expect(pool.tokens > 0 && pool.quote > 0).toBe(true);
          expect(buys ? pool.price > price : pool.price < price).toBe(true);
        }
      }),
    );
  });

  test("buying and selling back costs the fee, and the amounts for a price move cause that move", () => {
    const pool = new Pool(1_000, 500, 0.003);
    expect(pool.sell(pool.buy(20))).toBeLessThan(20);
    // With an amount that hardly moves the price, a purchase and a sale each lose the fee.
    const fair = pool.price;
    expect((pool.buy(1e-6) * fair) / 1e-6).toBeCloseTo(0.997, 6);
    expect(pool.sell(1e-6) / fair / 1e-6).toBeCloseTo(0.997, 6);
    const start = pool.price;
    pool.buy(pool.quoteToRise(Math.log(1.25)));
    expect(pool.price / start).toBeCloseTo(1.25, 2);
    pool.sell(pool.tokensToFall(Math.log(1.25)));
    expect(pool.price / start).toBeCloseTo(1, 2);
  });

  test("reserves of 0 and a fee of 1 are rejected with the value", () => {
    expect(() => new Pool(0, 5, 0.003)).toThrow(/got 0 and 5/);
    expect(() => new Pool(5, 5, 1)).toThrow(/got 1$/);
  });
});

describe("arrivals", () => {
  function countsPerMinute(branching: number): readonly number[] {
    const random = new Random(`arrivals/${branching}`);
    const arrivals = new Arrivals(0, branching, 45_000);
    const base = (6 / 60_000) * (1 - branching);
    const counts = new Array<number>(4_000).fill(0);
    for (let now = 0, arrived = 0; ; arrived += 1) {
      // On average, 24,000 trades arrive.
      if (arrived > 100_000) throw new Error(`trades trigger trades endlessly at ${now} ms`);
      now += arrivals.waitingMs(now, base, random);
      const minute = Math.floor(now / 60_000);
      if (minute >= counts.length) return counts;
      counts[minute] = (counts[minute] ?? 0) + 1;
      arrivals.arrived(now);
    }
  }
  const fano = (counts: readonly number[]) => {
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    return { mean, fano: counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length / mean };
  };

  test("trades without branching are Poisson; with branching they come in bursts at the same mean rate", () => {
    const even = fano(countsPerMinute(0));
    const bursting = fano(countsPerMinute(0.6));
    expect(Math.abs(even.mean / 6 - 1)).toBeLessThan(0.05);
    expect(Math.abs(bursting.mean / 6 - 1)).toBeLessThan(0.1);
    expect(Math.abs(even.fano - 1)).toBeLessThan(0.1);
    expect(bursting.fano).toBeGreaterThan(2);
  });
});

test("actors act in the order of time, then rank, while others join and leave", () => {
  const life = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(life, { minLength: 1, maxLength: 20 }), (lives) => {
      const queue = new ActorQueue();
      const acted: (readonly [number, number])[] = [];
      lives.forEach((steps, rank) => {
        let left = steps;
        const actor = { rank, nextAtMs: steps[0] ?? 0, act: () => {} } satisfies Actor;
        queue.add(
          Object.assign(actor, {
            act: () => {
              acted.push([actor.nextAtMs, rank]);
              left = left.slice(1);
              actor.nextAtMs += left[0] ?? Number.POSITIVE_INFINITY;
            },
          }),
        );
      });
      for (let actor = queue.first; actor; actor = queue.first) {
        actor.act([]);
        queue.firstHasActed();
      }
      const expected = lives.flatMap((steps, rank) => {
        let at = 0;
        return steps.map((step) => {
          at += step;
          return [at, rank] as const;
        });
      });
      expect(acted).toEqual(
        expected.sort(([at, rank], [otherAt, otherRank]) => at - otherAt || rank - otherRank),
      );
      expect(queue.first).toBeUndefined();
    }),
  );
});

test("the rhythm of a day is 1 on average, never 0, and busier in the afternoon than at night", () => {
  const hours = Array.from({ length: 24 }, (_, hour) => rhythmAt(hour * 3_600_000));
  expect(hours.reduce((sum, value) => sum + value, 0) / 24).toBeCloseTo(1, 6);
  expect(Math.min(...hours)).toBeGreaterThan(0.3);
  expect(hours[15] ?? 0).toBeGreaterThan(1.8 * (hours[3] ?? 0));
});
