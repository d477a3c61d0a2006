import { expect, test } from "vitest";
import type { ListItem } from "../../../src/base/model/index.ts";
import { applyChange, type Change, ChangeMismatch } from "../../../src/base/protocol/index.ts";
import { flare } from "../../gateway/source/sample-snapshots.ts";

const [a, b, c] = [flare("A"), flare("B"), flare("C")];
const list = [a, b];
const entry: ListItem = {
  type: "token",
  time_trended: 60,
  average_position: 1,
  object: { symbol: "BTC", price: "7000" },
};

test("the four changes apply, and leave the given list unchanged", () => {
  const before = structuredClone(list);
  expect(applyChange(list, { op: "insert", index: 2, item: c })).toEqual([a, b, c]);
  expect(applyChange(list, { op: "insert", index: 0, item: c })).toEqual([c, a, b]);
  expect(applyChange(list, { op: "remove", id: a.id })).toEqual([b]);
  expect(applyChange(list, { op: "order", ids: [b.id, a.id] })).toEqual([b, a]);
  expect(applyChange(list, { op: "set", id: b.id, set: { liquidity: "5" } })).toEqual([
    a,
    { ...b, liquidity: "5" },
  ]);
  expect(list).toEqual(before);
});

test("unaffected items stay the same objects", () => {
  expect(applyChange(list, { op: "set", id: b.id, set: { liquidity: "5" } })[0]).toBe(a);
});

test("an unset field is removed, not undefined", () => {
  const noted = { ...a, x_note: 1 };
  const [item] = applyChange([noted], { op: "set", id: a.id, set: {}, unset: ["x_note"] });
  expect(Object.keys(item ?? {})).toEqual(Object.keys(a));
});

test("the key of a leaderboard entry is that of its object", () => {
  const [after] = applyChange([entry], {
    op: "set",
    id: "BTC",
    set: { object: { symbol: "BTC", price: "7001" } },
  });
  expect(after).toEqual({ ...entry, object: { symbol: "BTC", price: "7001" } });
});

// Some violate the types: changes come from a server, and a client must reject them before they
// corrupt its list.
const MISMATCHES: readonly [string, unknown][] = [
  ["an insert beyond the end", { op: "insert", index: 3, item: c }],
  ["an insert at a negative index", { op: "insert", index: -1, item: c }],
  ["an insert at a fractional index", { op: "insert", index: 0.5, item: c }],
  ["an insert without an index", { op: "insert", item: c }],
  ["an insert of a key that is in the list", { op: "insert", index: 0, item: a }],
  ["an insert of null", { op: "insert", index: 0, item: null }],
  ["an insert of an entry without an object", { op: "insert", index: 0, item: {} }],
  ["a removal of a key that is not in the list", { op: "remove", id: c.id }],
  ["fields for a key that is not in the list", { op: "set", id: c.id, set: {} }],
  ["fields that change the item's key", { op: "set", id: a.id, set: { id: c.id } }],
  ["fields that remove the item's key", { op: "set", id: a.id, set: {}, unset: ["id"] }],
  ["an order that lacks an item", { op: "order", ids: [a.id] }],
  ["an order with an extra key", { op: "order", ids: [a.id, b.id, c.id] }],
  ["an order with an unknown key", { op: "order", ids: [a.id, c.id] }],
  ["an order with a duplicate key", { op: "order", ids: [a.id, a.id] }],
  ["an operation of a later version", { op: "swap", ids: [a.id, b.id] }],
];

test.each(MISMATCHES)("%s throws ChangeMismatch", (_what, change) => {
  expect(() => applyChange(list, change as Change)).toThrow(ChangeMismatch);
});
