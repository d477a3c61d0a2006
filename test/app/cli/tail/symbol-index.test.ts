import { expect, test } from "vitest";
import { SymbolIndex } from "../../../../src/app/cli/tail/symbol-index.ts";

const MAX_ITEMS = 20_000;
const item = (n: number) => ({ id: `id ${n}`, token: { symbol: `S${n}` } });

test("the index remembers the 20,000 items that it saw last, from one snapshot or several", () => {
  const index = new SymbolIndex();
  const learn = (...items: readonly object[]) => index.learnSnapshot({ flares: { pro: items } });
  learn(...Array.from({ length: MAX_ITEMS }, (_, n) => item(n)));
  expect([index.of("id 0"), index.of(`id ${MAX_ITEMS - 1}`)]).toEqual(["S0", `S${MAX_ITEMS - 1}`]);
  // An item that is seen again counts as new.
  learn(item(0), ...Array.from({ length: 10 }, (_, n) => item(MAX_ITEMS + n)));
  expect([index.of("id 0"), index.of("id 10"), index.of("id 11")]).toEqual(["S0", undefined, "S11"]);
  learn(...Array.from({ length: 2 * MAX_ITEMS }, (_, n) => item(3 * MAX_ITEMS + n)));
  expect([index.of("id 0"), index.of(`id ${4 * MAX_ITEMS - 1}`)]).toEqual([undefined, undefined]);
  expect([index.of(`id ${4 * MAX_ITEMS}`), index.of(`id ${5 * MAX_ITEMS - 1}`)]).toEqual([
    `S${4 * MAX_ITEMS}`,
    `S${5 * MAX_ITEMS - 1}`,
  ]);
});
