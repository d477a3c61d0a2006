import { expect, test } from "vitest";
import type { Explanation, Flare } from "../../../src/base/model/index.ts";
import { barsOf, labelOf } from "../../../src/clients/widget/strip/bars.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../support/world/samples.ts";

const NOW = Date.parse("2026-11-23T06:00:00.000Z");
const timeAt = (minutesAgo: number) => new Date(NOW - minutesAgo * 60_000).toISOString();
const flare = (id: string, start: number, end?: number): Flare => ({
  ...SAMPLE_FLARE,
  id,
  started_trending_at: timeAt(start),
  finished_trending_at: end === undefined ? null : timeAt(end),
});
const viewOf = (
  pro: readonly Flare[],
  ended: readonly Flare[],
  causes: Record<string, "faded" | "canary" | "silent">,
) => {
  const explanations = Object.fromEntries(
    Object.entries(causes).map(([id, finish_cause]): [string, Explanation] => [
      id,
      { ...SAMPLE_EXPLANATION, finish_cause },
    ]),
  );
  const flares = { pro: [...pro], free: [], finished_trending: [...ended] };
  return { flares, explanations };
};

test("each flare in the window is a bar with its time and fate, and no bars overlap in a lane", () => {
  const ended = [flare("early", 500, 400), flare("red", 300, 180), flare("gray", 240, 120)];
  const all = viewOf([], [...ended, flare("old", 900, 800)], {});
  expect(barsOf(all, 24, NOW).at(0)).toMatchObject({ flare: { id: "old" }, left: 0 });
  const bars = barsOf(viewOf([flare("now", 60)], ended, { red: "canary", gray: "faded" }), 6, NOW);
  expect(bars.map(({ flare: { id }, fate, left, width, lane }) => [id, fate, left, width, lane])).toEqual([
    ["red", "canary", 1 / 6, expect.closeTo(2 / 6), 0],
    ["gray", "faded", expect.closeTo(2 / 6), expect.closeTo(2 / 6), 1],
    ["now", "flaring", expect.closeTo(5 / 6), expect.closeTo(1 / 6), 0],
  ]);
});

test("the strip's label counts the flares by how they ended", () => {
  const ended = [flare("red", 300, 180), flare("gray", 240, 120), flare("still", 200, 90)];
  const view = viewOf([flare("now", 60)], ended, { red: "canary", gray: "faded", still: "silent" });
  expect(labelOf(barsOf(view, 6, NOW), 6)).toBe(
    "4 flares in 6 hours: 1 flaring now, 1 possible rug, 1 activity faded, 1 trading stopped",
  );
});

test("a recorded market's strip ends at the market's newest time, and a flare that just started has a minimum width", () => {
  const view = viewOf([flare("now", 0)], [flare("red", 120, 60)], { red: "canary" });
  const bars = barsOf(view, 6, NOW + 9 * 365 * 86_400_000);
  expect(bars.map(({ flare: { id } }) => id)).toEqual(["red", "now"]);
  expect(bars[1]).toMatchObject({ left: 1 - 1 / 150, width: expect.closeTo(1 / 150) });
  expect(barsOf(undefined, 6, NOW)).toEqual([]);
});

test("only the newest 300 flares become bars, and flares with invalid times are omitted", () => {
  const many = Array.from({ length: 400 }, (_, at) => flare(`f${at}`, 1 + at / 10, at / 10));
  const bars = barsOf(viewOf([], many, {}), 1, NOW);
  expect([bars.length, bars.at(-1)?.flare.id]).toEqual([300, "f0"]);
  const odd = { ...flare("odd", 5), started_trending_at: "soon", finished_trending_at: "later" };
  expect(barsOf(viewOf([], [odd], {}), 1, NOW)).toEqual([]);
});
