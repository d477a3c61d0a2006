import { expect, test } from "vitest";
import { hasMixedLetters } from "../../../src/base/lib/text/mixed-letters.ts";

test.each([
  ["USDT", false],
  ["USD\u0422", true],
  ["\u0415th", true],
  ["𝐔𝐒𝐃𝐓", true],
  ["ＵＳＤＴ", true],
  ["Рубль", false],
  ["Ωmega", true],
  ["柴犬 Inu 🚀", false],
  ["Pépé", false],
])("%s has letters that only look Latin: %s", (name, isMixed) => {
  expect(hasMixedLetters(name)).toBe(isMixed);
});
