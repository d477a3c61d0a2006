import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Cursor,
  formatCursor,
  parseCursor,
  toEpoch,
  toRun,
  toSeq,
} from "../../../src/base/protocol/index.ts";

const epoch = fc
  .string({ unit: fc.constantFrom(..."0123456789abcdefghijklmnopqrstuvwxyz"), minLength: 4, maxLength: 32 })
  .map(toEpoch);
const run = fc
  .string({ unit: fc.constantFrom(..."0123456789abcdefghijklmnopqrstuvwxyz"), minLength: 1, maxLength: 12 })
  .map(toRun);
const cursor: fc.Arbitrary<Cursor> = fc.record(
  { epoch, seq: fc.nat({ max: 999_999_999_999_999 }).map(toSeq), run },
  { requiredKeys: ["epoch", "seq"] },
);

test("a formatted cursor parses to the same cursor, is safe in a URL and has at most 61 characters", () => {
  fc.assert(
    fc.property(cursor, (value) => {
      const text = formatCursor(value);
      expect(parseCursor(text)).toEqual(value);
      expect(encodeURIComponent(text)).toBe(text);
      expect(text.length).toBeLessThanOrEqual(61);
    }),
  );
});

test("any text that parses as a cursor equals the formatted cursor", () => {
  const near = fc.tuple(cursor, fc.nat(50), fc.string({ maxLength: 2 })).map(([value, at, noise]) => {
    const text = formatCursor(value);
    return text.slice(0, at) + noise + text.slice(at);
  });
  fc.assert(
    fc.property(fc.oneof(fc.string(), near), (text) => {
      const read = parseCursor(text);
      if (read) expect(formatCursor(read)).toBe(text);
    }),
  );
});

test.each([
  "",
  "abcd",
  "abcd-",
  "-1",
  "abc-1",
  "ABCD-1",
  "abcd-01",
  "abcd--1",
  "abcd-1.5",
  "abcd-1e3",
  "abcd-1 ",
  "abcd-1\n",
  "abcd-1-",
  "abcd-1-A",
  "abcd-1-a-b",
  `abcd-1-${"a".repeat(13)}`,
  "ab_cd-1",
  "abcd-9999999999999999",
  `${"a".repeat(33)}-1`,
])("%j is not a cursor", (text) => {
  expect(parseCursor(text)).toBeUndefined();
});

test.each(["abc", "ABCD", "ab-cd", "", "a".repeat(33)])(
  "%j is not an epoch, and the error says why",
  (text) => {
    expect(() => toEpoch(text)).toThrow(
      new RangeError(`epoch is "${text}"; it must be 4 to 32 characters of 0-9a-z`),
    );
  },
);

test.each(["", "A", "a-b", "a".repeat(13)])("%j is not a run, and the error says why", (text) => {
  expect(() => toRun(text)).toThrow(
    new RangeError(`run is "${text}"; it must be 1 to 12 characters of 0-9a-z`),
  );
});

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("%d is not a seq", (value) => {
  expect(() => toSeq(value)).toThrow(RangeError);
});
