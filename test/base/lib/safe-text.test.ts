import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safeLink, safeText } from "../../../src/base/lib/text/safe-text.ts";
import { anyText } from "../../support/random/any-text.ts";

describe("untrusted text", () => {
  test.each([
    ["Doge", "Doge"],
    ["  two\n\nlines\t ", "two lines"],
    ["\u202Egnp.exe\u202C", "gnp.exe"],
    ["a\u0000b\u200Bc\u2060d", "abcd"],
    ["\u2066isolate\u2069", "isolate"],
    ["<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
    ["", "(no name)"],
    ["\u202E\u200B", "(no name)"],
    ["🔥🚀", "🔥🚀"],
    ["👩‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍🚀", "👩‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍🚀"],
    ["🔥\u200D x\u200Dy \u200D🔥", "🔥 xy 🔥"],
    [`x${"👩\u200D".repeat(30)}`, `x${"👩\u200D".repeat(22)}👩…`],
    ["Z\u0300\u0301\u0302\u0303\u0304\u0305", "Z\u0300\u0301\u0302"],
  ])("%j is shown as %j", (text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  test("has at most 48 characters, on one line, and none that affect the text around them", () => {
    const strange = fc.array(
      fc.oneof(anyText(), fc.constantFrom("\u202E", "\n", "\0", "e\u0301", "👩‍👩‍👧")),
      {
        maxLength: 40,
      },
    );
    fc.assert(
      fc.property(strange, (parts) => {
        const shown = safeText(parts.join(""));
        expect(Array.from(shown).length).toBeLessThanOrEqual(48);
        // A joiner is harmless only between two emoji.
        expect(shown.replace(/(?<=\p{ExtPict}.?)\u200D(?=\p{ExtPict})/gu, "")).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u,
        );
        expect(shown.trim()).not.toBe("");
      }),
    );
  });

  test("of ten million characters is cut to 48", () => {
    expect(safeText("a".repeat(10_000_000))).toHaveLength(48);
  });
});

test.each([
  ["https://example.org/a?b", "https://example.org/a?b"],
  ["http://example.org", "http://example.org/"],
  ["javascript:alert(1)", undefined],
  ["JAVASCRIPT:alert(1)", undefined],
  ["  java\nscript:alert(1)", undefined],
  ["data:text/html,<script>", undefined],
  ["https://me:pass@example.org", undefined],
  ["//example.org", undefined],
  ["example.org", undefined],
  ["", undefined],
  [null, undefined],
  [`https://example.org/${"a".repeat(3_000)}`, undefined],
])("the safe form of the link %j is %j", (link, safe) => {
  expect(safeLink(link)).toBe(safe);
});
