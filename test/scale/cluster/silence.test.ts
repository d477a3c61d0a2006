import { expect, test } from "vitest";
import { Silence } from "../../../src/scale/cluster/silence.ts";

/** Returns a silence that was answered each half second from 0 until `untilMs`. */
function answered(silence: Silence, fromMs: number, untilMs: number): Silence {
  for (let nowMs = fromMs; nowMs < untilMs; nowMs += 500) silence.noteAnswer(nowMs);
  silence.noteAnswer(untilMs);
  return silence;
}

/** Returns after how many milliseconds of answers since `fromMs` it is long enough. */
function waitOf(silence: Silence, fromMs: number, isInDoubt = false): number {
  for (let ms = 0; ms <= 60_000; ms += 50) {
    silence.noteAnswer(fromMs + ms);
    if (silence.isLongEnough(fromMs + ms, isInDoubt)) return ms;
  }
  return Number.POSITIVE_INFINITY;
}

const WAITS: readonly (readonly [
  what: string,
  random: number,
  mayHaveLeader: boolean,
  isInDoubt: boolean,
  waitMs: number,
])[] = [
  ["a new node on a new log", 0, false, false, 0],
  ["a new node, at random", 0.5, false, false, 250],
  ["a node with a stored state", 0, true, false, 3_000],
  ["a node with a stored state, at random", 0.5, true, false, 3_250],
  ["a node in doubt", 0, false, true, 10_000],
  ["a node with a stored state and in doubt", 0.5, true, true, 10_000],
];

test.each(WAITS)(
  "%s tries to lead after its time, to the millisecond",
  (_, random, mayHaveLeader, isInDoubt, waitMs) => {
    expect(waitOf(new Silence(() => random, mayHaveLeader), 0, isInDoubt)).toBe(waitMs);
    if (waitMs === 0) return;
    const silence = answered(new Silence(() => random, mayHaveLeader), 0, waitMs - 1);
    expect([silence.isLongEnough(waitMs - 1, isInDoubt), silence.isLongEnough(waitMs, isInDoubt)]).toEqual([
      false,
      true,
    ]);
  },
);

test("without an answer there is no silence, and one that is older than a second is none", () => {
  const silence = new Silence(() => 0);
  expect(silence.isLongEnough(99_000, false)).toBe(false);
  silence.noteAnswer(100_000);
  expect([silence.isLongEnough(101_000, false), silence.isLongEnough(101_001, false)]).toEqual([true, false]);
});

test("an outage of the engine of more than a second starts the wait again, a shorter pause does not", () => {
  for (const [pauseMs, waitMs] of [
    [1_000, 1_000],
    [1_001, 3_000],
  ] as const) {
    const silence = answered(new Silence(() => 0, true), 0, 2_000 - pauseMs);
    expect(waitOf(silence, 2_000)).toBe(waitMs);
  }
});

test("each sign of a leader starts the wait again, and a departure ends it at once or soon", () => {
  const silence = answered(new Silence(() => 0.5, true), 0, 3_000);
  silence.noteLeader(3_000);
  expect(waitOf(silence, 3_000)).toBe(3_250);
  silence.noteDeparture(10_000);
  expect(waitOf(silence, 10_000)).toBe(50);
  silence.noteLeader(20_000);
  expect(waitOf(silence, 20_000)).toBe(3_250);
});

test("each term without a batch doubles the wait up to eight times, and a batch or a handover ends that", () => {
  const silence = new Silence(() => 0, true);
  let nowMs = 0;
  const waitAfter = (kind: "term" | "batch" | "handover" | "alive", term: number) => {
    silence.noteEntry({ kind, term });
    nowMs += 100_000;
    silence.noteLeader(nowMs);
    return waitOf(silence, nowMs);
  };
  expect([1, 2, 3, 4, 5, 6].map((term) => waitAfter("term", term))).toEqual([
    3_000, 6_000, 12_000, 24_000, 24_000, 24_000,
  ]);
  expect(waitAfter("alive", 6)).toBe(24_000);
  expect(waitAfter("batch", 6)).toBe(3_000);
  expect([waitAfter("term", 7), waitAfter("term", 8)]).toEqual([3_000, 6_000]);
  expect([waitAfter("handover", 8), waitAfter("term", 9), waitAfter("term", 10)]).toEqual([
    6_000, 3_000, 6_000,
  ]);
});
