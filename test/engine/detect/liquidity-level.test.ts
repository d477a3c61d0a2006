import { expect, test } from "vitest";
import {
  createLiquidityLevel,
  lossOf,
  noteLevel,
  passTime,
} from "../../../src/engine/detect/liquidity-level.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/settings.ts";
import { HOUR, MINUTE, START } from "../trend-kit.ts";

/**
 * Plays levels of liquidity, each with its hours. Returns what the level shows at the start of the
 * last one, and at its end.
 */
function play(...levels: readonly (readonly [usd: number, hours: number])[]) {
  const level = createLiquidityLevel();
  let atMs = START;
  let highestUsd = 0;
  let shown: string[] = [];
  for (const [usd, hours] of levels) {
    highestUsd = Math.max(highestUsd, usd);
    noteLevel(level, usd, highestUsd, atMs, DEFAULT_SETTINGS);
    shown = [lossOf(level, usd, atMs, DEFAULT_SETTINGS)];
    for (const endMs = atMs + hours * HOUR; atMs < endMs; ) {
      atMs += MINUTE;
      passTime(level, usd, usd, atMs, DEFAULT_SETTINGS);
    }
    shown.push(lossOf(level, usd, atMs, DEFAULT_SETTINGS));
  }
  return shown;
}

test("liquidity that lasted a day and is gone counts as removed, but liquidity of an hour was never usual", () => {
  expect(play([40_000, 24], [10_000, 1 / 60])).toEqual(["plunged", "removed"]);
  expect(play([10_000, 24], [40_000, 1], [10_000, 1 / 60])).toEqual(["usual", "usual"]);
  expect(play([10_000, 24], [40_000, 24], [10_000, 1 / 60])).toEqual(["plunged", "removed"]);
});

test("a level that lasts for hours becomes the usual one, sooner after a fall than after a rise", () => {
  expect(play([40_000, 24], [10_000, 4], [6_000, 1 / 60])).toEqual(["usual", "usual"]);
  expect(play([10_000, 24], [40_000, 4], [6_000, 1 / 60])).toEqual(["plunged", "removed"]);
});
