import { expect, test } from "vitest";
import { SymbolBook } from "../../../../src/app/cli/tail/symbol-book.ts";

const MAX_ITEMS = 20_000;
const item = (n: number) => ({ id: `id ${n}`, token: { symbol: `S${n}` } });

test("the book remembers the 20,000 items that it saw last, from one snapshot or several", () => {
  const book = new SymbolBook();
  const learn = (...items: readonly object[]) => book.learnSnapshot({ flares: { pro: items } });
  learn(...Array.from({ length: MAX_ITEMS }, (_, n) => item(n)));
  expect([book.of("id 0"), book.of(`id ${MAX_ITEMS - 1}`)]).toEqual(["S0", `S${MAX_ITEMS - 1}`]);
  // An item that is seen again counts as new.
  learn(item(0), ...Array.from({ length: 10 }, (_, n) => item(MAX_ITEMS + n)));
  expect([book.of("id 0"), book.of("id 10"), book.of("id 11")]).toEqual(["S0", undefined, "S11"]);
  learn(...Array.from({ length: 2 * MAX_ITEMS }, (_, n) => item(3 * MAX_ITEMS + n)));
  expect([book.of("id 0"), book.of(`id ${4 * MAX_ITEMS - 1}`)]).toEqual([undefined, undefined]);
  expect([book.of(`id ${4 * MAX_ITEMS}`), book.of(`id ${5 * MAX_ITEMS - 1}`)]).toEqual([
    `S${4 * MAX_ITEMS}`,
    `S${5 * MAX_ITEMS - 1}`,
  ]);
});
