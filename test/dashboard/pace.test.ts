import { expect, test } from "vitest";
import { paceOf } from "../../src/dashboard/state/pace.ts";

test.each([
  [60_000, 1_000, undefined],
  [600_000, 10_000, 60],
  [10_400, 10_000, undefined],
  [2_000, 20_000, 0.1],
  [0, 20_000, undefined],
  [1_234_000, 10_000, 120],
])("event time that advances by %d ms in %d ms runs at %s times the clock", (eventMs, clockMs, pace) => {
  const first = { eventMs: 1_510_000_000_000, clockMs: 5_000 };
  const last = { eventMs: first.eventMs + eventMs, clockMs: first.clockMs + clockMs };
  expect(paceOf(first, last)).toBe(pace);
  expect(paceOf(undefined, last)).toBeUndefined();
});
