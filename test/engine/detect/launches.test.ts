import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { Launches } from "../../../src/engine/detect/launches.ts";
import { createTradeState } from "../../../src/engine/detect/measures/trade-detector.ts";
import { notePool } from "../../../src/engine/detect/pools.ts";
import { createReading } from "../../../src/engine/detect/score.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/settings.ts";
import { NO_PROFILE } from "../../../src/engine/state/token-profile.ts";
import { createToken } from "../../../src/engine/state/token-state.ts";
import { crowdOf, playScripts, type Script } from "../trade-market.ts";
import {
  address,
  createRandom,
  drive,
  HOUR,
  MINUTE,
  SECOND,
  START,
  unlisted,
  withClocks,
} from "../trend-kit.ts";

const DAY = 24 * HOUR;

/** A token with its first trade at `tradedMs`, these buyers and dollars, and this rise. */
function launched(
  tradedMs: number,
  [buyers, usd, multiple]: readonly [number, number, number],
  listed = true,
) {
  const token = createToken("bsc", address(1), address(1), tradedMs, NO_PROFILE);
  const report = { atMs: tradedMs, usd: 50_000, usdText: "50000", cause: "listing" } as const;
  const pool = notePool(token, "pool", report, DEFAULT_SETTINGS);
  if (listed) pool.listedMs = tradedMs;
  const trades = createTradeState(tradedMs, 1, DEFAULT_SETTINGS);
  Object.assign(trades, { buyers, usd, price: multiple });
  Object.assign(token, { trades, price: multiple, firstMarketMs: tradedMs });
  return { token, trades };
}

/** Compares a token at this age, whose own terms are all at 9. Returns the terms' z. */
function compared(launches: Launches, age: number, facts: readonly [number, number, number], atMs = START) {
  const { token, trades } = launched(atMs - age, facts);
  const reading = createReading();
  for (const term of Object.values(reading.terms)) Object.assign(term, { z: 9, raw: 1, weight: 0.25 });
  launches.compare(reading, token, trades, atMs);
  const { buyers, price, volume, imbalance } = reading.terms;
  return {
    buyers: buyers.z,
    price: price.z,
    volume: volume.z,
    imbalance: imbalance.z,
    activity: reading.activity,
  };
}

function learn(launches: Launches, count: number, facts: readonly [number, number, number], atMs = START) {
  for (const minutes of [1, 2, 5, 10, 20, 40, 60])
    for (let n = 0; n < count; n += 1) {
      const { token, trades } = launched(atMs - minutes * MINUTE, facts);
      launches.note(token, trades, atMs);
    }
}

test("until other launches are known, a token is compared with real ones: a usual launch is not unusual, a strong one is", () => {
  const launches = new Launches(DEFAULT_SETTINGS);
  for (const age of [0, 1, 5, 7, 30, 59.9]) {
    const usual = compared(launches, age * MINUTE, [age < 20 ? 6 : 1, 5_000, 2]);
    expect(
      [usual.buyers, usual.price].every((z) => z < 1.2),
      String(age),
    ).toBe(true);
    const strong = compared(launches, age * MINUTE, [60, 100_000, 20]);
    expect(
      [strong.buyers, strong.price, strong.volume].every((z) => z > 2),
      String(age),
    ).toBe(true);
    expect([strong.imbalance, strong.activity]).toEqual([9, strong.buyers]);
  }
});

test("what launches have is learned, and is forgotten within days", () => {
  const launches = new Launches(DEFAULT_SETTINGS);
  const facts = [60, 100_000, 20] as const;
  const before = compared(launches, 5 * MINUTE, facts);
  learn(launches, 600, facts);
  const known = compared(launches, 5 * MINUTE, facts);
  expect(known.buyers).toBeLessThan(0.5);
  expect(known.volume).toBeLessThan(0.5);
  expect(compared(launches, 5 * MINUTE, [1_000, 2e6, 100]).buyers).toBeGreaterThan(2);
  learn(launches, 1, [6, 5_000, 2], START + 20 * DAY);
  expect(compared(launches, 5 * MINUTE, facts, START + 20 * DAY).buyers).toBeCloseTo(before.buyers, 1);
});

