import { expect, test, vi } from "vitest";
import { BoundedMap } from "../../src/lib/bounded-map.ts";

test("a full map drops the entry that was set longest ago", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1).set("b", 2).set("a", 3).set("c", 4);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});

test("a missing value is made once, until it is dropped", () => {
  const map = new BoundedMap<string, string>(1);
  const make = vi.fn(() => "made");
  expect([map.ensure("a", make), map.ensure("a", make)]).toEqual(["made", "made"]);
  expect(make).toHaveBeenCalledTimes(1);
  map.ensure("b", make);
  map.ensure("a", make);
  expect(make).toHaveBeenCalledTimes(3);
});
