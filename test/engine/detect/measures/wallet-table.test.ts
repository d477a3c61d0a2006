import fc from "fast-check";
import { expect, test } from "vitest";
import {
  createWallets,
  LAST_BUY,
  rowOf,
  TRIPS,
  USD,
  USD_AT,
} from "../../../../src/engine/detect/measures/wallet-table.ts";

const SECOND = 1_000;
/** Rows that remain after a pass, and rows that may be added before the next one. */
const MAX_ROWS = 2_048;
const SPARE_ROWS = 512;
const TRADERS = 6_000;

test("every trader's row keeps its values while the table grows", () => {
  const names = fc.string({ minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(fc.array(fc.tuple(names, fc.nat(1_000)), { maxLength: 400 }), (purchases) => {
      const table = createWallets();
      const known = new Map<string, number>();
      for (const [trader, usd] of purchases) {
        const row = rowOf(table, trader, SECOND);
        table.numbers[row + USD] = (table.numbers[row + USD] ?? 0) + usd;
        known.set(trader, (known.get(trader) ?? 0) + usd);
      }
      expect(table.count).toBe(known.size);
      for (const [trader, usd] of known) expect(table.numbers[rowOf(table, trader, SECOND) + USD]).toBe(usd);
    }),
  );
});

test("the least recently active traders are forgotten; the others keep their rows", () => {
  const table = createWallets();
  for (let n = 0; n < TRADERS; n++) {
    const row = rowOf(table, `0x${n}`, n * SECOND);
    table.numbers[row + LAST_BUY] = n * SECOND;
    table.numbers[row + TRIPS] = n;
    expect(table.count).toBeLessThanOrEqual(MAX_ROWS + SPARE_ROWS);
  }
  for (let n = TRADERS - MAX_ROWS; n < TRADERS; n++) {
    expect(table.numbers[rowOf(table, `0x${n}`, TRADERS * SECOND) + TRIPS]).toBe(n);
  }
  const forgotten = rowOf(table, "0x7", TRADERS * SECOND);
  expect(table.numbers[forgotten + TRIPS]).toBe(0);
  expect(table.numbers[forgotten + LAST_BUY]).toBe(-1);
  expect(table.numbers[forgotten + USD_AT]).toBe(TRADERS * SECOND);
});

test("of traders that were last active in the same block, some are forgotten, but no later traders", () => {
  const table = createWallets();
  const buy = (trader: string, atMs: number) => {
    table.numbers[rowOf(table, trader, atMs) + LAST_BUY] = atMs;
  };
  for (let n = 0; n < MAX_ROWS + SPARE_ROWS - 40; n++) buy(`0xold${n}`, SECOND);
  for (let n = 0; n < 40; n++) buy(`0xnew${n}`, (n + 2) * SECOND);
  buy("0xone-too-many", 50 * SECOND);
  expect(table.count).toBe(MAX_ROWS + 1);
  for (let n = 0; n < 40; n++) {
    expect(table.numbers[rowOf(table, `0xnew${n}`, 50 * SECOND) + LAST_BUY]).toBe((n + 2) * SECOND);
  }
});
