import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Circumstances,
  createTrend,
  judge,
  type Verdict,
} from "../../../src/engine/detect/hysteresis.ts";
import { createReading, type Reading } from "../../../src/engine/detect/score.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/settings.ts";
import { SECOND, START } from "../trend-kit.ts";

const { coolDownMs, fadeMs, finishShare, minimumFlareMs } = DEFAULT_SETTINGS;
const START_SCORE = 2;
const TICKS = 3;
const CALM: Reading = createReading();
const HOT: Reading = { ...CALM, score: 4, rise: 0.1, activity: 3, supported: true };

/** The same with buyers known. */
function withBuyers(raw: number): Reading {
  const buyers = { raw, usual: 0, z: 3, weight: 0.35 };
  return { ...HOT, terms: { ...HOT.terms, buyers } };
}

/** Creates a token that is judged once a second. */
function judged() {
  const trend = createTrend();
  let atMs = START;
  /** Returns the verdicts of the next `count` seconds. */
  const run = (count: number, reading: Reading, part: Partial<Circumstances> = {}): readonly Verdict[] =>
    Array.from({ length: count }, () => {
      atMs += SECOND;
      const now = {
        atMs,
        startScore: START_SCORE,
        startTicks: TICKS,
        startRise: 0.02,
        strongerRatio: DEFAULT_SETTINGS.strongerRatio,
        price: 0,
        topMs: 0,
        mayStart: true,
      };
      return judge(
        trend,
        reading,
        { ...now, hasGraveWarning: false, hasPlunged: false, isSilent: false, isGroupSilent: false, ...part },
        DEFAULT_SETTINGS,
      );
    });
  /** Returns the first verdict besides `none` within a day, and after how many seconds it came. */
  const until = (reading: Reading, part: Partial<Circumstances> = {}) => {
    for (let seconds = 1; seconds <= 86_400; seconds += 1) {
      const [verdict] = run(1, reading, part);
      if (verdict !== "none") return { seconds, verdict };
    }
    return undefined;
  };
  return { trend, run, until };
}

const seconds = (ms: number) => ms / SECOND;

test("a flare starts at the third consecutive ready second; a second that is not ready restarts the count", () => {
  const { run } = judged();
  expect(run(2, HOT)).toEqual(["none", "none"]);
  expect(run(1, CALM)).toEqual(["none"]);
  expect(run(3, HOT)).toEqual(["none", "none", "start"]);
});

test.each<[string, Reading, Partial<Circumstances>]>([
  ["a score at the threshold", { ...HOT, score: START_SCORE }, {}],
  ["a rise at the minimum", { ...HOT, rise: 0.02 }, {}],
  ["an activity at the minimum", { ...HOT, activity: DEFAULT_SETTINGS.startActivity }, {}],
  ["a few buyers", withBuyers(DEFAULT_SETTINGS.startBuyers - 0.01), {}],
  ["a rise without enough money", { ...HOT, supported: false }, {}],
  ["a token that may not start", HOT, { mayStart: false }],
  ["a grave warning", HOT, { hasGraveWarning: true }],
  ["a silent market", HOT, { isSilent: true }],
])("%s starts no flare, and a single second of it restarts the count", (_, reading, part) => {
  const { run } = judged();
  expect(new Set(run(60, reading, part))).toEqual(new Set(["none"]));
  expect(run(2, HOT)).toEqual(["none", "none"]);
  run(1, reading, part);
  expect(run(3, withBuyers(DEFAULT_SETTINGS.startBuyers))).toEqual(["none", "none", "start"]);
});

test("no flare starts during the cool-down after an end, neither the first nor the second time", () => {
  const { run, until } = judged();
  run(3, HOT);
  for (let round = 0; round < 2; round += 1) {
    expect(until(CALM)?.verdict).toBe("faded");
    // The first ready second is the one in which the cool-down ends.
    expect(until(HOT)).toEqual({ seconds: seconds(coolDownMs) + TICKS - 1, verdict: "start" });
  }
});

test("a flare that becomes low at once lasts for the fading time, a silent one for the minimum duration", () => {
  const faded = judged();
  faded.run(3, HOT);
  // Low from the second after the start.
  expect(faded.until(CALM)).toEqual({ seconds: seconds(fadeMs) + 1, verdict: "faded" });
  const silent = judged();
  silent.run(3, HOT);
  expect(silent.until(CALM, { isSilent: true })).toEqual({
    seconds: seconds(minimumFlareMs),
    verdict: "silent",
  });
});

test("one hot second restarts the fading time", () => {
  const { run, until } = judged();
  run(3, HOT);
  expect(new Set(run(seconds(fadeMs), CALM))).toEqual(new Set(["none"]));
  run(1, HOT);
  expect(until(CALM)).toEqual({ seconds: seconds(fadeMs) + 1, verdict: "faded" });
});

test("a flare continues exactly at the finish threshold, and fades below it or without activity", () => {
  const atThreshold = { ...HOT, score: finishShare * START_SCORE };
  const { trend, run, until } = judged();
  run(3, HOT);
  expect(new Set(run(3_600, atThreshold))).toEqual(new Set(["none"]));
  expect(trend.isHigh).toBe(true);
  const quiet = { ...HOT, activity: DEFAULT_SETTINGS.startActivity };
  expect(until(quiet)).toEqual({ seconds: seconds(fadeMs) + 1, verdict: "faded" });
  expect(trend.isHigh).toBe(true);
  run(1, { ...atThreshold, score: atThreshold.score - 0.01 });
  expect(trend.isHigh).toBe(false);
});

