import fc from "fast-check";
import { expect, test } from "vitest";
import type { Outcome } from "../../../src/base/model/index.ts";
import { calibrationOf } from "../../../src/extensions/history/calibration.ts";
import { costsWith, tradesOf } from "../../../src/extensions/history/record-trades.ts";
import { summarizeOutcomes } from "../../../src/extensions/history/summarize-outcomes.ts";

const COSTS = { feePct: 0.3, slippagePct: 0.5, stakeUsd: 100 };
const outcomeOf = (part: object) => part as Outcome;
/** What is left of a change after a fee and a slippage on each side, in percent. */
const left = (change: number, fee: number, slip: number) =>
  (((1 + change / 100) * (1 - fee / 100)) / (1 + fee / 100) / (1 + slip) ** 2 - 1) * 100;

test("the costs of a group are those of its kind", () => {
  const costs = costsWith({ recordFee: 1, recordExchangeFee: 0.2, recordStake: 50 });
  expect([costs("bsc"), costs("matic")]).toEqual(
    Array(2).fill({ feePct: 1, slippagePct: 0.5, stakeUsd: 50 }),
  );
  expect(costs("exchange")).toEqual({ feePct: 0.2, slippagePct: 0.1 });
});

test("a trade's gain is net of costs, with the pool's slippage where it is known, as an independent computation gives it", () => {
  const trade = fc.record({
    change: fc.integer({ min: -100, max: 300 }),
    liquidity: fc.constantFrom(null, "0", "10000", "250000"),
  });
  fc.assert(
    fc.property(fc.array(trade, { minLength: 1, maxLength: 9 }), (trades) => {
      const outcomes = trades.map(({ change, liquidity }) =>
        outcomeOf({ held: { change_end: change, end_s: 60 }, start_liquidity: liquidity }),
      );
      const gains = trades
        .map(({ change, liquidity }) =>
          left(change, 0.3, Number(liquidity) > 0 ? 200 / Number(liquidity) : 0.005),
        )
        .toSorted((a, b) => a - b);
      const told = tradesOf(outcomes, COSTS);
      const middle = ((gains[(gains.length - 1) >> 1] ?? 0) + (gains[gains.length >> 1] ?? 0)) / 2;
      expect(told.mean).toBeCloseTo(gains.reduce((sum, gain) => sum + gain, 0) / gains.length, 1);
      expect(told.median).toBeCloseTo(middle, 1);
      expect(told.won).toBe(Number((gains.filter((gain) => gain > 0).length / gains.length).toFixed(4)));
      expect([told.n, told.worthless]).toEqual([
        trades.length,
        trades.filter(({ change }) => change === -100).length,
      ]);
    }),
    { numRuns: 60 },
  );
});

/** Returns this many trades, and as many of the control as `controls`. */
function trades(n: number, change: number, controls = 0, control = 0, endS = 60) {
  return Array.from({ length: n }, (_, index) =>
    outcomeOf({
      held: { change_end: change, end_s: endS, rugged_s: index === 0 ? 5 : null },
      start_liquidity: null,
      control: { change_5m: index < controls ? [control] : [], change_15m: [7], change_60m: [9, 9] },
    }),
  );
}

test("a verdict needs thirty trades and thirty of the control, and says which were better", () => {
  const text = (outcomes: readonly Outcome[]) => tradesOf(outcomes, COSTS).text;
  expect(text(trades(29, 10))).toMatch(/no verdict, because 29 is too few \(needs 30\)\.$/);
  expect(text(trades(30, 10, 29, 0))).toMatch(
    /The control is too small for a verdict: n 29, and it needs 30\.$/,
  );
  expect(text(trades(30, 10, 30, 0))).toMatch(
    /^Bought at each start and sold at its end, with 0\.3 % fee a side and the slippage of \$100: mean \+8\.3 %.*1 rugged within the hour.*The flares did better\.$/,
  );
  expect(text(trades(30, 0, 30, 10))).toMatch(/The flares did worse\.$/);
  expect(text([...trades(29, 0, 29, 1), ...trades(2, 900, 2, 1)])).toMatch(/better only by the mean\.$/);
  expect(text([...trades(29, 2, 29, 1), ...trades(2, -100, 2, 1)])).toMatch(/better only by the median\.$/);
  expect(tradesOf(trades(3, 1), { feePct: 1, slippagePct: 0.1 }).text).toMatch(
    /with 1 % fee a side and 0\.1 % slippage/,
  );
});

test("the control lasts as long as the flare, to the nearest of 5, 15 and 60 minutes, the shorter if both are as near", () => {
  const counts = (endS: number) => tradesOf(trades(1, 0, 1, 0, endS), COSTS).control;
  const controlOf = (endS: number) => [counts(endS).n, counts(endS).mean];
  const [five, fifteen, sixty] = [0, 7, 9].map((change) => Number(left(change, 0.3, 0.005).toFixed(2)));
  expect([0, 600].map(controlOf)).toEqual(Array(2).fill([1, five]));
  expect([601, 37.5 * 60].map(controlOf)).toEqual(Array(2).fill([1, fifteen]));
  expect([37.5 * 60 + 1, 99_999].map(controlOf)).toEqual(Array(2).fill([2, sixty]));
});

