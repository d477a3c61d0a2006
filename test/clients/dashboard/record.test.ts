import { expect, test } from "vitest";
import type { Outcome } from "../../../src/base/model/index.ts";
import { readRoute, recordHash } from "../../../src/clients/dashboard/route.ts";
import { scaleOf } from "../../../src/clients/dashboard/state/record/scale.ts";
import {
  leftOutText,
  rangeText,
  rowLeftOutText,
  verdictText,
  warningText,
} from "../../../src/clients/dashboard/text/record-text.ts";
import { summarizeOutcomes } from "../../../src/extensions/history/index.ts";
import { SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const summarize = (outcomes: readonly Outcome[]) => summarizeOutcomes(outcomes, async () => {});

const EMPTY = await summarize([]);

/** Returns the figures of flares with these changes after 15 minutes, and with this control. */
const figuresOf = (changes: readonly number[], control: readonly number[] = [], collapse_warning_s = null) =>
  summarize(
    changes.map((change_15m, at) => ({
      ...SAMPLE_OUTCOME,
      change_5m: null,
      change_60m: change_15m,
      change_15m,
      collapse_warning_s,
      control: { change_5m: [], change_15m: at === 0 ? [...control] : [], change_60m: [] },
    })),
  );

test("the scale includes 0 and every quartile, and has a label at each end", async () => {
  const { ticks = [], positionOf } = scaleOf(await figuresOf([-7, -1, 4], [1, 23])) ?? {};
  expect(ticks).toEqual([-5, 0, 5, 10, 15, 20]);
  expect(ticks.map((tick) => Math.round(positionOf?.(tick) ?? 0))).toEqual([0, 20, 40, 60, 80, 100]);
  expect(scaleOf(await figuresOf([2, 3]))?.ticks).toEqual([0, 1, 2, 3]);
  expect(scaleOf(await figuresOf([-0.02]))?.ticks[0]).toBe(-0.02);
  expect(scaleOf(await figuresOf([0]))?.ticks).toEqual([0, 1]);
  expect(scaleOf(EMPTY)).toBeUndefined();
});

test("the verdict says if flares did better, worse or the same as their control, and if either are few", async () => {
  const many = (change: number) => Array.from({ length: 30 }, () => change);
  expect(verdictText(await figuresOf(many(-1), many(2)), 15)).toBe(
    "15 minutes after their start, the median change of the flares was −1.0 %, and that of the control +2.0 %: the flares did worse.",
  );
  expect(verdictText(await figuresOf(many(3), many(2)), 15)).toMatch(/: the flares did better\.$/);
  expect(verdictText(await figuresOf(many(2), many(2)), 15)).toMatch(/: the flares did the same\.$/);
  expect(verdictText(await figuresOf([3, 4], many(2)), 15)).toMatch(
    /better\. With only 2 flares, this may be chance\.$/,
  );
  expect(verdictText(await figuresOf(many(3), [2, 2, 2]), 15)).toMatch(
    /better\. With only 3 moments of the control, this may be chance\.$/,
  );
  expect(verdictText(await figuresOf([3], [2]), 15)).toMatch(
    /better\. With only one flare and one moment of the control, this may be chance\.$/,
  );
  expect(verdictText(await figuresOf([3]), 15)).toMatch(/There is no control yet\.$/);
  expect(verdictText(EMPTY, 15)).toBe("");
});

test("the record counts the flares that its verdict and its rows leave out, and the possible rugs", async () => {
  const outcomes = [3, 4, null].map((change, at) => ({
    ...SAMPLE_OUTCOME,
    ended_by: at === 2 ? ("canary" as const) : ("faded" as const),
    change_15m: change,
    change_60m: change === 3 ? 3 : null,
  }));
  const figures = await summarize(outcomes);
  expect(verdictText(figures, 15)).toMatch(/^15 minutes .* of the flares that still traded was \+3\.5 %/);
  const after = figures.after.map((one) => ({ ...one, control: { ...one.control, median: 1 } }));
  expect(verdictText({ ...figures, after }, 15)).toContain(": these flares did better.");
  expect(leftOutText(figures, 15)).toBe(
    "Flares without trades at that time, perhaps rugs, are left out: 1 of 3 after 15 minutes, 2 of 3 after 60 minutes. In all, 1 of 3 were possible rugs.",
  );
  expect(figures.after.map(({ unknown }) => rowLeftOutText(unknown, figures))).toEqual([
    "",
    "1 of 3 left out: no trades, perhaps rugs",
    "2 of 3 left out: no trades, perhaps rugs",
  ]);
  const faded = await summarize(outcomes.map((one) => ({ ...one, ended_by: "faded" as const })));
  expect(leftOutText(faded, 15)).toBe(
    "Flares without trades at that time are left out: 1 of 3 after 15 minutes, 2 of 3 after 60 minutes.",
  );
  expect(rowLeftOutText(2, faded)).toBe("2 of 3 left out: no trades");
  expect(leftOutText(await figuresOf([1]), 15)).toBe("");
});

test("the record states how long before a collapse the canary warned, and the bounds of its rows", async () => {
  expect(warningText(EMPTY)).toBe("");
  const warned = { ...EMPTY, warning_s: { q1: 40, median: 250, q3: 3_600 } };
  expect(warningText(warned)).toBe("median 4m 10s before, half of them 40s to 1h 00m");
  const rarely = { ...EMPTY, warned: 1, warning_s: { q1: 0, median: 0, q3: 9 } };
  expect(warningText(rarely)).toBe("most came without a warning");
  expect(warningText({ ...rarely, warned: 0 })).toBe("all came without a warning");
  const range = (from: number | null, to: number | null) => ({ from, to, figures: EMPTY });
  expect(rangeText(range(null, 10_000), "usd")).toBe("below $10K");
  expect(rangeText(range(10_000, 50_000), "usd")).toBe("$10K to $50K");
  expect(rangeText(range(3.5, null), "score")).toBe("from 3.5");
});

test("the address of the track record contains its group and window", async () => {
  for (const window of ["24h", "7d", "30d"] as const)
    for (const group of ["bsc", "exchange"] as const)
      expect(readRoute(recordHash({ group, window }))).toEqual({ page: "record", group, window });
  expect(recordHash({ group: "bsc", window: "24h" })).toBe("#/record");
  const first = { page: "record", group: "bsc", window: "24h" };
  expect(readRoute("#/record?window=1y&group=sui")).toEqual(first);
});
