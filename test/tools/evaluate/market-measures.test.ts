import { describe, expect, test } from "vitest";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import type { Label } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { trade } from "../../engine/trend-kit.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";
import { isReached } from "./goals.ts";
import { LastTrades, nameOf } from "./last-trades.ts";
import { LivenessBook, sumLiveness } from "./liveness.ts";
import { PumpCourses, shareAhead } from "./pump-courses.ts";
import { measurePumps } from "./pump-measures.ts";
import { MINUTES, scoreEpisodes } from "./score.ts";
import { MINUTE_MS } from "./series.ts";
import { tryWideMove } from "./wide-moves.ts";

const AT = 1_000 * MINUTE_MS;
const EMPTY: Snapshot = new TrendEngine().snapshot();
const { address } = SAMPLE_FLARE.token;
const PAIR = nameOf("bsc", address);
const LABEL: Label = {
  ...{ kind: "pump", shape: "sharp", group: "bsc", token: address, size: 0.5 },
  ...{ startAtMs: AT, endAtMs: AT + 30 * MINUTE_MS, peakAtMs: AT + 5 * MINUTE_MS, removedAtMs: null },
};

/** Returns the last trades of the sample's token: `minutes` before AT, each of `usd` dollars. */
function tradesAgo(...ago: readonly (readonly [minutes: number, usd: number])[]): LastTrades {
  const trades = new LastTrades();
  for (const [minutes, usd] of ago) {
    const event = trade(AT - minutes * MINUTE_MS, address, { quoteUsd: String(usd), price: "2" });
    trades.note(PAIR, event);
  }
  return trades;
}

function livenessOf(trades: LastTrades, labels: readonly Label[] = []) {
  const book = new LivenessBook(labels, trades);
  const flare = { ...SAMPLE_FLARE, token: { ...SAMPLE_FLARE.token, price: "2" } };
  const snapshot = { ...EMPTY, flares: { ...EMPTY.flares, pro: [flare] }, charts: SAMPLE_SNAPSHOT.charts };
  book.sample(snapshot, new Map([[PAIR, AT]]), AT);
  return book.counts;
}

describe("tokens that trade", () => {
  test("a flare counts as dead with two trades in five minutes, but not with three; dust does not count", () => {
    const alive = tradesAgo([4, 10], [3, 10], [1, 10]);
    expect(livenessOf(alive)).toMatchObject({ proFlares: 1, deadProFlares: 0, silentFlares: 0 });
    const dusty = tradesAgo([6, 10], [3, 10], [2, 1e-6], [1, 10]);
    expect(livenessOf(dusty)).toMatchObject({ deadProFlares: 1, silentFlares: 0 });
  });

  test("a flare counts as silent without a trade for a quarter of an hour", () => {
    expect(livenessOf(tradesAgo([15, 10]))).toMatchObject({ silentFlares: 1, silentFlaringTokens: 1 });
    expect(livenessOf(tradesAgo([14, 10]))).toMatchObject({ flares: 1, silentFlares: 0 });
  });

  test("a charted token that never traded counts as silent, but not during an outage of its chain", () => {
    const none = livenessOf(new LastTrades());
    expect(none.charted).toBeGreaterThan(0);
    expect(none.silentCharted).toBe(none.charted);
    expect(none.silentFirst).toBe(none.first);
    const outage: Label = { ...LABEL, kind: "outage", shape: "chain", token: null, endAtMs: AT };
    expect(livenessOf(new LastTrades(), [outage])).toMatchObject({ proFlares: 0, flares: 0 });
  });

  test("a price more than 5 % off the last trade's is counted, and the counts of runs are added up", () => {
    const right = livenessOf(tradesAgo([1, 10]));
    expect(right.mispricedFlares).toBe(0);
    const trades = tradesAgo([1, 10]);
    trades.note(PAIR, trade(AT, address, { price: "2.2" }));
    const wrong = livenessOf(trades);
    expect(wrong.mispricedFlares).toBe(1);
    expect(sumLiveness([right, wrong])).toMatchObject({ proFlares: 2, mispricedFlares: 1 });
  });
});

test("the share ahead is the remaining part of the move from the price before to the peak", () => {
  const trades = tradesAgo([1, 10]);
  const courses = new PumpCourses(trades);
  courses.begin(LABEL);
  const at = (minute: number, price: string) => {
    const event = trade(AT + minute * MINUTE_MS, address, { price });
    if (trades.note(PAIR, event)) courses.trade(PAIR, event);
  };
  at(1, "2.25");
  courses.flare(PAIR, AT + MINUTE_MS);
  at(5, "3");
  at(20, "9");
  const [course] = courses.all;
  expect(course).toMatchObject({ before: 2, peak: 3, atStart: 2.25 });
  expect(course && shareAhead(course)).toBe(0.75);
});

test("pumps are measured by size and by shape, with their ends and shares ahead", () => {
  const small = { ...LABEL, shape: "launch", size: 0.05, token: "0xb" };
  const pumps = [
    { label: LABEL, before: 2, peak: 3, atStart: 2.25 },
    { label: small, before: 2, peak: 2.1, atStart: 2.05 },
  ];
  const flares = [
    { pair: PAIR, startAt: AT + MINUTE_MS, endAt: LABEL.endAtMs + 2 * MINUTE_MS },
    { pair: nameOf("bsc", "0xb"), startAt: AT, endAt: LABEL.endAtMs - MINUTE_MS },
  ];
  const run = { pumps, flares, fromMs: AT, toMs: LABEL.endAtMs + 60 * MINUTE_MS };
  const measured = new Map(measurePumps([run, run]).map((one) => [one.name, one]));
  expect(measured.get("25 to 60 %")).toEqual({ ...measured.get("sharp"), name: "25 to 60 %" });
  expect(measured.get("sharp")).toEqual({ name: "sharp", n: 2, ahead: 0.75, endP50: 2, endP90: 2 });
  expect(measured.get("launch")).toMatchObject({ n: 2, endP50: -1 });
  expect(measured.get("launch")?.ahead).toBeCloseTo(0.5);
  expect(measured.get("over 60 %")?.n).toBe(0);
});

test("an end is measured from the episode's end to the finish of the flare that it started", () => {
  const episodes = [20, 120, 220].map((startAt) => ({ pair: "A", startAt, endAt: startAt + 30 }));
  const flares = [
    { pair: "A", startAt: 22, endAt: 60 },
    { pair: "A", startAt: 125, endAt: 140 },
    { pair: "A", startAt: 221, endAt: 265 },
  ];
  expect(scoreEpisodes(episodes, flares, MINUTES)).toMatchObject({ fired: 1, endP50: 10, endP90: 15 });
});

test("a goal is reached at its bound, and missed if nothing could be measured", () => {
  const goal = { measure: "share", figure: 0.05, bound: 0.05, isMost: true };
  expect(isReached(goal)).toBe(true);
  expect(isReached({ ...goal, figure: 0.051 })).toBe(false);
  expect(isReached({ ...goal, figure: Number.NaN })).toBe(false);
  expect(isReached({ ...goal, isMost: false, figure: 0.05 })).toBe(true);
});

test("if no token is idle, a move of the whole market starts no flare", () => {
  expect(tryWideMove(0, 1)).toMatchObject({ idleShare: 0, busy: 30 });
  expect(tryWideMove(0, 1).flared).toBeLessThanOrEqual(3);
});
