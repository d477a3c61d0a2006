import fc from "fast-check";
import { expect, test } from "vitest";
import { firstAfter, rowWindow } from "../../../../src/app/cli/top/scroll.ts";

const [DOWN, PAGE_DOWN, HOME, END] = ["\u001B[B", "\u001B[6~", "\u001B[H", "\u001B[F"];

test("the window is always full, and End and Home reach the last and first rows", () => {
  fc.assert(
    fc.property(fc.nat(200), fc.integer({ min: 2, max: 60 }), fc.nat(300), (rows, lines, requested) => {
      const seen = rowWindow(rows, lines, requested);
      expect(seen.first).toBeGreaterThanOrEqual(0);
      expect(seen.first + seen.count).toBeLessThanOrEqual(rows);
      // One line is reserved for the count of hidden rows, if any.
      expect(seen.count).toBe(rows <= lines ? rows : lines - 1);
      const last = rowWindow(rows, lines, firstAfter(END, seen));
      expect(last.first + last.count).toBe(rows);
      expect(rowWindow(rows, lines, firstAfter(HOME, last)).first).toBe(0);
    }),
  );
});

test("scrolling by row or by page moves by one row or one page until the last row is shown", () => {
  for (const [key, step] of [
    [DOWN, 1],
    [PAGE_DOWN, 9],
  ] as const) {
    const firsts: number[] = [];
    for (let seen = rowWindow(25, 10, 0); firsts.at(-1) !== seen.first; ) {
      firsts.push(seen.first);
      seen = rowWindow(25, 10, firstAfter(key, seen));
    }
    expect(firsts).toEqual(step === 1 ? Array.from({ length: 17 }, (_, n) => n) : [0, 9, 16]);
  }
});
