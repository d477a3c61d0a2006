import { expect, test } from "vitest";
import { SAMPLE_OUTCOME } from "../support/samples.ts";
import { measureOutcomes, outcomeTable } from "./outcomes.ts";
import { emptySeries, fillSilence, type Market } from "./series.ts";

const MINUTES = 300;
const START = 120;

/** Six tokens that rise by 1 % a minute with the market; the first one ten points more after 15. */
function market(): Market {
  const series = Array.from({ length: 6 }, (_, n) => {
    const one = emptySeries(`T${n}`, MINUTES);
    for (let minute = 0; minute < MINUTES; minute++) {
      // The first one is silent from an hour after its start on.
      if (n === 0 && minute > START + 50) continue;
      const own = n === 0 && minute >= START + 15 ? 0.1 : 0;
      one.close[minute] = 1 + 0.01 * (minute - START) + own;
      one.volume[minute] = 100;
    }
    fillSilence(one);
    return one;
  });
  return { startMs: 0, minutes: MINUTES, series };
}

test("outcomes are relative to the market, unknown without trades, and beside random moments of the same tokens", () => {
  const outcome = {
    ...SAMPLE_OUTCOME,
    ended_by: "canary" as const,
    collapsed_at: "2017-11-12T08:31:00.000Z",
    collapse_warning_s: 30,
  };
  const starts = [{ kind: "pump", pair: "T0", at: START, outcome }];
  const [pump, control] = measureOutcomes(market(), starts, 60);
  expect(pump).toMatchObject({ kind: "pump", n: 1, rose15: 1, byCanary: 1, collapsed: 1, warned: 1 });
  const [after5, after15, after60] = pump?.changes ?? [];
  expect(after5).toBeCloseTo(0);
  expect(after15).toBeCloseTo(0.1);
  expect(after60).toBeNaN();
  expect(control).toMatchObject({ kind: "pump: control", n: 5, byCanary: Number.NaN });
  expect(outcomeTable([], "none")).toEqual([]);
  expect(outcomeTable(pump ? [pump] : [], "title").join("\n")).toContain("| pump | 1 | 0.0 / 10.0 / – |");
});

test("flares too close to the end of the grid, or before its first scored minute, are left out", () => {
  const starts = [MINUTES - 30, 10].map((at) => ({ kind: "pump", pair: "T1", at }));
  expect(measureOutcomes(market(), starts, 60)).toEqual([]);
});
