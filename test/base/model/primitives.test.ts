import { expect, test } from "vitest";
import { keyOf } from "../../../src/base/model/index.ts";
import { Address, Count } from "../../../src/base/model/primitives.ts";
import { SAMPLE_FLARE, SAMPLE_LISTING } from "../../support/world/samples.ts";

const standing = { time_trended: 60, average_position: 1 };
const named = { symbol: "ONE", price: "1" };

test("items are identified by their id; leaderboard items by the address, or by the symbol if there is none", () => {
  expect([keyOf(SAMPLE_FLARE), keyOf(SAMPLE_LISTING)]).toEqual([SAMPLE_FLARE.id, SAMPLE_LISTING.id]);
  const addressed = { ...standing, type: "token", object: { ...named, address: "0x1" } } as const;
  expect(keyOf(addressed)).toBe("0x1");
  // Two tokens of a chain may have the same symbol.
  expect(keyOf({ ...addressed, object: { ...addressed.object, address: "0x2" } })).toBe("0x2");
  expect(keyOf({ ...standing, type: "token", object: named })).toBe("ONE");
});

test.each([
  [0, true],
  [1, true],
  [-1, false],
  [0.5, false],
  [Number.NaN, false],
  ["1", false],
])("%j is a valid count: %s", (value, isValid) => {
  expect(Count.safeParse(value).success).toBe(isValid);
});

test.each([
  ["0x0", true],
  [`0x${"aF".repeat(64)}`, true],
  ["0x", false],
  ["0xg", false],
  ["1f", false],
  [`0x${"a".repeat(129)}`, false],
])("%j is a valid address: %s", (value, isValid) => {
  expect(Address.safeParse(value).success).toBe(isValid);
});