test("an outcome without a price at its start is counted as unknown, and nothing is known without any", () => {
  const told = tradesOf([outcomeOf({}), outcomeOf({ held: { change_end: null, rugged_s: 0 } })], COSTS);
  expect(told).toMatchObject({
    n: 0,
    won: null,
    mean: null,
    median: null,
    unknown: 2,
    worthless: 0,
    rugged_60m: 1,
    control: { n: 0 },
  });
});

test("what odds said is compared with what happened, by ranges that contain their lower bound", () => {
  const said = (share: number, held: object) =>
    outcomeOf({ odds: { rug_60m: { share }, up_15m: { share }, fall_15m: { share } }, held });
  const { rug_60m, up_15m, fall_15m } = calibrationOf([
    said(0.019, { rugged_s: null, change_15m: 0, lowest_15m: -3 }),
    said(0.02, { rugged_s: 0, change_15m: 1, lowest_15m: -2.9 }),
    said(0.04, { rugged_s: null, change_15m: null, lowest_15m: null }),
    said(0.8, { rugged_s: 9, change_15m: -1, lowest_15m: -4 }),
    said(1, { rugged_s: null, change_15m: 1, lowest_15m: 0 }),
    outcomeOf({ odds: null, held: { rugged_s: 1, change_15m: 1, lowest_15m: -9 } }),
    outcomeOf({ odds: { rug_60m: { share: 0.5 } } }),
  ]);
  expect(rug_60m).toEqual([
    { from: 0, to: 0.02, n: 1, said: 0.019, observed: 0 },
    { from: 0.02, to: 0.05, n: 2, said: 0.03, observed: 0.5 },
    { from: 0.8, to: 1, n: 2, said: 0.9, observed: 0.5 },
  ]);
  expect(up_15m.map(({ n, observed }) => [n, observed])).toEqual([
    [1, 0],
    [1, 1],
    [2, 0.5],
  ]);
  expect(fall_15m.map(({ n, observed }) => [n, observed])).toEqual([
    [1, 1],
    [1, 0],
    [2, 0.5],
  ]);
});

/** The quantile of R's type 7, from its definition. */
function quantile(values: readonly number[], part: number): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const place = part * (sorted.length - 1);
  const [low = 0, high = 0] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return Number((low + (high - low) * (place - Math.floor(place))).toFixed(4));
}

test("the figures of any outcomes equal those from the definitions", async () => {
  const change = fc.option(fc.integer({ min: -50, max: 50 }));
  const outcome = fc.record({
    ended_by: fc.constantFrom("canary", "faded"),
    collapsed_at: fc.constantFrom(null, "2026-03-02T12:00:00.000Z"),
    collapse_warning_s: fc.nat(3),
    change_5m: change,
    change_15m: change,
    change_60m: change,
    control: fc.record({
      change_5m: fc.array(fc.integer({ min: -2, max: 2 }), { maxLength: 3 }),
      change_15m: fc.constant([]),
      change_60m: fc.constant([1]),
    }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(outcome, { maxLength: 8 }), async (given) => {
      const fixed = given.map((one) => ({
        ...one,
        collapse_warning_s: one.collapsed_at === null ? null : one.collapse_warning_s,
      }));
      const figures = await summarizeOutcomes(fixed.map(outcomeOf), async () => undefined);
      const fallen = fixed
        .filter(({ collapsed_at }) => collapsed_at !== null)
        .map(({ collapse_warning_s }) => collapse_warning_s ?? 0);
      const byCanary = fixed.filter(({ ended_by }) => ended_by === "canary").length;
      expect(figures).toMatchObject({
        flares: fixed.length,
        ended_by_canary: byCanary,
        canary_share: fixed.length === 0 ? null : Number((byCanary / fixed.length).toFixed(4)),
        collapsed: fallen.length,
        warned: fallen.filter((seconds) => seconds > 0).length,
        warning_s: { q1: quantile(fallen, 0.25), median: quantile(fallen, 0.5), q3: quantile(fallen, 0.75) },
      });
      expect(figures.after.map(({ minutes }) => minutes)).toEqual([5, 15, 60]);
      for (const { minutes, n, unknown, rose, q1, median, q3, control } of figures.after) {
        const name = `change_${minutes}m` as "change_5m";
        const known = fixed.flatMap((one) => one[name] ?? []);
        expect({ n, unknown, rose, q1, median, q3 }).toEqual({
          n: known.length,
          unknown: fixed.length - known.length,
          rose:
            known.length === 0
              ? null
              : Number((known.filter((one) => one > 0).length / known.length).toFixed(4)),
          q1: quantile(known, 0.25),
          median: quantile(known, 0.5),
          q3: quantile(known, 0.75),
        });
        expect(control).toMatchObject({ n: fixed.flatMap((one) => one.control[name]).length });
      }
    }),
    { numRuns: 60 },
  );
});
