import { expect, test } from "vitest";
import { SymbolBook } from "../../../src/cli/tail/symbol-book.ts";

const MOST = 20_000;
const item = (n: number) => ({ id: `id ${n}`, token: { symbol: `S${n}` } });

test("of more items than are remembered those that were seen last are, however they came", () => {
  const book = new SymbolBook();
  const learn = (...items: readonly object[]) => book.learnSnapshot({ flares: { pro: items } });
  learn(...Array.from({ length: MOST }, (_, n) => item(n)));
  expect([book.of("id 0"), book.of(`id ${MOST - 1}`)]).toEqual(["S0", `S${MOST - 1}`]);
  // Seen again, the first is the last to be forgotten.
  learn(item(0), ...Array.from({ length: 10 }, (_, n) => item(MOST + n)));
  expect([book.of("id 0"), book.of("id 10"), book.of("id 11")]).toEqual(["S0", undefined, "S11"]);
  learn(...Array.from({ length: 2 * MOST }, (_, n) => item(3 * MOST + n)));
  expect([book.of("id 0"), book.of(`id ${4 * MOST - 1}`)]).toEqual([undefined, undefined]);
  expect([book.of(`id ${4 * MOST}`), book.of(`id ${5 * MOST - 1}`)]).toEqual([
    `S${4 * MOST}`,
    `S${5 * MOST - 1}`,
  ]);
});
