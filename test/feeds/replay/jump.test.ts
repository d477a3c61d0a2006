import { expect, test } from "vitest";
import { Jump } from "../../../src/feeds/replay/jump.ts";

const DAY = 86_400_000;
const lineAt = (at: number, number = at) => ({ line: "", number, at, detail: "" });

/** Adds lines at these times. Returns the times of refuted ones, and what is proved. */
function added(...times: readonly number[]) {
  const jump = new Jump();
  const refuted = times.flatMap((at) => jump.add(lineAt(at)).map((one) => one.at));
  return {
    refuted,
    isConfirmed: jump.isConfirmed,
    isLikely: jump.isLikely,
    kept: jump.take().map(({ at }) => at),
    jump,
  };
}

test("three increasing times prove a gap, two make it likely, and a repeated time counts once", () => {
  expect(added(1, 2)).toMatchObject({ isConfirmed: false, isLikely: true, kept: [1, 2] });
  expect(added(1, 2, 3)).toMatchObject({ isConfirmed: true });
  expect(added(1)).toMatchObject({ isLikely: false });
  expect(added(5, 5, 5)).toMatchObject({ isConfirmed: false, isLikely: false });
  expect(added(9_000, 4_000, 9_001, 8_000)).toMatchObject({
    refuted: [],
    isConfirmed: false,
    isLikely: true,
  });
});

test("a line more than five seconds before the latest, or a month after it, refutes those before", () => {
  const month = 31 * DAY;
  expect(added(5_000, 0).refuted).toEqual([]);
  expect(added(5_001, 0)).toMatchObject({ refuted: [5_001], kept: [0], isLikely: false });
  expect(added(1_000, 1_000 + month).refuted).toEqual([]);
  expect(added(1_000, 1_001 + month)).toMatchObject({ refuted: [1_000], kept: [1_001 + month] });
});

test("ten thousand lines ahead prove a gap too, and what was taken counts no more", () => {
  const { jump } = added();
  for (let count = 1; count < 10_000; count++) jump.add(lineAt(7, count));
  expect(jump.isConfirmed).toBe(false);
  jump.add(lineAt(7));
  expect([jump.isConfirmed, jump.take().length, jump.isConfirmed, jump.isLikely]).toEqual([
    true,
    10_000,
    false,
    false,
  ]);
  jump.add(lineAt(1));
  expect(jump.isLikely).toBe(false);
});
