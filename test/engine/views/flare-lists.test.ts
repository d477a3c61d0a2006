import { expect, test } from "vitest";
import { Snapshot } from "../../../src/base/model/index.ts";
import { createCanary } from "../../../src/engine/detect/canary.ts";
import { createReading } from "../../../src/engine/detect/score.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/settings.ts";
import { NO_PROFILE } from "../../../src/engine/state/token-profile.ts";
import { createToken, type TokenState } from "../../../src/engine/state/token-state.ts";
import { viewExplanation } from "../../../src/engine/views/flare-view.ts";
import { FlareBook } from "../../../src/engine/views/flares.ts";
import { address, HOUR, MINUTE, SECOND, START } from "../trend-kit.ts";

const WHY = viewExplanation(
  createReading(),
  { warnings: [], liquidity: "0" },
  3,
  null,
  START,
  DEFAULT_SETTINGS,
);
const END = { ...WHY, finish_cause: "faded" as const };
const token = (n: number): TokenState => createToken("bsc", address(n), address(n), START, NO_PROFILE);
const names = (list: readonly { token: { address?: string | undefined } }[]) =>
  list.map((flare) => flare.token.address);

/** Creates a book in which token n flared from minute n to `end(n)`. */
function finishedBook(count: number, end: (n: number) => number): FlareBook {
  const book = new FlareBook(DEFAULT_SETTINGS);
  const moments = Array.from({ length: count }, (_, n) => ({ n, at: START + n * MINUTE, token: token(n) }));
  for (const { at, token } of moments) book.start(token, at, WHY);
  for (const { n, token } of moments.sort((a, b) => end(a.n) - end(b.n)))
    book.finish(token, end(n), END, null);
  return book;
}

test("running flares are sorted newest start first, ties by address", () => {
  const book = new FlareBook(DEFAULT_SETTINGS);
  for (const [n, at] of [
    [5, 0],
    [3, 0],
    [9, 1],
    [4, 0],
  ] as const)
    book.start(token(n), START + at * SECOND, WHY);
  expect(names(book.serve().flares.pro)).toEqual([9, 3, 4, 5].map(address));
});

test("a flare enters free at five minutes of age, except while its canary is on", () => {
  const book = new FlareBook(DEFAULT_SETTINGS);
  const [calm, wary] = [token(1), token(2)];
  Object.assign(wary.canary, { ...createCanary(), isOn: true });
  book.start(calm, START, WHY);
  book.start(wary, START, WHY);
  expect(book.deadlineMs).toBe(START + 5 * MINUTE);
  book.step(START + 5 * MINUTE - 1);
  expect(book.serve().flares.free).toEqual([]);
  book.step(START + 5 * MINUTE);
  expect(names(book.serve().flares.free)).toEqual([address(1)]);
  expect(book.serve().flares.free[0]).toBe(book.serve().flares.pro[0]);
  calm.canary.isOn = true;
  wary.canary.isOn = false;
  book.step(START + 6 * MINUTE);
  expect(names(book.serve().flares.free)).toEqual([address(2)]);
  expect(names(book.serve().flares.pro)).toEqual([1, 2].map(address));
});

test("the last hundred flares to finish are listed, newest start first", () => {
  // Flares that start later end earlier, so the twenty dropped ones have the newest starts.
  const book = finishedBook(120, (n) => START + 10 * HOUR - n * MINUTE);
  book.step(START + 10 * HOUR);
  const { flares, explanations } = book.serve();
  expect(names(flares.finished_trending)).toEqual(Array.from({ length: 100 }, (_, n) => address(99 - n)));
  expect(Object.keys(explanations)).toHaveLength(100);
});

test("a finished flare and its explanation are removed after exactly twenty-four hours", () => {
  const book = finishedBook(2, (n) => START + HOUR + n * SECOND);
  expect(book.deadlineMs).toBe(START + 25 * HOUR);
  book.step(START + 25 * HOUR - 1);
  expect(book.serve().flares.finished_trending).toHaveLength(2);
  book.step(START + 25 * HOUR);
  const served = book.serve();
  expect(names(served.flares.finished_trending)).toEqual([address(1)]);
  expect(Object.keys(served.explanations)).toEqual(served.flares.finished_trending.map(({ id }) => id));
  expect(served.flares.finished_trending[0]?.finished_trending_at).toBe(
    new Date(START + HOUR + SECOND).toISOString(),
  );
});

test("unchanged parts are the same objects as before", () => {
  const book = finishedBook(3, () => START + HOUR);
  const running = token(9);
  book.start(running, START + HOUR, WHY);
  const before = book.serve();
  expect(book.serve()).toBe(before);
  running.isStale = true;
  book.refresh(START + HOUR + 5 * SECOND, () => ({ ...WHY, at: new Date(START + HOUR).toISOString() }));
  expect(book.isDirty).toBe(false);
  running.isStale = true;
  book.refresh(START + HOUR + 10 * SECOND, () => ({ ...WHY, score: 1 }));
  const after = book.serve();
  expect(after.flares).toBe(before.flares);
  expect(after.explanations).not.toBe(before.explanations);
  running.priceText = "2";
  running.isStale = true;
  book.refresh(START + HOUR + 15 * SECOND, () => ({ ...WHY, score: 1 }));
  const priced = book.serve();
  expect(priced.flares.pro).not.toBe(after.flares.pro);
  expect(priced.flares.finished_trending).toBe(after.flares.finished_trending);
  expect(priced.explanations).toBe(after.explanations);
  Snapshot.shape.flares.parse(priced.flares);
});
