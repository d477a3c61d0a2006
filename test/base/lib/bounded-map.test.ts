import { expect, test, vi } from "vitest";
import { BoundedMap } from "../../../src/base/lib/bounded-map.ts";

test("a full map drops the entry that was set longest ago", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1).set("b", 2).set("a", 3).set("c", 4);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});

test("a missing value is created once, and again after it was dropped", () => {
  const map = new BoundedMap<string, string>(1);
  const make = vi.fn(() => "made");
  expect([map.ensure("a", make), map.ensure("a", make)]).toEqual(["made", "made"]);
  expect(make).toHaveBeenCalledTimes(1);
  map.ensure("b", make);
  map.ensure("a", make);
  expect(make).toHaveBeenCalledTimes(3);
});

test("entries count by size until removed or replaced; one above the limit is not stored and drops all others", () => {
  const map = new BoundedMap<string, unknown>(10, (value, key) => `${key}${value}`.length);
  map.set("a", "1234").set("b", "12").set("a", "12").set("c", "123");
  expect([[...map.keys()], map.total]).toEqual([["b", "a", "c"], 10]);
  map.set("d", 1);
  expect([[...map.keys()], map.total]).toEqual([["a", "c", "d"], 9]);
  expect([map.delete("a"), map.delete("a"), map.total]).toEqual([true, false, 6]);
  map.set("e", "1234567890");
  expect([map.size, map.total]).toEqual([0, 0]);
  map.set("u", undefined).clear();
  expect(map.total).toBe(0);
});
