import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nearest } from "../../../src/base/lib/text/nearest.ts";
import { formatDuration, formatSize, parseDuration, parseSize } from "../../../src/base/lib/text/quantity.ts";

describe("durations and sizes", () => {
  test("a formatted value parses to the same value", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e11 }), (value) => {
        expect(parseDuration(formatDuration(value))).toBe(value);
        expect(parseSize(formatSize(value))).toBe(value);
      }),
    );
  });

  test("parsing never throws, and returns a whole number of at least 0 or undefined", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{1,8} ?(ms|s|m|h|d|B|KiB)$/)), (text) => {
        for (const value of [parseDuration(text), parseSize(text)]) {
          expect(value === undefined || (Number.isSafeInteger(value) && value >= 0)).toBe(true);
        }
      }),
    );
  });

  test("a decimal number is accepted in every unit except the smallest", () => {
    const durations = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
    const sizes = { KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 };
    for (const text of ["1.1", "2.2", "0.7", "4.35", "0.1", "0.3", "16.1", "1023.999"]) {
      for (const [unit, ms] of Object.entries(durations))
        expect(parseDuration(`${text}${unit}`), text + unit).toBe(Math.round(Number(text) * ms));
      for (const [unit, bytes] of Object.entries(sizes))
        expect(parseSize(`${text}${unit}`), text + unit).toBe(Math.round(Number(text) * bytes));
    }
    expect([parseDuration("1.1h"), parseDuration("2.2h"), parseDuration("0.7d")]).toEqual([
      3_960_000, 7_920_000, 60_480_000,
    ]);
    expect([parseDuration("4.35m"), parseSize("1.1MiB")]).toEqual([261_000, 1_153_434]);
  });

  test.each(["0.0001s", "0.000001m", "0.4B", "1.5B", "1.5ms"])(
    "%j is rejected: fractions of a millisecond or byte are not supported",
    (text) => {
      expect(parseDuration(text) ?? parseSize(text)).toBeUndefined();
    },
  );

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
  ])("%j is not a duration", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe("the nearest name", () => {
  test("is the closest one, or none if nothing is close", () => {
    expect(nearest("hartbeat", ["host", "heartbeat"])).toBe("heartbeat");
    expect(nearest("srve", ["serve", "replay", "tail"])).toBe("serve");
    expect(nearest("completely-else", ["serve", "replay", "tail"])).toBeUndefined();
    expect(nearest("x", ["to"])).toBeUndefined();
  });
});
