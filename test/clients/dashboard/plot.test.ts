import fc from "fast-check";
import { expect, test } from "vitest";
import {
  courseOf,
  hourOf,
  PLOT,
  plotOf,
  pointsOfChart,
  priceAt,
} from "../../../src/clients/dashboard/state/candles/plot.ts";
import {
  barsWithin,
  RANGE_NAMES,
  RANGES,
  spanOfRange,
} from "../../../src/clients/dashboard/state/candles/ranges.ts";
import { sourceText } from "../../../src/clients/dashboard/text/source-text.ts";
import { SAMPLE_EXPLANATION, SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const CLOSED_MS = Date.parse("2026-01-01T12:00:00.000Z");
const at = (minutes: number) => new Date(CLOSED_MS + minutes * 60_000).toISOString();
/** A candle whose minute ends this many minutes before the end of the plot. */
const candle = (before: number, close: string | null, volume = "1") => ({
  open_at: at(-before - 1),
  close,
  volume,
});

test("a plot stays within its bounds for all prices and gaps", () => {
  const candles = fc
    .uniqueArray(fc.integer({ min: 0, max: 59 }), { maxLength: 60 })
    .chain((minutes) =>
      fc.tuple(
        ...minutes
          .toSorted((a, b) => b - a)
          .map((minute) =>
            fc
              .tuple(fc.option(fc.double({ min: 1e-18, max: 1e12, noNaN: true })), fc.nat())
              .map(([close, volume]) => candle(minute, close === null ? null : `${close}`, `${volume}`)),
          ),
      ),
    );
  fc.assert(
    fc.property(candles, (given) => {
      const plot = plotOf(given, {
        startMs: CLOSED_MS - 600_000,
        closedMs: CLOSED_MS,
      });
      expect(plot !== undefined).toBe(given.filter(({ close }) => Number(close) > 0).length >= 2);
      if (!plot) return;
      for (const [, x, y] of plot.price.matchAll(/[ML]([-\d.e]+) ([-\d.e]+)/g)) {
        expect(Number(x)).toBeGreaterThanOrEqual(0);
        expect(Number(x)).toBeLessThanOrEqual(PLOT.width);
        expect(Number(y)).toBeGreaterThanOrEqual(0);
        expect(Number(y)).toBeLessThanOrEqual(PLOT.priceHeight);
      }
      expect(plot.price + plot.volume).not.toMatch(/NaN|Infinity/);
    }),
  );
});

test("the price line is level through minutes without a trade, and reaches the right edge", () => {
  const plot = plotOf([candle(60, "1"), candle(30, "2"), candle(29, "1")], {
    startMs: CLOSED_MS - 30 * 60_000,
    closedMs: CLOSED_MS,
  });
  expect(plot?.price).toBe("M0.0 32.0L87.0 32.0L90.0 2.0L93.0 32.0L180 32.0");
  expect([plot?.startX, plot?.startY]).toEqual([90, 2]);
});

test("a start after the last close is marked at the end of the line", () => {
  const given = { startMs: CLOSED_MS + 20_000, closedMs: CLOSED_MS };
  const plot = plotOf([candle(2, "1"), candle(1, "2"), candle(0, "3")], given);
  expect([plot?.startX, plot?.startY]).toEqual([PLOT.width, 2]);
});

test("a plot has the color of its own change, whatever the flare's", () => {
  const isUp = (...closes: readonly string[]) =>
    plotOf(
      closes.map((close, index) => candle(59 - index, close)),
      { startMs: CLOSED_MS, closedMs: CLOSED_MS },
    )?.isUp;
  expect([isUp("2", "1", "3"), isUp("2", "3", "1"), isUp("2", "1", "2")]).toEqual([true, false, true]);
});

test("the price at a time is interpolated between closes, and is unknown before the first and after the last", () => {
  const candles = [candle(10, "1"), candle(9, null), candle(8, "3")];
  const price = (before: number) => priceAt(candles, CLOSED_MS - before * 60_000);
  expect([price(11), price(10), price(9), price(8), price(7.9)]).toEqual([undefined, 1, 2, 3, undefined]);
});

const NOTHING = { peak_at: null, peak_change: null, end_change: null };
const UNMEASURED = { change_5m: null, change_15m: null, change_60m: null };

test("the course of a finished flare has its known measurements in order of time", () => {
  const startMs = CLOSED_MS;
  const course = courseOf(
    {
      peak_at: at(10),
      peak_change: 30,
      end_change: -10,
      change_5m: 20,
      change_15m: null,
      change_60m: -10,
    },
    { startMs, endMs: startMs + 30 * 60_000 },
  );
  // Start, 5 minutes, peak, end, 60 minutes.
  expect(course?.path).toBe("M3.0 23.5L17.5 10.5L32.0 4.0L90.0 30.0L177.0 30.0");
  expect([course?.zero, course?.peak, course?.end]).toEqual([23.5, [32, 4], [90, 30]]);
  expect(courseOf({ ...NOTHING, ...UNMEASURED }, { startMs, endMs: startMs })).toBeUndefined();
  expect(courseOf(SAMPLE_OUTCOME, { startMs, endMs: startMs + 60_000 })?.path).not.toContain("NaN");
});

test("a token's source code is shown as not verified only if the canary warned of it", () => {
  const unverified = {
    ...SAMPLE_EXPLANATION,
    warnings: ["one-buyer", "unverified-source"],
  };
  expect([
    sourceText({ status: "1", message: "OK" }, SAMPLE_EXPLANATION),
    sourceText({ status: "0", message: "NOTOK" }, unverified),
    sourceText({ status: "0", message: "NOTOK" }, SAMPLE_EXPLANATION),
    sourceText({ status: "0", message: "NOTOK" }, undefined),
  ]).toEqual(["verified", "not verified", "not known", "not known"]);
});

test("the closes of a chart are its average and their percents from it", () => {
  expect(pointsOfChart("200", [-50, 0, 10], CLOSED_MS)).toEqual([
    [CLOSED_MS - 120_000, 100],
    [CLOSED_MS - 60_000, 200],
    [CLOSED_MS, 220.00000000000003],
  ]);
});

test("a candle of a range combines its minutes: first open, highest high, lowest low, last close, total volume", () => {
  const minute = (before: number, [open, high, low, close]: readonly (string | null)[], volume = "1") => ({
    open_at: at(-before),
    open: open ?? null,
    high: high ?? null,
    low: low ?? null,
    close: close ?? null,
    volume,
  });
  const candles = [
    minute(361, ["9", "9", "9", "9"]),
    minute(10, ["2", "4", "1", "3"]),
    minute(9, [null, null, null, null], "5"),
    minute(7, ["3", "6", "2", "5"], "2"),
    minute(5, ["5", "5", "4", "4"]),
  ];
  expect(barsWithin(candles, spanOfRange("6h", CLOSED_MS))).toEqual([
    { atMs: CLOSED_MS - 600_000, open: 2, high: 6, low: 1, close: 5, volume: 8 },
    { atMs: CLOSED_MS - 300_000, open: 5, high: 5, low: 4, close: 4, volume: 1 },
  ]);
  expect(
    barsWithin(candles, spanOfRange("1h", CLOSED_MS)).map(({ atMs }) => (CLOSED_MS - atMs) / 60_000),
  ).toEqual([10, 9, 7, 5]);
  expect(barsWithin([minute(3, [null, null, null, null])], spanOfRange("24h", CLOSED_MS))).toMatchObject([
    { open: null, high: null, low: null, close: null, volume: 1 },
  ]);
});

test("the candles of a range have the total volume of its minutes and distinct times; none opens above its high", () => {
  const given = fc.uniqueArray(fc.tuple(fc.nat(1_500), fc.integer({ min: 1, max: 999 }), fc.nat(99)), {
    selector: ([before]) => before,
  });
  fc.assert(
    fc.property(given, fc.constantFrom(...RANGE_NAMES), (minutes, range) => {
      const candles = minutes
        .toSorted(([a], [b]) => b - a)
        .map(([before, price, volume]) => {
          const text = String(price);
          return {
            open_at: at(-before),
            open: text,
            high: text,
            low: text,
            close: text,
            volume: `${volume}`,
          };
        });
      const bars = barsWithin(candles, spanOfRange(range, CLOSED_MS));
      const within = minutes.filter(([before]) => before > 0 && before <= RANGES[range].hours * 60);
      expect(bars.reduce((sum, { volume }) => sum + volume, 0)).toBe(
        within.reduce((sum, [, , volume]) => sum + volume, 0),
      );
      expect(bars.length).toBeLessThanOrEqual((RANGES[range].hours * 60) / RANGES[range].minutes);
      expect(new Set(bars.map(({ atMs }) => atMs)).size).toBe(bars.length);
      for (const { open, high, low, close } of bars)
        expect([Number(open) <= Number(high), Number(close) >= Number(low)]).toEqual([true, true]);
    }),
  );
});

test("the change of an hour is since its first price, and its volume is the sum of its minutes", () => {
  const candles = [candle(61, "1", "99"), candle(59, "2", "1.5"), candle(3, null, "2"), candle(0, "3")];
  expect(hourOf(candles, CLOSED_MS, 3)).toEqual({ change: 50, volume: 4.5 });
  const [, second, ...others] = candles;
  const opened = [{ open: "4", open_at: at(-60), close: "2", volume: "1" }, ...others];
  expect(hourOf(opened, CLOSED_MS, 3).change).toBe(-25);
  expect(hourOf(second ? [second] : [], CLOSED_MS, 0)).toEqual({ change: undefined, volume: 1.5 });
  expect(hourOf([], CLOSED_MS, 3)).toEqual({ change: undefined, volume: 0 });
});
