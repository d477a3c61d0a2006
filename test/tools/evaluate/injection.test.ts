import { expect, test } from "vitest";
import { CLASSES, inject } from "./injection.ts";
import { createRandom } from "./random.ts";
import type { Market, Series } from "./series.ts";

const MINUTES = 1_440;
const FROM = 400;

/**
 * Returns pairs at a price of 100 that trade 10 a minute, so that every difference was injected.
 */
function flatMarket(pairs: number): Market {
  const column = (value: number) => new Float64Array(MINUTES).fill(value);
  const series = Array.from({ length: pairs }, (_, index): Series => {
    const close = column(100);
    return {
      pair: `P${index}`,
      open: column(100),
      high: column(100),
      low: column(100),
      close,
      volume: column(10),
    };
  });
  return { startMs: 0, minutes: MINUTES, series };
}

function injected(kind: (typeof CLASSES)[number]) {
  const { market, episodes } = inject(flatMarket(6), kind, FROM, MINUTES, createRandom(7));
  const of = (pair: string) => {
    const series = market.series.find((one) => one.pair === pair);
    if (!series) throw new Error(`no ${pair}`);
    return series;
  };
  return { market, episodes, of };
}

test.each([
  ["pump5", 105],
  ["pump10", 110],
  ["pump25", 125],
] as const)(
  "%s rises over 3 to 10 minutes, decays over 15 to 40 and trades 6 to 25 times the base",
  (kind, top) => {
    const { episodes, of } = injected(kind);
    expect(episodes).toHaveLength(12);
    for (const { pair, startAt, endAt } of episodes) {
      const { close, volume } = of(pair);
      const own = [...close.subarray(startAt, endAt)];
      const rise = own.indexOf(Math.max(...own)) + 1;
      expect(Math.max(...own)).toBeCloseTo(top, 9);
      expect([rise >= 3, rise <= 10]).toEqual([true, true]);
      expect([endAt - startAt - rise >= 15, endAt - startAt - rise <= 40]).toEqual([true, true]);
      expect([close[startAt - 1], close[endAt]]).toEqual([100, 100]);
      const factor = (volume[startAt] ?? 0) / 10;
      expect([factor >= 6, factor <= 25]).toEqual([true, true]);
    }
  },
);

test("wash is twenty times the volume for twenty minutes at an unchanged price", () => {
  const { episodes, of } = injected("wash");
  for (const { pair, startAt, endAt } of episodes) {
    const { close, volume } = of(pair);
    expect(endAt - startAt).toBe(20);
    expect(new Set(volume.subarray(startAt, endAt))).toEqual(new Set([200]));
    expect([volume[startAt - 1], volume[endAt]]).toEqual([10, 10]);
    expect(new Set(close)).toEqual(new Set([100]));
  }
});

test("thin is a rise of 10 % for two minutes with a fifth of the volume", () => {
  const { episodes, of } = injected("thin");
  for (const { pair, startAt, endAt } of episodes) {
    const { close, volume } = of(pair);
    expect(endAt - startAt).toBe(2);
    expect(close[startAt]).toBeCloseTo(110, 9);
    expect(close[endAt]).toBe(100);
    expect([...volume.subarray(startAt, endAt)]).toEqual([2, 2]);
  }
});

test("wide raises every pair by 10 % within the same ten minutes", () => {
  const { market, episodes } = injected("wide");
  const startAt = episodes[0]?.startAt ?? 0;
  expect(episodes.filter((episode) => episode.startAt === startAt)).toHaveLength(market.series.length);
  for (const { close, volume } of market.series) {
    expect(close[startAt - 1]).toBe(100);
    expect(close[startAt + 9]).toBeCloseTo(110, 9);
    expect(new Set(volume)).toEqual(new Set([10]));
  }
});

test.each(CLASSES)("%s is placed by the seed, and does not change the recording", (kind) => {
  const clean = flatMarket(3);
  const places = (seed: number) => inject(clean, kind, FROM, MINUTES, createRandom(seed)).episodes;
  expect(places(1)).toEqual(places(1));
  expect(places(1)).not.toEqual(places(2));
  expect(clean).toEqual(flatMarket(3));
});