test("the launches of one group say nothing about those of another", () => {
  const launches = new Launches(DEFAULT_SETTINGS);
  const { token, trades } = launched(START - 5 * MINUTE, [60, 100_000, 20]);
  for (let n = 0; n < 500; n += 1) launches.note({ ...token, group: "matic" }, trades, START);
  expect(compared(launches, 5 * MINUTE, [60, 100_000, 20])).toEqual(
    compared(new Launches(DEFAULT_SETTINGS), 5 * MINUTE, [60, 100_000, 20]),
  );
});

test("a token that was listed an hour ago, and one whose listing nobody saw, are compared with no launches", () => {
  const launches = new Launches(DEFAULT_SETTINGS);
  const own = { buyers: 9, price: 9, volume: 9, imbalance: 9, activity: 0 };
  expect(compared(launches, HOUR, [1, 1, 1])).toEqual(own);
  expect(compared(launches, HOUR - 1, [1, 1, 1])).not.toEqual(own);
  const { token, trades } = launched(START - MINUTE, [1, 1, 1], false);
  const reading = createReading();
  launches.compare(reading, token, trades, START);
  expect(reading).toEqual(createReading());
  launches.note(token, trades, START);
  expect(launches.sums.size).toBe(0);
});

test("a flare of an older token does not depend on launches", () => {
  const pumped = (minute: number) => minute >= 75 && minute < 87;
  const script: Script = {
    token: address(1),
    rate: (minute) => (pumped(minute) ? 25 : 2),
    buyShare: (minute) => (pumped(minute) ? 0.8 : 0.5),
  };
  const events = withClocks(
    playScripts([...crowdOf(8), script], 100),
    START + 100 * MINUTE,
    START - 3 * SECOND,
  );
  // At a rate of 1, baselines learn at the same speed at any score, also at that of a young token.
  const flaresOf = (all: readonly MarketEvent[], launchDeviations: number) => {
    const { flares, explanations } = drive(
      new TrendEngine({ settings: { launchDeviations, frozenRate: 1 } }),
      all,
    );
    const ageless = Object.entries(explanations).map(([id, { age_s, ...why }]) => [id, why]);
    return { flares, ageless };
  };
  const expected = flaresOf(events.map(unlisted), 1);
  expect(expected.ageless).toHaveLength(1);
  for (const deviations of [0.3, 3]) expect(flaresOf(events, deviations)).toEqual(expected);
});

interface LaunchShape {
  /** Trades a minute. */
  readonly rate: number;
  readonly buyShare: number;
  readonly usd: number;
}

/** Plays launches, one every five minutes. Returns which of them flared within ten minutes. */
function flaredOf(shapes: readonly LaunchShape[]): readonly boolean[] {
  const life = 15;
  const events = shapes.flatMap(({ rate, buyShare, usd }, n) => {
    const script = { token: address(n + 1), rate: () => rate, buyShare: () => buyShare, usd };
    return playScripts([script], life, n + 1).map((event) => ({ ...event, at: event.at + n * 5 * MINUTE }));
  });
  const flared = new Set<string>();
  const untilMs = START + (shapes.length * 5 + life) * MINUTE;
  drive(new TrendEngine(), withClocks(events, untilMs, START - 3 * SECOND), ({ flares }) => {
    for (const { token } of flares.pro) flared.add(token.address);
  });
  return shapes.map((_, n) => flared.has(address(n + 1)));
}

const countOf = (all: readonly boolean[]) => all.filter(Boolean).length;

test("of ordinary launches at most one in five flares, and one that stands out does", () => {
  const random = createRandom(3);
  const shapes = Array.from({ length: 40 }, (_, n): LaunchShape => {
    if (n % 20 === 19) return { rate: 60, buyShare: 0.85, usd: 300 };
    return { rate: 2 + 10 * random() ** 2, buyShare: 0.6 + 0.15 * random(), usd: 60 + 240 * random() };
  });
  const flared = flaredOf(shapes);
  expect([flared[19], flared[39]]).toEqual([true, true]);
  expect(countOf(flared.filter((_, n) => n % 20 !== 19))).toBeLessThanOrEqual(0.2 * 38);
});

test("on a chain of busier launches, they flare until it is known that all are like that", () => {
  const busy = { rate: 60, buyShare: 0.8, usd: 250 };
  const flared = flaredOf(Array.from({ length: 120 }, () => busy));
  expect(countOf(flared.slice(0, 6))).toBeGreaterThanOrEqual(4);
  expect(countOf(flared.slice(-30))).toBeLessThanOrEqual(0.2 * 30);
});
