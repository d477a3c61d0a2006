import { expect, test } from "vitest";
import type { Effect } from "../../../src/scale/cluster/effect.ts";
import type { Entry } from "../../../src/scale/cluster/entry.ts";
import { LOG_START } from "../../../src/scale/cluster/entry.ts";
import { Member } from "../../../src/scale/cluster/member.ts";
import { chain, entryAfter } from "./entries.ts";

const TURN_MS = 100;

/** A node that cannot do anything else for a while when it starts to lead. */
interface Slow {
  readonly member: Member;
  busyUntilMs: number;
  read: number;
}

/** Runs three nodes for ten minutes. Returns their log. Opening a source takes `openMs`. */
function run(openMs: number): readonly Entry[] {
  const log: Entry[] = [];
  const nodes = ["a", "b", "c"].map(
    (id, index): Slow => ({
      member: new Member({
        id,
        random: () => index / 4,
        newEpoch: () => "e1",
        seal: (offset, header) => entryAfter({ offset: offset - 1, hash: header.prev }, header),
      }),
      busyUntilMs: 0,
      read: 0,
    }),
  );
  const perform = (node: Slow, effects: readonly Effect[], nowMs: number): void => {
    for (const effect of effects) {
      if (effect.kind === "lead") node.busyUntilMs = nowMs + openMs;
      if (effect.kind === "reread") node.read = Math.max(0, effect.from.offset - 1);
      if (effect.kind === "commit")
        for (const other of nodes) perform(other, other.member.committed(effect.position), nowMs);
      if (effect.kind !== "append") continue;
      const isNext = (log.at(-1) ?? LOG_START).hash === effect.entry.header.prev;
      if (isNext) log.push(effect.entry);
      perform(node, node.member.appended({ kind: isNext ? "appended" : "fenced" }, nowMs), nowMs);
    }
  };
  for (let nowMs = 0; nowMs < 600_000; nowMs += TURN_MS)
    for (const node of nodes) {
      if (nowMs < node.busyUntilMs) continue;
      for (const entry of log.slice(node.read)) perform(node, node.member.entry(entry, nowMs), nowMs);
      node.read = log.length;
      perform(node, node.member.idle(log.at(-1) ?? LOG_START, nowMs), nowMs);
      perform(node, node.member.tick(nowMs), nowMs);
      const isDue = nowMs % 1_000 === 0 && nowMs >= node.busyUntilMs;
      if (isDue && node.member.canAppend) perform(node, node.member.batch(Buffer.alloc(0), nowMs), nowMs);
    }
  return log;
}

test("nodes that need longer to open their source than others wait for a silent leader agree on one", () => {
  for (const openMs of [1_000, 4_000, 10_000, 20_000]) {
    const log = run(openMs);
    const first = log.find(({ header }) => header.kind === "batch");
    expect(first, `${openMs} ms`).toBeDefined();
    expect(first?.header.term, `${openMs} ms`).toBeLessThanOrEqual(5);
    expect(log.at(-1)?.header, `${openMs} ms`).toMatchObject({ kind: "batch", term: first?.header.term });
  }
});

/** Returns how long a member waits after this log before it tries to lead, in ms. */
function waitAfter(log: readonly Entry[]): number {
  const member = new Member({
    id: "self",
    random: () => 0,
    newEpoch: () => "e9",
    seal: (offset, header) => entryAfter({ offset: offset - 1, hash: header.prev }, header),
  });
  for (const entry of log) member.entry(entry, 0);
  const last = log.at(-1) ?? LOG_START;
  member.committed(last);
  for (let nowMs = 0; nowMs < 100_000; nowMs += TURN_MS) {
    member.idle(last, nowMs);
    if (member.tick(nowMs).length > 0) return nowMs;
  }
  throw new Error("the member does not try to lead");
}

test("each term without a batch doubles the wait for a silent leader, up to eight times; a batch restores it", () => {
  const log = [...chain(2)];
  const grow = (kind: Entry["header"]["kind"], term: number) =>
    void log.push(entryAfter(log.at(-1) ?? LOG_START, { kind, term }));
  const waits = [waitAfter(log)];
  for (let term = 2; term <= 7; term += 1) {
    grow("term", term);
    grow("alive", term);
    waits.push(waitAfter(log));
  }
  expect(waits).toEqual([3_000, 3_000, 6_000, 12_000, 24_000, 24_000, 24_000]);
  grow("batch", 7);
  expect(waitAfter(log)).toBe(3_000);
  grow("term", 8);
  grow("handover", 8);
  grow("term", 9);
  expect(waitAfter(log)).toBe(3_000);
});
