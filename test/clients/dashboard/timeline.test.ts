import fc from "fast-check";
import { expect, test } from "vitest";
import type { FinishCause, Flare, FlareRecord } from "../../../src/base/model/index.ts";
import { barsOf, haveSameFlares, withEarlier } from "../../../src/clients/dashboard/state/timeline/bars.ts";
import {
  assignLanes,
  boxOf,
  hoursWithin,
  knownSpan,
  laneCount,
  spanUntil,
  visibleBars,
  WINDOW_MS,
} from "../../../src/clients/dashboard/state/timeline/lanes.ts";
import { storedSince } from "../../../src/clients/dashboard/state/timeline/stored-since.ts";
import { fateText } from "../../../src/clients/dashboard/text/fate-text.ts";
import type { View } from "../../../src/clients/sdk/index.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const MINUTE = 60_000;
const NOW = Date.parse("2026-01-01T12:00:00.000Z");
const SPAN = spanUntil(NOW);
const at = (minutes: number) => new Date(NOW + minutes * MINUTE).toISOString();

const bar = (id: string, from: number, to?: number) => ({
  flare: { id },
  startMs: NOW + from * MINUTE,
  endMs: to === undefined ? undefined : NOW + to * MINUTE,
});

const intervals = fc
  .array(fc.tuple(fc.integer({ min: -400, max: 0 }), fc.option(fc.integer({ min: 0, max: 90 }))), {
    maxLength: 60,
  })
  .map((all) =>
    all.map(([from, length], index) =>
      bar(`${index}`, from, length === null ? undefined : Math.min(0, from + length)),
    ),
  );

test("the time since which minutes are stored is read from a response header", () => {
  const read = (fields: Record<string, string>) => storedSince(new Headers(fields));
  expect([
    read({ "flarewire-stored-since": "2026-01-01T00:05:00.000Z" }),
    read({ "flarewire-stored-since": "early" }),
    read({}),
  ]).toEqual([Date.parse("2026-01-01T00:05:00.000Z"), undefined, "none"]);
});

test("no two bars of a lane overlap, and no lane is empty", () => {
  fc.assert(
    fc.property(intervals, (all) => {
      const shown = visibleBars(all, SPAN);
      const lanes = assignLanes(shown, SPAN);
      expect(new Set(lanes.values()).size).toBe(Math.max(-1, ...lanes.values()) + 1);
      for (const one of shown)
        for (const other of shown) {
          if (one === other || lanes.get(one.flare.id) !== lanes.get(other.flare.id)) continue;
          const [a, b] = one.startMs <= other.startMs ? [one, other] : [other, one];
          expect(a.endMs ?? SPAN.toMs).toBeLessThanOrEqual(Math.max(b.startMs, SPAN.fromMs));
        }
    }),
  );
});

test("a bar keeps its lane while others come and go", () => {
  fc.assert(
    fc.property(intervals, fc.integer({ min: 0, max: 60 }), (all, gone) => {
      const before = assignLanes(visibleBars(all, SPAN), SPAN);
      const later = [bar("new", -1), ...all.slice(gone)];
      const after = assignLanes(visibleBars(later, SPAN), SPAN, before);
      for (const [id, lane] of after) if (before.has(id)) expect(lane).toBe(before.get(id));
    }),
  );
});

test("a bar covers its time: a running one reaches the right edge, one with an older start the left edge", () => {
  const lanes = 8;
  const boxes = [bar("all", -900), bar("half", -180, -90), bar("now", -90)].map((one, lane) =>
    boxOf(one, lane, { fromMs: NOW - 360 * MINUTE, toMs: NOW }, lanes),
  );
  expect(boxes).toEqual([
    { left: 0, width: 1, top: 0 },
    { left: 0.5, width: 0.25, top: 1 / 8 },
    { left: 0.75, width: 0.25, top: 2 / 8 },
  ]);
});

test("the window moves twice a minute, so that bars are not laid out each second", () => {
  const ends = Array.from({ length: 60 }, (_, second) => spanUntil(NOW + 1 + second * 1_000).toMs);
  expect(new Set(ends).size).toBe(2);
  const { fromMs, toMs } = spanUntil(NOW);
  expect(toMs - fromMs).toBe(WINDOW_MS);
  expect(toMs).toBeGreaterThanOrEqual(NOW);
  expect(hoursWithin({ fromMs: NOW - 6 * 60 * MINUTE, toMs: NOW })).toHaveLength(7);
});