test("a grave warning ends a flare at once, even in its first second", () => {
  const { run } = judged();
  run(3, HOT);
  expect(run(2, HOT, { hasGraveWarning: true })).toEqual(["canary", "none"]);
});

test("a start need not wait for the cool-down if it is more than twice as strong as the last flare was in its first minutes", () => {
  const { run, until } = judged();
  run(3, { ...HOT, strength: 4 });
  run(10, { ...HOT, strength: 6 });
  expect(until(CALM)?.verdict).toBe("faded");
  expect(new Set(run(60, { ...HOT, strength: 12 }))).toEqual(new Set(["none"]));
  expect(run(TICKS, { ...HOT, strength: 12.1 }).at(-1)).toBe("start");
});

test("a flare surges if it is more than twice as strong as in the five minutes after its start, and again after its surge", () => {
  const { trend, run } = judged();
  run(3, { ...HOT, strength: 3 });
  const after = seconds(DEFAULT_SETTINGS.surgeAfterMs);
  expect(new Set(run(after - 1, { ...HOT, strength: 5 }))).toEqual(new Set(["none"]));
  expect(new Set(run(60, { ...HOT, strength: 10 }))).toEqual(new Set(["none"]));
  expect(run(2, { ...HOT, strength: 10.1 })).toEqual(["surge", "none"]);
  expect(trend.surges).toBe(1);
  run(after, { ...HOT, strength: 11 });
  expect(run(1, { ...HOT, strength: 22 })).toEqual(["none"]);
  expect(run(1, { ...HOT, strength: 22.1 })).toEqual(["surge"]);
  expect(trend.surges).toBe(2);
});

test("a flare is reversed when half of its rise has been lost for 15 seconds; a momentary price is neither top nor loss", () => {
  const { run, until } = judged();
  const topMs = 15 * SECOND;
  const at = (price: number) => ({ price, topMs });
  // A rise of ln 1.1 to 1.1, so the price before was 1.
  run(3, { ...HOT, rise: Math.log(1.1) }, at(1.1));
  run(20, HOT, at(1.2));
  run(10, HOT, at(40));
  run(5, HOT, at(1.2));
  run(14, HOT, at(0.1));
  expect(new Set(run(60, HOT, at(1.11)))).toEqual(new Set(["none"]));
  expect(until(HOT, at(1.09))).toEqual({ seconds: 16, verdict: "reversed" });
});

test("after a reversal, the cool-down begins when the burst has faded", () => {
  const { trend, run, until } = judged();
  run(3, { ...HOT, rise: Math.log(1.1) }, { price: 1.1 });
  expect(until(HOT, { price: 1 })?.verdict).toBe("reversed");
  expect(new Set(run(2 * seconds(coolDownMs), HOT))).toEqual(new Set(["none"]));
  run(seconds(fadeMs) + 1, CALM);
  expect(trend.coolUntilMs).toBeLessThan(Number.POSITIVE_INFINITY);
  expect(until(HOT)).toEqual({ seconds: seconds(coolDownMs) + TICKS - 1, verdict: "start" });
});

test("a small surge after a large rise does not move the price from which half must be lost; a large one does", () => {
  const surged = (rise: number) => {
    const { trend, run } = judged();
    run(3, { ...HOT, strength: 1, rise: Math.log(1.5) }, { price: 1.5 });
    run(seconds(DEFAULT_SETTINGS.surgeAfterMs), { ...HOT, strength: 1 }, { price: 1.5 });
    run(1, { ...HOT, strength: 3, rise: Math.log(1 + rise) }, { price: 1.5 * (1 + rise) });
    return [trend.surges, trend.basePrice] as const;
  };
  expect(surged(0.03)).toEqual([1, expect.closeTo(1)]);
  expect(surged(0.8)).toEqual([1, expect.closeTo(1.5)]);
});

test("a surge restarts the fading time", () => {
  const { run, until } = judged();
  run(3, { ...HOT, strength: 1 });
  run(seconds(DEFAULT_SETTINGS.surgeAfterMs), { ...HOT, strength: 1 });
  run(seconds(fadeMs) - 10, CALM);
  expect(run(1, { ...HOT, strength: 3 })).toEqual(["surge"]);
  expect(until(CALM)).toEqual({ seconds: seconds(fadeMs) + 1, verdict: "faded" });
});

test("a reversal while most liquidity is missing ends the flare as canary", () => {
  const { run, until } = judged();
  run(3, { ...HOT, rise: Math.log(1.1) }, { price: 1.1 });
  expect(until(HOT, { price: 1, hasPlunged: true })?.verdict).toBe("canary");
});

test("starts and ends always alternate, no flare starts during the cool-down, and only a warning ends one early", () => {
  const step = fc.record({
    length: fc.integer({ min: 1, max: 900 }),
    reading: fc.constantFrom(HOT, HOT, CALM),
    isSilent: fc.nat(9).map((n) => n === 0),
    hasGraveWarning: fc.nat(9).map((n) => n === 0),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { run } = judged();
      const verdicts = steps.flatMap(({ length, reading, ...part }) => run(length, reading, part));
      const changes = verdicts.flatMap((verdict, at) => (verdict === "none" ? [] : [{ verdict, at }]));
      changes.forEach(({ verdict, at }, index) => {
        expect(verdict === "start").toBe(index % 2 === 0);
        const since = at - (changes[index - 1]?.at ?? Number.NEGATIVE_INFINITY);
        const least = verdict === "start" ? coolDownMs : verdict === "canary" ? SECOND : minimumFlareMs;
        expect(since).toBeGreaterThanOrEqual(seconds(least));
      });
    }),
    { numRuns: 50 },
  );
});
