import { beforeAll, describe, expect, test } from "vitest";
import type { Candle, LiquidityEvent, MarketEvent } from "../../../src/base/market/index.ts";
import type { Label, LabelKind } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { HOUR, MIDNIGHT, MINUTE, simulate } from "./run.ts";

const HOURS = IS_SOAK ? 12 : 5;
/** The seed of the short run produces all kinds of labels within its first hours. */
const SEED = IS_SOAK ? "labels" : "labels 6";
/** Scales a count for twelve hours to this number of hours. */
const inTwelveHours = (count: number) => (count * HOURS) / 12;
/** Smaller trades are dust. */
const MIN_USD = 0.01;

/** A trade with numbers instead of decimal texts. */
interface Fill {
  readonly at: number;
  readonly isBuy: boolean;
  readonly price: number;
  readonly usd: number;
  readonly trader: string;
  readonly pool: string;
}

const fills = new Map<string, Fill[]>();
const candles = new Map<string, Candle[]>();
const liquidity = new Map<string, LiquidityEvent[]>();
const listings = new Map<string, number>();
let labels: readonly Label[] = [];

function append<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const list = map.get(key);
  if (list) list.push(item);
  else map.set(key, [item]);
}

function collect(event: MarketEvent): void {
  if (event.kind === "trade" && Number(event.quoteUsd) >= MIN_USD) {
    const { at, trader, pool } = event;
    const isBuy = event.side === "buy";
    append(fills, event.token, {
      at,
      isBuy,
      price: Number(event.price),
      usd: Number(event.quoteUsd),
      trader,
      pool,
    });
  }
  if (event.kind === "candle") append(candles, event.token, event);
  if (event.kind === "liquidity") append(liquidity, event.token, event);
  if (event.kind === "listing" && !listings.has(event.token)) listings.set(event.token, event.at);
}

beforeAll(() => {
  labels = simulate({ hours: HOURS, tokens: 360, seed: SEED, beginAtMs: MIDNIGHT + 6 * HOUR }, collect);
});

/** Moves of liquidity without harm. */
const isHarmless = ({ kind }: Label) => kind === "rebalance" || kind === "jit" || kind === "migration";

function labeled(kind: LabelKind): readonly (Label & { readonly token: string })[] {
  const end = MIDNIGHT + (6 + HOURS) * HOUR;
  return labels.flatMap((label) => {
    const { token } = label;
    return label.kind === kind && token !== null && label.endAtMs < end ? [{ ...label, token }] : [];
  });
}

/** Whether the whole market moved meanwhile, which a label's size excludes, or was silent. */
const isCrossed = ({ startAtMs, endAtMs }: Label) =>
  labels.some(
    ({ kind, ...label }) =>
      /^(wide|slump|outage)$/.test(kind) && label.startAtMs < endAtMs && label.endAtMs > startAtMs,
  );

const between = (token: string, from: number, to: number) =>
  (fills.get(token) ?? []).filter(({ at }) => at >= from && at <= to);
const median = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

/**
 * Returns the usual price before a time: the median of the last five trades of the hour before; NaN
 * if there are fewer.
 */
const priceBefore = (token: string, at: number) => {
  const last = (fills.get(token) ?? []).filter((fill) => fill.at >= at - HOUR && fill.at < at).slice(-5);
  return last.length < 5 ? Number.NaN : median(last.map(({ price }) => price));
};