test("the number of lanes grows in steps, and the lanes of 300 flares do not overlap", () => {
  const many = Array.from({ length: 300 }, (_, index) => bar(`${index}`, -10));
  const counts = [0, 12, 13, 300].map((count) => laneCount(assignLanes(many.slice(0, count), SPAN)));
  expect(counts).toEqual([12, 12, 14, 320]);
  const tops = many.map((one, lane) => boxOf(one, lane, SPAN, 320).top);
  expect(new Set(tops).size).toBe(300);
  expect(Math.max(...tops)).toBeLessThan(1);
});

test("the timeline starts at the first known flare, or at the window's start if that is only minutes before", () => {
  const span = { fromMs: NOW - 360 * MINUTE, toMs: NOW };
  const lengthOf = (bars: readonly ReturnType<typeof bar>[], at?: number) =>
    (NOW - knownSpan(bars, span, at === undefined ? undefined : NOW + at * MINUTE).fromMs) / MINUTE;
  expect(lengthOf([])).toBe(360);
  expect(lengthOf([bar("old", -900, -300)])).toBe(360);
  expect(lengthOf([bar("soon", -350, -300)])).toBe(360);
  expect(lengthOf([bar("b", -60), bar("a", -90, -80)])).toBe(90);
  // It includes a chosen minute, and spans at least an hour.
  expect(lengthOf([bar("a", -90, -80)], -120)).toBe(120);
  expect(lengthOf([bar("new", -2)])).toBe(60);
});

const flare = (id: string, from: number, to: number | null): Flare => ({
  ...SAMPLE_FLARE,
  id,
  started_trending_at: at(from),
  finished_trending_at: to === null ? null : at(to),
});
const record = (one: Flare, cause: FinishCause): FlareRecord => ({
  flare: one,
  started: null,
  why: SAMPLE_EXPLANATION,
  cause,
  outcome: SAMPLE_OUTCOME,
});
const running = flare("running", -5, null);
const faded = flare("faded", -60, -30);
const ended = flare("ended", -40, -35);
const why = (finish_cause: FinishCause) => ({ ...SAMPLE_EXPLANATION, finish_cause });
const VIEW: View = {
  flares: { pro: [running], free: [running], finished_trending: [ended, faded] },
  explanations: { ended: why("canary"), faded: why("faded"), running: SAMPLE_EXPLANATION },
  outcomes: { ended: SAMPLE_OUTCOME },
};

test("each flare of the lists and of the history is one bar that says how it ended, newest first", () => {
  const bars = barsOf(VIEW, [
    record(flare("old", -200, -190), "canary"),
    record(faded, "faded"),
    record(flare("still", -100, -95), "silent"),
  ]);
  expect(bars.map((one) => [one.flare.id, one.fate])).toEqual([
    ["running", "flaring"],
    ["ended", "canary"],
    ["faded", "faded"],
    ["still", "faded"],
    ["old", "canary"],
  ]);
  expect(bars.map((one) => one.outcome !== undefined)).toEqual([false, true, false, true, true]);
  expect(bars.map(fateText)).toEqual([
    "flaring since 11:55",
    "possible rug at 11:25 after flaring for 5m 00s",
    "activity faded at 11:30 after flaring for 30m 00s",
    "trading stopped at 10:25 after flaring for 5m 00s",
    "possible rug at 08:50 after flaring for 10m 00s",
  ]);
});

test("the flares are the same after new numbers, and others after an end and without the list pro", () => {
  const updated = { ...VIEW, flares: { ...VIEW.flares, pro: [{ ...running, liquidity: "7" }] } };
  expect(haveSameFlares(VIEW, updated)).toBe(true);
  expect(haveSameFlares(undefined, VIEW)).toBe(false);
  const finished = { pro: [], free: [], finished_trending: [running, ended, faded] };
  expect(haveSameFlares(VIEW, { ...VIEW, flares: finished })).toBe(false);
  expect(haveSameFlares(VIEW, { ...VIEW, flares: { free: [running] } })).toBe(false);
});

test("a finished flare that left the list keeps its bar, and a running one that disappeared does not", () => {
  const before = barsOf(VIEW, []);
  const after = barsOf({ explanations: {}, flares: { pro: [], finished_trending: [faded] } }, []);
  expect(withEarlier(after, before).map((one) => one.flare.id)).toEqual(["ended", "faded"]);
});
