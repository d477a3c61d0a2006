import { expect, test } from "vitest";
import { LOG_START } from "../../../src/scale/cluster/entry.ts";
import { Tail } from "../../../src/scale/cluster/tail.ts";
import { chain, entryAfter } from "./entries.ts";

function read(count: number, capacity = 10) {
  const tail = new Tail(capacity);
  const entries = chain(count);
  for (const entry of entries) expect(tail.receive(entry)).toBe("accepted");
  return { tail, entries, at: (offset: number) => entries[offset - 1] ?? LOG_START };
}

test("[I2] a received entry is delivered once, after its commit", () => {
  const { tail, entries, at } = read(3);
  expect(tail.take()).toEqual([]);
  expect(tail.commit(at(2))).toBe("accepted");
  expect(tail.take()).toEqual(entries.slice(0, 2));
  expect(tail.take()).toEqual([]);
  expect(tail.commit(at(1))).toBe("known");
  expect(tail.commit(at(3))).toBe("accepted");
  expect(tail.take()).toEqual([at(3)]);
});

test("[I2] a commit announced before its entry arrives counts once that entry, and no other, is received", () => {
  const { tail, entries, at } = read(1);
  const [second, other] = [entryAfter(at(1)), entryAfter(at(1))];
  expect(tail.commit(second)).toBe("known");
  expect(tail.lacksCommitted).toBe(true);
  tail.receive(second);
  expect(tail.take()).toEqual([at(1), second]);
  const late = new Tail(10);
  for (const entry of entries) late.receive(entry);
  late.commit(second);
  late.receive(other);
  expect(late.take()).toEqual([]);
  expect(late.last).toBe(LOG_START);
});

test("[I3] a commit of a different entry causes a reread at a pending offset, and is a fork at a delivered one", () => {
  const { tail, at } = read(3);
  tail.commit(at(1));
  tail.take();
  expect(tail.commit(entryAfter(at(1)))).toBe("reread");
  expect(tail.last).toBe(at(1));
  expect(tail.commit(entryAfter(LOG_START))).toBe("fork");
});

test("[I3] an entry that contradicts a pending one causes a reread, after which only the first entry is accepted", () => {
  const { tail, at } = read(2);
  expect(tail.receive(entryAfter(at(1)))).toBe("reread");
  expect(tail.receive(entryAfter(entryAfter(at(2))))).toBe("gap");
  expect(tail.receive({ ...entryAfter(LOG_START), offset: 1 })).toBe("accepted");
});

test("delivered entries are remembered for repairs, up to the capacity", () => {
  const { tail, entries, at } = read(8, 3);
  tail.commit(at(7));
  tail.take();
  expect(tail.after(at(4))).toEqual(entries.slice(4));
  expect(tail.after(at(3))).toBeUndefined();
  expect(tail.after(entryAfter(at(4)))).toBeUndefined();
});