describe("a pump", () => {
  test("raises the price by its size, by trades of many different buyers", () => {
    const reached = labeled("pump")
      .filter((label) => label.group !== "exchange" && !isCrossed(label))
      .flatMap(({ token, startAtMs, peakAtMs, size }) => {
        const before = priceBefore(token, startAtMs);
        if (Number.isNaN(before) || peakAtMs === null) return [];
        const top = Math.max(...between(token, startAtMs, peakAtMs + MINUTE).map(({ price }) => price));
        const buys = between(token, startAtMs, peakAtMs).filter(({ isBuy }) => isBuy);
        expect(new Set(buys.map(({ trader }) => trader)).size).toBeGreaterThan(8);
        expect(new Set(buys.map(({ trader }) => trader)).size / buys.length).toBeGreaterThan(0.6);
        return [Math.log(top / before) / Math.log1p(size)];
      });
    expect(reached.length).toBeGreaterThan(inTwelveHours(30));
    expect(Math.min(...reached)).toBeGreaterThan(0.5);
    expect(reached.filter((share) => share > 0.75).length / reached.length).toBeGreaterThan(0.95);
    expect(Math.abs(median(reached) - 1.05)).toBeLessThan(0.1);
  });

  test("allows sales while it lasts, and leaves the liquidity unchanged", () => {
    for (const { token, startAtMs, endAtMs, group } of labeled("pump")) {
      if (group === "exchange") continue;
      expect(between(token, startAtMs, endAtMs).some(({ isBuy }) => !isBuy)).toBe(true);
      const moves = (liquidity.get(token) ?? []).filter(({ at }) => at >= startAtMs && at < endAtMs);
      const isMoved = labels
        .filter(isHarmless)
        .some((one) => one.token === token && one.startAtMs < endAtMs && one.endAtMs > startAtMs);
      if (!isMoved) expect(moves.filter(({ cause }) => cause !== "sync")).toEqual([]);
    }
  });

  test("is visible in the candles of the exchange too, with more trades than usual", () => {
    const pumps = labeled("pump").filter((label) => label.group === "exchange" && !isCrossed(label));
    expect(pumps.length).toBeGreaterThan(inTwelveHours(2));
    for (const { token, startAtMs, peakAtMs, size } of pumps) {
      const all = candles.get(token) ?? [];
      const before = all.filter(({ at }) => at <= startAtMs).slice(-20);
      const rise = all.filter(({ openAt }) => openAt >= startAtMs && openAt < (peakAtMs ?? 0));
      const top = Math.max(...rise.map(({ high }) => Number(high)));
      expect(Math.log(top / Number(before.at(-1)?.close)) / Math.log1p(size)).toBeGreaterThan(0.6);
      const trades = (list: readonly Candle[]) =>
        list.reduce((sum, one) => sum + (one.trades ?? 0), 0) / list.length;
      expect(trades(rise)).toBeGreaterThan(1.5 * trades(before));
    }
  });
});

test("a rug removes the liquidity at the labeled time, and the price falls to less than a third", () => {
  const rugs = labeled("rug");
  expect(rugs.length).toBeGreaterThan(inTwelveHours(20));
  for (const { token, startAtMs, removedAtMs, endAtMs, size } of rugs) {
    const reported = liquidity.get(token) ?? [];
    const before = reported.filter(({ at }) => at < (removedAtMs ?? 0)).at(-1);
    const removals = reported.filter(({ at, cause }) => cause === "remove" && at >= startAtMs);
    expect(removals[0]?.at).toBe(removedAtMs);
    expect(Number(reported.at(-1)?.usd) / Number(before?.usd)).toBeLessThan(1.1 * (1 - size) + 0.05);
    const after = between(token, removedAtMs ?? 0, endAtMs);
    const last = after.slice(-1).map(({ price }) => price);
    expect((last[0] ?? 0) / priceBefore(token, removedAtMs ?? 0)).toBeLessThan(1 / 3);
    expect(between(token, endAtMs + 1, Number.POSITIVE_INFINITY)).toEqual([]);
  }
});

test("in a honeypot many buy, no one sells, and the liquidity is removed at the end", () => {
  const honeypots = labeled("honeypot");
  expect(honeypots.length).toBeGreaterThan(inTwelveHours(12));
  for (const { token, removedAtMs } of honeypots) {
    const all = fills.get(token) ?? [];
    expect(all.filter(({ isBuy }) => !isBuy)).toEqual([]);
    expect(new Set(all.map(({ trader }) => trader)).size).toBeGreaterThan(40);
    const reported = liquidity.get(token) ?? [];
    const removal = reported.filter(({ cause }) => cause === "remove").at(-1);
    expect(removal?.at).toBe(removedAtMs);
    expect(Number(removal?.usd)).toBeLessThan(0.06 * Number(reported.at(-2)?.usd));
  }
});

