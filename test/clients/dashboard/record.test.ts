import { expect, test } from "vitest";
import type { Outcome, RecordTrades } from "../../../src/base/model/index.ts";
import { readRoute, recordHash } from "../../../src/clients/dashboard/route.ts";
import {
  flareFacts,
  leftOutText,
  rangeText,
  scaleOf,
  tradeFacts,
  verdictText,
} from "../../../src/clients/dashboard/text/record-text.ts";
import { summarizeOutcomes } from "../../../src/extensions/history/index.ts";
import { SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const summarize = (outcomes: readonly Outcome[]) => summarizeOutcomes(outcomes, async () => {});

const EMPTY = await summarize([]);

/** Returns the figures of flares with these changes after 15 minutes, and with this control. */
const figuresOf = (changes: readonly (number | null)[], control: readonly number[] = []) =>
  summarize(
    changes.map((change_15m, at) => ({
      ...SAMPLE_OUTCOME,
      change_5m: null,
      change_60m: change_15m,
      change_15m,
      control: { change_5m: [], change_15m: at === 0 ? [...control] : [], change_60m: [] },
    })),
  );

test("the scale of the pictures ends at the outermost quartiles or at 0", async () => {
  const positions = async (changes: readonly number[], control: readonly number[], of: readonly number[]) =>
    of.map(scaleOf(await figuresOf(changes, control)));
  expect(await positions([-8, -8], [12, 12], [-8, 0, 12])).toEqual([0, 40, 100]);
  expect(await positions([5, 5], [10, 10], [0, 5, 10])).toEqual([0, 50, 100]);
  expect(scaleOf(EMPTY)(0)).toBe(50);
});

const trades = (n: number, median: number, mean: number, ofControl = 30): RecordTrades => ({
  ...{ text: "", n, won: 0.6, mean, median, worthless: 8, unknown: 1, rugged_60m: 2 },
  control: { n: ofControl, won: 0.2, mean: -2, median: -1 },
});

test("the verdict says if flares did better, worse or mixed, and if either are too few to judge", () => {
  expect(verdictText(trades(30, 4, 3))).toBe("The flares did better than the same tokens at other times.");
  expect(verdictText(trades(30, -4, -3))).toMatch(/^The flares did worse/);
  expect(verdictText(trades(30, 4, -3))).toBe("The flares did better only by the median.");
  expect(verdictText(trades(30, -4, 3))).toBe("The flares did better only by the average.");
  expect(verdictText(trades(1, 4, 3, 3))).toBe(
    "Too few to judge: 1 flare, and 3 purchases at other times. This may be chance.",
  );
});

test("the record states what buying each flare brought, and how many could not be sold", () => {
  expect(tradeFacts(trades(77, 4.68, -3.7, 25))).toEqual([
    ["Median", "+4.7 %", "n 77. Other times: −1.0 %"],
    ["Average", "−3.7 %", "Other times: −2.0 %"],
    ["Ended with a gain", "60 %", "Other times: 20 %, n 25"],
    ["Could not be sold", "8 of 77", "Their liquidity was removed: counted as −100 %"],
  ]);
});

test("possible rugs, removals and collapses are counted of the same flares, with the warnings before collapses", async () => {
  const figures = await figuresOf([3, -2, null], [2, 2]);
  const counted = { ...figures, ended_by_canary: 1, collapsed: 2, warned: 1 };
  const warned = { ...counted, warning_s: { q1: 40, median: 250, q3: 3_600 } };
  expect(flareFacts(warned, trades(3, 1, 1))).toEqual([
    ["Higher after 15 minutes", "50 %", "Of the 2 of 3 that still traded. Other times: 100 %"],
    ["Ended as possible rugs", "1 of 3", "33 %: a warning ended the flare"],
    ["Liquidity removed", "2 of 3", "67 %: within an hour of the start. Then nobody can sell"],
    [
      "Price collapsed",
      "2 of 3",
      "67 % lost half of their peak. A warning came before in 1 of 2, by 4m 10s at the median (half: 40s to 1h 00m)",
    ],
  ]);
  const [, , collapse] = flareFacts({ ...counted, warning_s: { q1: 0, median: 0, q3: 9 } }, undefined);
  expect(collapse?.[2]).toMatch(/in 1 of 2$/);
});

test("the record counts the flares that a row leaves out, and states the bounds of its rows", () => {
  expect(leftOutText(2, 3)).toBe("2 of 3 left out: no trade then, perhaps nobody could sell");
  expect(leftOutText(0, 3)).toBe("");
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
