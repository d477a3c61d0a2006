import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, formatSize, parseDuration, parseSize } from "../../src/config/quantity.ts";
import { nearest } from "../../src/lib/nearest.ts";

describe("durations and sizes", () => {
  test("whatever is formatted is read back as it was", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e11 }), (value) => {
        expect(parseDuration(formatDuration(value))).toBe(value);
        expect(parseSize(formatSize(value))).toBe(value);
      }),
    );
  });

  test("no text makes them throw, and what they read is a whole number of at least 0", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{1,8} ?(ms|s|m|h|d|B|KiB)$/)), (text) => {
        for (const value of [parseDuration(text), parseSize(text)]) {
          expect(value === undefined || (Number.isSafeInteger(value) && value >= 0)).toBe(true);
        }
      }),
    );
  });

  test.each([
    "",
    "5",
    "5 parsecs",
    "s",
    "-1s",
    "1e3s",
    "1.5",
    "Infinity",
    "0.5ms",
    "1s1s",
    "constructor",
    "1toString",
  ])("%j is no duration", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe("the nearest name", () => {
  test("is the one that was meant, and none where nothing is near", () => {
    expect(nearest("hartbeat", ["host", "heartbeat"])).toBe("heartbeat");
    expect(nearest("srve", ["serve", "replay", "tail"])).toBe("serve");
    expect(nearest("completely-else", ["serve", "replay", "tail"])).toBeUndefined();
    expect(nearest("x", ["to"])).toBeUndefined();
  });
});
