import { test as base, beforeAll, expect } from "vitest";
import { IS_SOAK } from "../../support/law-runs.ts";
import { HOUR, MIDNIGHT } from "./run.ts";
import { MARKET_GROUPS_SEEN, type Tally, tally } from "./tally.ts";

/** Long runs. In `npm test`, `scenarios/without-group` detects changes of the simulated market. */
const test = base.runIf(IS_SOAK);

let day: Tally;

beforeAll(() => {
  day = tally({ hours: 24, tokens: 240, seed: "a day" });
});

test("a tenth of the tokens makes more than a third of the trades, and most tokens trade rarely", () => {
  const counts = [...day.tradesByToken.values()].toSorted((one, other) => other - one);
  const all = counts.reduce((sum, count) => sum + count, 0);
  const tenth = counts.slice(0, Math.floor(counts.length / 10)).reduce((sum, count) => sum + count, 0);
  expect(tenth / all).toBeGreaterThan(1 / 3);
  expect(counts[counts.length >> 1] ?? 0).toBeLessThan(all / counts.length);
});

test("a few wallets trade all the time, and most only once or twice", () => {
  const counts = [...day.tradesByTrader.values()].toSorted((one, other) => other - one);
  expect(counts[0] ?? 0).toBeGreaterThan(1_000);
  expect(counts[counts.length >> 1] ?? 0).toBeLessThan(20);
});

test("the afternoon is busier than the night", () => {
  const perHour = (from: number, to: number) =>
    day.tradesByHour.slice(from, to).reduce((sum, count) => sum + count, 0) / (to - from);
  expect(perHour(13, 18)).toBeGreaterThan(1.3 * perHour(1, 6));
});

test("all groups trade, and listings are frequent, at most 25 in any quarter of an hour", () => {
  expect([...day.groups].sort()).toEqual(MARKET_GROUPS_SEEN);
  expect(day.listings.length).toBeGreaterThan(400);
  expect(day.listings.length).toBeLessThan(800);
  const onPage = day.listings.map(
    (at) => day.listings.filter((other) => other > at - 900_000 && other <= at).length,
  );
  expect(Math.max(...onPage)).toBeLessThanOrEqual(25);
});

test("most tokens have facts, some are known to have none, and facts arrive one by one over minutes", () => {
  const { marketData, socialData, contractSource, forumPost } = day.facts;
  for (const fact of [marketData, socialData]) {
    expect(fact.some).toBeGreaterThan(50);
    expect(fact.none).toBeGreaterThan(20);
  }
  expect(contractSource.some).toBeGreaterThan(100);
  expect(forumPost.some).toBeGreaterThan(20);
  const soon = day.factMoments.filter((at) => at <= MIDNIGHT + 600_000);
  expect(new Set(soon).size).toBeGreaterThan(100);
  expect(day.factMoments.some((at) => at > MIDNIGHT + HOUR)).toBe(true);
});

test("every chain has quote tokens: a wrapped native token that trades, and a dollar", () => {
  expect(day.quotes.length).toBe(7);
  expect(day.quotes.filter((token) => (day.tradesByToken.get(token) ?? 0) > 1_000).length).toBe(3);
});
