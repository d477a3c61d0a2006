import { expect, test } from "vitest";
import { lockedPart, lockedText } from "../../../src/base/model/text/locked-text.ts";

test.each([
  [0, 0.979, "2027-03-01T12:00:00.000Z", "97 % locked until 2027-03-01"],
  [0.5, 0.25, null, "50 % burned, 25 % locked (end not known)"],
  [1, 0, null, "100 % burned"],
  [0.004, 0.009, null, "not locked"],
])("%s burned and %s held until %s reads as %s", (burned, held, until, text) => {
  expect(lockedText({ burned, held, until })).toBe(text);
});

test("a sentence says it of the liquidity, and nothing if it is unknown", () => {
  expect(lockedPart({ burned: 0, held: 0, until: null })).toBe("liquidity not locked");
  expect([lockedPart(null), lockedPart(undefined), lockedText(null)]).toEqual(["", "", ""]);
});
