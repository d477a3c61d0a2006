import { expect, test } from "vitest";
import { LOG_START } from "../../../src/scale/cluster/entry.ts";
import { RecentEntries } from "../../../src/scale/cluster/recent-entries.ts";
import { chain, entryAfter } from "./entries.ts";

function read(count: number, capacity = 10) {
  const recent = new RecentEntries(capacity);
  const entries = chain(count);
  for (const entry of entries) expect(recent.receive(entry)).toBe("accepted");
  return { recent, entries, at: (offset: number) => entries[offset - 1] ?? LOG_START };
}

test("[I2] a received entry is delivered once, after its commit", () => {
  const { recent, entries, at } = read(3);
  expect(recent.take()).toEqual([]);
  expect(recent.commit(at(2))).toBe("accepted");
  expect(recent.take()).toEqual(entries.slice(0, 2));
  expect(recent.take()).toEqual([]);
  expect(recent.commit(at(1))).toBe("known");
  expect(recent.commit(at(3))).toBe("accepted");
  expect(recent.take()).toEqual([at(3)]);
});

test("[I2] a commit announced before its entry arrives counts once that entry, and no other, is received", () => {
  const { recent, entries, at } = read(1);
  const [second, other] = [entryAfter(at(1)), entryAfter(at(1))];
  expect(recent.commit(second)).toBe("known");
  expect(recent.lacksCommitted).toBe(true);
  recent.receive(second);
  expect(recent.take()).toEqual([at(1), second]);
  const late = new RecentEntries(10);
  for (const entry of entries) late.receive(entry);
  late.commit(second);
  late.receive(other);
  expect(late.take()).toEqual([]);
  expect(late.last).toBe(LOG_START);
});

test("[I3] a commit of a different entry causes a reread at a pending offset, and is a fork at a delivered one", () => {
  const { recent, at } = read(3);
  recent.commit(at(1));
  recent.take();
  expect(recent.commit(entryAfter(at(1)))).toBe("reread");
  expect(recent.last).toBe(at(1));
  expect(recent.commit(entryAfter(LOG_START))).toBe("fork");
});

test("[I3] an entry that contradicts a pending one causes a reread, after which only the first entry is accepted", () => {
  const { recent, at } = read(2);
  expect(recent.receive(entryAfter(at(1)))).toBe("reread");
  expect(recent.receive(entryAfter(entryAfter(at(2))))).toBe("gap");
  expect(recent.receive({ ...entryAfter(LOG_START), offset: 1 })).toBe("accepted");
});

test("delivered entries are remembered for repairs, up to the capacity", () => {
  const { recent, entries, at } = read(8, 3);
  recent.commit(at(7));
  recent.take();
  expect(recent.after(at(4))).toEqual(entries.slice(4));
  expect(recent.after(at(3))).toBeUndefined();
  expect(recent.after(entryAfter(at(4)))).toBeUndefined();
});

test("[I2] a commit announced before the node started over is not delivered after it", () => {
  const { recent, at } = read(1);
  const second = entryAfter(at(1));
  recent.commit(second);
  recent.restart(at(1));
  expect([recent.lacksCommitted, recent.delivered, recent.last]).toEqual([false, at(1), at(1)]);
  recent.receive(second);
  expect(recent.take()).toEqual([]);
  expect([recent.commit(second), recent.take()]).toEqual(["accepted", [second]]);
});
