import { expect, test } from "vitest";
import { judgeAnswer } from "../../../src/extensions/alerts/delivery/delivery-plan.ts";

const answered = (status: number, retryAfter?: string) =>
  judgeAnswer({ kind: "answered", status, retryAfter });

test.each([200, 202, 204, 299])("%i accepts a message", (status) => {
  expect(answered(status, "5")).toEqual({ kind: "delivered" });
});

test.each([100, 199, 300, 301, 302, 304, 307, 308, 399, 401, 403, 404, 408, 411, 429, 500, 507, 599])(
  "%i counts as a failed attempt",
  (status) => {
    expect(answered(status)).toMatchObject({ kind: "failed", retryAfterMs: undefined });
  },
);

test.each([400, 409, 413, 414, 415, 422, 431, 451])("%i refuses the message for its content", (status) => {
  expect(answered(status)).toEqual({
    kind: "refused",
    reason: `the receiver returned ${status}`,
    retryAfterMs: undefined,
  });
});

test("410 ends the delivery permanently, and a missing response counts as a failed attempt", () => {
  expect(answered(410)).toEqual({ kind: "gone" });
  expect(judgeAnswer({ kind: "failed", reason: "it was cut" })).toMatchObject({
    kind: "failed",
    reason: "it was cut",
  });
});

test.each([
  ["0", 0],
  ["1", 1_000],
  ["3599", 3_599_000],
  ["3600", 3_600_000],
  ["3601", 3_600_000],
  ["999999999", 3_600_000],
  ["9999999999", undefined],
  ["-1", undefined],
  ["1.5", undefined],
  ["Wed, 21 Oct 2015 07:28:00 GMT", undefined],
])("a Retry-After of %j asks for %j ms", (retryAfter, retryAfterMs) => {
  expect(answered(503, retryAfter)).toMatchObject({ kind: "failed", retryAfterMs });
});
