import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { padColumns } from "../../../../src/app/cli/terminal/columns.ts";
import { columns, plainJson, plainText, wrapText } from "../../../../src/app/cli/terminal/plain-text.ts";
import { anyText } from "../../../support/random/any-text.ts";

const HOSTILE = "\u001B[31m\u0007\u009B2J\u202Eevil\u2066\u200B\u0000\r\n\u2028";
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const hostileText = fc.oneof(anyText(), fc.string({ unit: fc.constantFrom(...HOSTILE, "a", "界") }));

describe("untrusted text", () => {
  test("has no control characters", () => {
    expect(plainText(HOSTILE)).not.toMatch(CONTROLS);
    expect(plainText(HOSTILE)).toContain("evil");
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 50 }), (text, width) => {
        const plain = plainText(text, width);
        expect(plain).not.toMatch(CONTROLS);
        expect(columns(plain)).toBeLessThanOrEqual(width);
      }),
    );
  });

  test("keeps ordinary text", () => {
    for (const text of ["BTC_BCC", "Ünïcode", "狗狗币", "🚀", "naïve $TOKEN"])
      expect(plainText(text)).toBe(text);
  });

  test("is cut with an ellipsis when it is too long, even at 5 million characters", () => {
    expect(plainText("abcdef", 4)).toBe("abc…");
    expect(plainText("狗狗币", 4)).toBe("狗…");
    expect(columns(plainText("x".repeat(5_000_000), 30))).toBe(30);
  });

  test("is padded by columns, not by characters", () => {
    expect(padColumns("狗", 4)).toBe("狗  ");
    expect(padColumns("long", 2)).toBe("long");
  });

  test("has at most two combining marks per character", () => {
    expect(plainText(`a${"\u0301".repeat(20)}`).length).toBe(3);
  });
});

describe("JSON for a terminal", () => {
  test("has the same value, on one line, without control characters", () => {
    fc.assert(
      fc.property(fc.dictionary(hostileText, hostileText), (value) => {
        const json = plainJson(value);
        expect(json).not.toMatch(CONTROLS);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

test("a long text is broken between words, and a longer word is cut", () => {
  expect(wrapText("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrapText("a 流動性 b", 4)).toEqual(["a", "流…", "b"]);
  expect(wrapText("bad\u001B[2J word", 20)).toEqual(["bad\uFFFD[2J word"]);
});

test("a number is not broken from its unit", () => {
  expect(wrapText("price 5.6 % up", 9)).toEqual(["price", "5.6 % up"]);
  expect(wrapText("it lasted 10 min", 12)).toEqual(["it lasted", "10 min"]);
  expect(wrapText("it lasted 90 minutes", 12)).toEqual(["it lasted", "90 minutes"]);
  expect(wrapText("buys 4 times the usual", 6)).toEqual(["buys 4", "times", "the", "usual"]);
});
