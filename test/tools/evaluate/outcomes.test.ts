import { expect, test } from "vitest";
import { SAMPLE_OUTCOME } from "../../support/world/samples.ts";
import { engineDetector } from "./detectors.ts";
import { measureOutcomes, outcomeTable } from "./outcomes.ts";
import { emptySeries, fillSilence, type Market } from "./series.ts";

const MINUTES = 300;
const START = 120;

/**
 * Returns six tokens that rise by 1 % a minute with the market. The first one's data ends after 50
 * minutes.
 */
function market(): Market {
  const series = Array.from({ length: 6 }, (_, n) => {
    const one = emptySeries(`T${n}`, MINUTES);
    for (let minute = 0; minute < MINUTES; minute++) {
      if (n === 0 && minute > START + 50) continue;
      one.close[minute] = 1 + 0.01 * (minute - START);
      one.volume[minute] = 100;
    }
    fillSilence(one);
    return one;
  });
  return { startMs: 0, minutes: MINUTES, series };
}

const COLLAPSED = {
  ...SAMPLE_OUTCOME,
  ...{ relative_change_5m: 0, relative_change_15m: 10, relative_change_60m: null },
  ended_by: "canary" as const,
  collapsed_at: "2017-11-12T08:31:00.000Z",
  collapse_warning_s: 30,
  final: true,
};
const FADED = {
  ...SAMPLE_OUTCOME,
  ...{ relative_change_5m: null, relative_change_15m: -2, relative_change_60m: null, peak_change: 0.2 },
  final: true,
};

test("a class's outcomes pool the engine's own of all runs, and are unknown if the engine's are", () => {
  const runs = [COLLAPSED, FADED].map((outcome) => ({
    ...{ market: market(), from: 60 },
    flares: [{ kind: "pump", pair: "T1", outcome }],
  }));
  const [pump, control] = measureOutcomes(runs);
  expect(pump).toMatchObject({ kind: "pump", n: 2, rose15: 0.5, collapsed: 0.5, warned: 1 });
  expect(pump?.mean15).toBeCloseTo(0.04);
  expect(pump?.changes).toEqual([0, 0.1, Number.NaN]);
  expect(pump?.ends).toEqual({ faded: 0.5, reversed: 0, silent: 0, canary: 0.5, upstream: 0 });
  expect(control).toMatchObject({ kind: "pump: control", n: 10 });
  expect(control?.changes[1]).toBeCloseTo(0);
  expect(outcomeTable([], "none")).toEqual([]);
  expect(outcomeTable(pump ? [pump] : [], "title").join("\n")).toContain("| pump | 2 | 0.0 / 10.0 / – |");
});

/** Returns six flat pairs. The first rises by 5 % a minute for six minutes, and stays there. */
function marketWithRise(): Market {
  const series = Array.from({ length: 6 }, (_, n) => {
    const one = emptySeries(`T${n}`, MINUTES);
    for (const column of [one.open, one.high, one.low, one.close]) column.fill(1);
    one.volume.fill(100);
    for (let at = START; n === 0 && at < START + 6; at++) {
      for (const column of [one.open, one.high, one.low, one.close])
        column.fill(1 + 0.05 * (at - START + 1), at);
      one.volume[at] = 2_000;
    }
    return one;
  });
  return { startMs: 0, minutes: MINUTES, series };
}

test("the engine's detections have their final outcomes, and no outcome that is not final", () => {
  const [known] = engineDetector()(marketWithRise(), 60, MINUTES);
  expect(known).toMatchObject({ pair: "T0", outcome: { final: true, ended_by: "faded" } });
  const [open] = engineDetector()(marketWithRise(), 60, START + 60);
  expect(open?.pair).toBe("T0");
  expect(open?.outcome).toBeUndefined();
});
