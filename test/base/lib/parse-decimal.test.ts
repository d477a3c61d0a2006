import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAmount } from "../../../src/base/lib/parse-decimal.ts";

const PLAIN = /^\d+(\.\d+)?$/;
const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 26 });
const plain = fc.tuple(digits, digits).map(([whole, part]) => (part === "" ? whole : `${whole}.${part}`));

/** Parses with `Number`. The quick parser must return the same bits. */
function parseSlowly(text: string): number {
  const amount = PLAIN.test(text) ? Number(text) : Number.NaN;
  return amount <= 1e27 ? amount : Number.NaN;
}

test("a decimal is parsed to the nearest number, like Number does", () => {
  fc.assert(
    fc.property(plain, (text) => Object.is(parseAmount(text), parseSlowly(text))),
    { numRuns: 2_000 },
  );
});

test("text that is not a plain decimal is rejected", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."019.eE+-_ x"), maxLength: 12 }), (text) =>
      Object.is(parseAmount(text), parseSlowly(text)),
    ),
    { numRuns: 2_000 },
  );
  for (const text of ["", ".", "1.", ".5", "1..2", "1.2.3", "1e5", "-1", "٣"]) {
    expect(parseAmount(text)).toBeNaN();
  }
});

test("digits at the limit of a double are parsed exactly", () => {
  for (const text of [
    "9007199254740991",
    "9007199254740993",
    "0.9007199254740993",
    "900719925474.0993",
    "0.0000000000000000000001",
    "1.0000000000000000000001",
  ]) {
    expect(parseAmount(text)).toBe(Number(text));
  }
});