test("a wash trades many times the usual among a few wallets, and the price returns", () => {
  const washes = labeled("wash").filter((label) => label.group !== "exchange" && !isCrossed(label));
  expect(washes.length).toBeGreaterThan(inTwelveHours(5));
  const returned: number[] = [];
  for (const { token, startAtMs, endAtMs } of washes) {
    const during = between(token, startAtMs, endAtMs);
    const busiest = new Map<string, number>();
    for (const { trader } of during) busiest.set(trader, (busiest.get(trader) ?? 0) + 1);
    const five = [...busiest.values()].toSorted((one, other) => other - one).slice(0, 5);
    expect(five.reduce((sum, count) => sum + count, 0) / during.length).toBeGreaterThan(0.6);
    const minutes = (endAtMs - startAtMs) / MINUTE;
    const slots = Array.from({ length: 24 }, (_, slot) => startAtMs - (slot + 1) * 10 * MINUTE);
    const usual = median(slots.map((from) => between(token, from, from + 10 * MINUTE).length / 10));
    expect(during.length / minutes).toBeGreaterThan(2.5 * usual);
    const after = median(during.slice(-5).map(({ price }) => price));
    returned.push(Math.abs(Math.log(after / priceBefore(token, startAtMs))));
  }
  expect(median(returned.filter((move) => !Number.isNaN(move)))).toBeLessThan(0.015);
});

test("a thin tick is one trade of one wallet that raises the price by its size, and another that reverts it", () => {
  const ticks = labeled("thin").filter(({ group }) => group !== "exchange");
  expect(ticks.length).toBeGreaterThan(inTwelveHours(4));
  for (const { token, startAtMs, endAtMs, size } of ticks) {
    const first = between(token, startAtMs, startAtMs)[0];
    expect(first?.isBuy).toBe(true);
    const own = between(token, startAtMs, endAtMs).filter(({ trader }) => trader === first?.trader);
    expect(own.map(({ isBuy }) => isBuy)).toEqual([true, false]);
    const pool = (liquidity.get(token) ?? [])
      .filter((one) => one.pool === first?.pool && one.at < startAtMs)
      .at(-1);
    const needed = (Number(pool?.usd) / 2) * (Math.sqrt(1 + size) - 1);
    expect(Math.abs((first?.usd ?? 0) / needed - 1)).toBeLessThan(0.06);
    expect(between(token, startAtMs, endAtMs).length).toBeLessThan(16);
  }
});

test("a listing's label has its time, its liquidity and its outcome", () => {
  const reported = labeled("listing");
  expect(reported.length).toBeGreaterThan(inTwelveHours(120));
  const outcomes = new Map(
    labels.filter(({ kind }) => kind === "rug" || kind === "honeypot").map((one) => [one.token, one.kind]),
  );
  for (const { token, startAtMs, shape, size } of reported) {
    expect(listings.get(token)).toBe(startAtMs);
    expect(size).toBeGreaterThan(1_000);
    const outcome = outcomes.get(token);
    if (outcome) expect(shape).toBe(outcome);
  }
  expect(new Set(reported.map(({ shape }) => shape))).toEqual(new Set(["honest", "rug", "honeypot"]));
});

test("a move of the whole market moves most of the exchange's pairs, by about its size", () => {
  const wides = labels.filter(
    ({ kind, endAtMs }) => kind === "wide" && endAtMs < MIDNIGHT + (6 + HOURS) * HOUR - MINUTE,
  );
  expect(wides.length).toBeGreaterThan(0);
  for (const { startAtMs, endAtMs, size } of wides) {
    const moves = [...candles.values()].flatMap((all) => {
      const before = all.filter(({ at }) => at <= startAtMs).at(-1);
      const after = all.find(({ at }) => at >= endAtMs + MINUTE);
      return before && after ? [Math.log(Number(after.close) / Number(before.close))] : [];
    });
    expect(moves.length).toBeGreaterThan(40);
    expect(Math.abs(median(moves) / Math.log1p(size) - 1)).toBeLessThan(0.25);
  }
});

test("a token has at most one pump, rug, honeypot, wash or tick at a time", () => {
  const until = new Map<string, number>();
  const scripted = ["pump", "rug", "honeypot", "wash", "thin"];
  for (const label of labels.filter(({ kind }) => scripted.includes(kind))) {
    const key = `${label.group}/${label.token}`;
    expect(label.startAtMs).toBeGreaterThanOrEqual(until.get(key) ?? 0);
    expect(label.endAtMs).toBeGreaterThan(label.startAtMs);
    until.set(key, label.endAtMs);
  }
});
