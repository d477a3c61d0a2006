import fc from "fast-check";
import { expect, test } from "vitest";
import { actionAfter, CLOSE_CODES, ERROR_CODES, retryDelay } from "../../../src/base/protocol/index.ts";

const ROWS: readonly (readonly [number, string])[] = [
  [408, "backoff"],
  [429, "backoff"],
  [400, "stop"],
  [401, "stop"],
  [403, "stop"],
  [404, "stop"],
  [410, "resume"],
  [499, "stop"],
  [500, "backoff"],
  [502, "backoff"],
  [503, "backoff"],
  [599, "backoff"],
  [200, "fallback"],
  [302, "fallback"],
  [1_000, "fallback"],
  [1_001, "backoff"],
  [1_006, "fallback"],
  [3_999, "fallback"],
  [4_000, "stop"],
  [4_099, "stop"],
  [4_100, "backoff"],
  [4_199, "backoff"],
  [4_200, "resume"],
  [4_299, "resume"],
  [4_300, "fallback"],
];

test.for(ROWS)("[W26] the action after %d is %s", ([code, action]) => {
  expect(actionAfter(code)).toBe(action);
});

test("[W26] every close code and every problem status has a defined action; none is fallback", () => {
  const codes = Object.values(CLOSE_CODES).map(({ code }) => code);
  const statuses = Object.values(ERROR_CODES).map(({ status }) => status);
  expect([...codes, ...statuses].filter((code) => actionAfter(code) === "fallback")).toEqual([]);
  for (const { code, action } of Object.values(CLOSE_CODES)) expect(actionAfter(code)).toBe(action);
});

test("[W26] every number has an action, which is that of its hundred unless the code has its own", () => {
  const named = new Set([408, 410, 429, 1_001]);
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 65_535 }), (code) => {
      const hundred = code - (code % 100);
      if (!named.has(code)) expect(actionAfter(code)).toBe(actionAfter(hundred));
      expect(["resume", "backoff", "fallback", "stop"]).toContain(actionAfter(code));
    }),
  );
});

test("[W26] delays grow from at most 2 seconds to at most 30, and a server may request up to 15 minutes", () => {
  const delays = [0, 1, 2, 3, 4, 5, 10_000].map((failures) => retryDelay(failures));
  const expected = [1, 3, 7, 15, 29, 29, 29].map((s) => ({ minMs: 1_000, spreadMs: s * 1_000 }));
  expect(delays).toEqual(expected);
  const requested = [20_000, 31_536_000_000, Infinity, 999, 0, -5, Number.NaN, undefined];
  expect(requested.map((ms) => retryDelay(0, ms).minMs)).toEqual([
    ...[20_000, 900_000, 900_000],
    ...[1_000, 1_000, 1_000, 1_000, 1_000],
  ]);
});
