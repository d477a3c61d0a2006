import { expect, test } from "vitest";
import { Snapshot } from "../../../src/base/model/index.ts";
import { createCanary, judgeCanary } from "../../../src/engine/detect/canary.ts";
import { createReading } from "../../../src/engine/detect/score.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/settings.ts";
import { followFlare } from "../../../src/engine/state/followed-flare.ts";
import { NO_PROFILE } from "../../../src/engine/state/token-profile.ts";
import { createToken, type TokenState } from "../../../src/engine/state/token-state.ts";
import { viewExplanation } from "../../../src/engine/views/flare-view.ts";
import { GroupFlares } from "../../../src/engine/views/group-flares.ts";
import { address, HOUR, MINUTE, SECOND, START } from "../trend-kit.ts";

const WHY = viewExplanation(
  { reading: createReading(), form: "trades", startScore: 3 },
  { warnings: [], liquidity: "0", age_s: null },
  null,
  START,
  DEFAULT_SETTINGS,
);
const NO_CONTROL = { change_5m: [], change_15m: [], change_60m: [] };
const END = { ...WHY, finish_cause: "faded" as const };
const token = (n: number): TokenState => createToken("bsc", address(n), address(n), START, NO_PROFILE);
const names = (list: readonly { token: { address?: string | undefined } }[]) =>
  list.map((flare) => flare.token.address);

/** Creates a group in which token n flared from minute n to `end(n)`. */
function finishedFlares(count: number, end: (n: number) => number): GroupFlares {
  const group = new GroupFlares(DEFAULT_SETTINGS);
  const moments = Array.from({ length: count }, (_, n) => ({ n, at: START + n * MINUTE, token: token(n) }));
  for (const { at, token } of moments) group.start(token, at, WHY);
  for (const { n, token } of moments.sort((a, b) => end(a.n) - end(b.n)))
    group.finish(token, end(n), END, null);
  return group;
}

test("a flare around two thirds of its first price, or half of its highest, leaves free once and returns a fifth higher", () => {
  const group = new GroupFlares(DEFAULT_SETTINGS);
  const fallen = token(1);
  group.start(fallen, START, WHY);
  const known = { start_score: 3, start_liquidity: null, control: NO_CONTROL };
  const followed = followFlare("1", { price: 1, text: "1", atMs: START }, known);
  fallen.followed = [followed];
  let at = START + 6 * MINUTE;
  const isFree = (price: number) => {
    at += SECOND;
    fallen.price = price;
    judgeCanary(fallen, at, DEFAULT_SETTINGS);
    group.step(at);
    return group.serve().flares.free.length === 1;
  };
  expect([1, 0.67, 0.66, 0.67, 0.66, 0.79, 0.81].map(isFree)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    true,
  ]);
  followed.peak = { price: 2, text: "2", atMs: at };
  expect([1.01, 1, 1.19, 1.21].map(isFree)).toEqual([true, false, false, true]);
  expect(fallen.canary.isOn).toBe(false);
});

test("running flares are sorted newest start first, ties by address", () => {
  const group = new GroupFlares(DEFAULT_SETTINGS);
  for (const [n, at] of [
    [5, 0],
    [3, 0],
    [9, 1],
    [4, 0],
  ] as const)
    group.start(token(n), START + at * SECOND, WHY);
  expect(names(group.serve().flares.pro)).toEqual([9, 3, 4, 5].map(address));
});

test("a flare enters free at five minutes of age, except while its canary is on", () => {
  const group = new GroupFlares(DEFAULT_SETTINGS);
  const [calm, wary] = [token(1), token(2)];
  Object.assign(wary.canary, { ...createCanary(), isOn: true });
  group.start(calm, START, WHY);
  group.start(wary, START, WHY);
  expect(group.deadlineMs).toBe(START + 5 * MINUTE);
  group.step(START + 5 * MINUTE - 1);
  expect(group.serve().flares.free).toEqual([]);
  group.step(START + 5 * MINUTE);
  expect(names(group.serve().flares.free)).toEqual([address(1)]);
  expect(group.serve().flares.free[0]).toBe(group.serve().flares.pro[0]);
  calm.canary.isOn = true;
  wary.canary.isOn = false;
  group.step(START + 6 * MINUTE);
  expect(names(group.serve().flares.free)).toEqual([address(2)]);
  expect(names(group.serve().flares.pro)).toEqual([1, 2].map(address));
});

test("the last hundred flares to finish are listed, newest start first", () => {
  // Flares that start later end earlier, so the twenty dropped ones have the newest starts.
  const group = finishedFlares(120, (n) => START + 10 * HOUR - n * MINUTE);
  group.step(START + 10 * HOUR);
  const { flares, explanations } = group.serve();
  expect(names(flares.finished_trending)).toEqual(Array.from({ length: 100 }, (_, n) => address(99 - n)));
  expect(Object.keys(explanations)).toHaveLength(100);
});

test("a finished flare and its explanation are removed after exactly twenty-four hours", () => {
  const group = finishedFlares(2, (n) => START + HOUR + n * SECOND);
  expect(group.deadlineMs).toBe(START + 25 * HOUR);
  group.step(START + 25 * HOUR - 1);
  expect(group.serve().flares.finished_trending).toHaveLength(2);
  group.step(START + 25 * HOUR);
  const served = group.serve();
  expect(names(served.flares.finished_trending)).toEqual([address(1)]);
  expect(Object.keys(served.explanations)).toEqual(served.flares.finished_trending.map(({ id }) => id));
  expect(served.flares.finished_trending[0]?.finished_trending_at).toBe(
    new Date(START + HOUR + SECOND).toISOString(),
  );
});

test("unchanged parts are the same objects as before", () => {
  const group = finishedFlares(3, () => START + HOUR);
  const running = token(9);
  group.start(running, START + HOUR, WHY);
  const before = group.serve();
  expect(group.serve()).toBe(before);
  running.isStale = true;
  group.refresh(START + HOUR + 5 * SECOND, () => ({ ...WHY, at: new Date(START + HOUR).toISOString() }));
  expect(group.isDirty).toBe(false);
  running.isStale = true;
  group.refresh(START + HOUR + 10 * SECOND, () => ({ ...WHY, score: 1 }));
  const after = group.serve();
  expect(after.flares).toBe(before.flares);
  expect(after.explanations).not.toBe(before.explanations);
  running.priceText = "2";
  running.isStale = true;
  group.refresh(START + HOUR + 15 * SECOND, () => ({ ...WHY, score: 1 }));
  const priced = group.serve();
  expect(priced.flares.pro).not.toBe(after.flares.pro);
  expect(priced.flares.finished_trending).toBe(after.flares.finished_trending);
  expect(priced.explanations).toBe(after.explanations);
  Snapshot.shape.flares.parse(priced.flares);
});
