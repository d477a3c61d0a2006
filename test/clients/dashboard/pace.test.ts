import { expect, test } from "vitest";
import { measurePace, paceOf } from "../../../src/clients/dashboard/state/pace.ts";

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

test("the pace of a recording that starts over is measured from its new start", () => {
  const pace = measurePace();
  const at = (seconds: number) => new Date(1_510_000_000_000 + seconds * 1_000).toISOString();
  expect(pace(undefined, 0)).toBeUndefined();
  expect(pace(at(6_000), 0)).toBeUndefined();
  expect(pace(at(6_600), 10_000)).toBe(60);
  expect(pace(at(0), 11_000)).toBeUndefined();
  expect(pace(at(0), 20_000)).toBeUndefined();
  expect(pace(at(1_200), 31_000)).toBe(60);
});
