import fc from "fast-check";
import { expect, test } from "vitest";
import { isoTime } from "../../../src/base/lib/time/iso-time.ts";

test("the text is that of Date.toISOString(), whichever times were formatted before", () => {
  const near = fc.integer({ min: 1_500_000_000_000, max: 1_500_000_000_040 });
  const far = fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.oneof(near, far), { maxLength: 40 }), (moments) => {
      for (const atMs of moments) expect(isoTime(atMs)).toBe(new Date(atMs).toISOString());
    }),
  );
});

test("an invalid time throws a RangeError, also when it is repeated", () => {
  for (const atMs of [Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1, Number.NaN]) {
    expect(() => isoTime(atMs)).toThrow(RangeError);
  }
});
