import { expect, test } from "vitest";
import type { Term } from "../../../src/base/model/index.ts";
import { termText } from "../../../src/clients/dashboard/text/term-text.ts";

const term = (name: Term["name"], raw: number, usual: number | null = 1): Term => ({
  name,
  unit: "buyers",
  raw,
  usual,
  z: 3,
  weight: 0.3,
});

test("a term is said in a few words, and not at all if it is about usual", () => {
  const said = [
    term("buyers", 10.68, 2),
    term("buyers", 12, null),
    term("volume", 2.04),
    term("price", Math.log(1.16)),
    term("price", Math.log(0.9)),
    term("imbalance", 0.155),
    term("imbalance", 0.5),
    term("flow", 9.7),
    term("rush", 12),
  ].map((one) => termText(one, {}));
  expect(said).toEqual([
    ...["5.3× buyers", "12 buyers", "2× volume", "+16 % vs normal", "−10 % vs normal"],
    ...["$1.8 per $1 sold", "≥ $20 per $1 sold", "9.7 min of buying", "12 buys at once"],
  ]);
  expect(termText(term("volume", 3), { form: "seconds" })).toBe("3× buying");
  const usual = [
    term("buyers", 1.1),
    term("buyers", 0.4, null),
    term("volume", 0.5),
    term("volume", 9, null),
    term("price", 0.001),
    term("imbalance", 0.01),
    term("flow", 0.2),
    term("rush", 1),
  ];
  expect(usual.map((one) => termText(one, {}))).toEqual(usual.map(() => undefined));
});
