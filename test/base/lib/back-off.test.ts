import fc from "fast-check";
import { expect, test } from "vitest";
import { backOffMs, retryAfterMs } from "../../../src/base/lib/time/back-off.ts";

test("the random wait is between one second and a bound that doubles up to 30 seconds", () => {
  const bounds = [1, 2, 3, 4, 5, 6, 7, 5_000].map((failures) => [
    backOffMs(failures, () => 0),
    backOffMs(failures, () => 0.5),
    backOffMs(failures, () => 1 - Number.EPSILON),
  ]);
  expect(bounds).toEqual([
    [1_000, 1_500, 1_999],
    [1_000, 2_500, 3_999],
    [1_000, 4_500, 7_999],
    [1_000, 8_500, 15_999],
    [1_000, 15_500, 29_999],
    [1_000, 15_500, 29_999],
    [1_000, 15_500, 29_999],
    [1_000, 15_500, 29_999],
  ]);
});

test("Retry-After in seconds or as a date gives a wait of one second to five minutes; other text gives none", () => {
  const nowMs = Date.UTC(2017, 10, 12, 8);
  const wait = (value: string, date?: string) =>
    retryAfterMs(new Headers({ "retry-after": value, ...(date ? { date } : {}) }), nowMs);
  expect(wait("30")).toBe(30_000);
  expect(wait("0")).toBe(1_000);
  expect(wait("301")).toBe(300_000);
  expect(wait("9".repeat(400))).toBe(300_000);
  expect(wait("Sun, 12 Nov 2017 08:00:10 GMT")).toBe(10_000);
  expect(wait("Sunday, 12-Nov-17 08:00:10 GMT")).toBe(10_000);
  expect(wait("Sun, 12 Nov 2017 08:00:10 GMT", "Sun, 12 Nov 2017 08:00:07 GMT")).toBe(3_000);
  expect(wait("Sun, 12 Nov 2017 07:00:00 GMT")).toBe(1_000);
  for (const nonsense of ["", "soon", "-5", "1.5", "0x10", "1e3", "Sun, 99 Nov 2017"]) {
    expect(wait(nonsense), nonsense).toBeUndefined();
  }
});

test("for any text in Retry-After, the wait is undefined or within its bounds", () => {
  const visible = fc.string({
    unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
  });
  fc.assert(
    fc.property(visible, (value) => {
      const wait = retryAfterMs(new Headers({ "retry-after": value }), 0);
      expect(wait === undefined || (wait >= 1_000 && wait <= 300_000)).toBe(true);
    }),
  );
});
