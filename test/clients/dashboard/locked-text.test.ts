import { expect, test } from "vitest";
import { lockedText } from "../../../src/clients/dashboard/text/source-text.ts";

test.each([
  [0, 0.979, "2027-03-01T12:00:00.000Z", "97 % locked until 2027-03-01"],
  [0.5, 0.25, null, "50 % burned, 25 % locked (end not known)"],
  [1, 0, null, "100 % burned"],
  [0.004, 0.009, null, "not locked"],
])("%s burned and %s held until %s reads as %s", (burned, held, until, text) => {
  expect(lockedText({ burned, held, until })).toBe(text);
});
