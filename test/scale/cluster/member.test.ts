import { describe, expect, test } from "vitest";
import type { Effect } from "../../../src/scale/cluster/effect.ts";
import { type Entry, LOG_START } from "../../../src/scale/cluster/entry.ts";
import { Member } from "../../../src/scale/cluster/member.ts";
import { Silence } from "../../../src/scale/cluster/silence.ts";
import { chain, entryAfter } from "./entries.ts";

function createMember(more: Partial<ConstructorParameters<typeof Member>[0]> = {}): Member {
  return new Member({
    id: "self",
    random: () => 0.5,
    newEpoch: () => "e9",
    seal: (offset, header) => entryAfter({ offset: offset - 1, hash: header.prev }, header),
    ...more,
  });
}

/** Returns a member that delivered these entries of another leader at time 0. */
function followerOf(entries: readonly Entry[]): Member {
  const member = createMember();
  for (const entry of entries) member.entry(entry, 0);
  const last = entries.at(-1) ?? LOG_START;
  member.committed(last);
  expect(member.delivered.offset).toBe(last.offset);
  return member;
}

const kinds = (effects: readonly Effect[]) => effects.map(({ kind }) => kind);

/** Reports an idle log until the member tries to lead. Returns the entry that it appends. */
function campaign(member: Member, head: Entry, atMs: number): Entry {
  for (let nowMs = 0; nowMs <= atMs; nowMs += 400) member.idle(head, nowMs);
  const [effect] = member.tick(atMs);
  if (effect?.kind !== "append") throw new Error("the member does not try to lead");
  return effect.entry;
}

test("[I1] a candidate that reads a later term before its own append is acknowledged does not lead", () => {
  const log = chain(2);
  const member = followerOf(log);
  const [, last = entryAfter(LOG_START)] = log;
  const term = campaign(member, last, 4_000);
  expect(term.header).toMatchObject({ kind: "term", term: 2, committed: 2 });
  member.entry(term, 4_010);
  member.entry(entryAfter(term, { kind: "term", term: 3, by: "b" }), 4_020);
  expect(kinds(member.appended({ kind: "appended" }, 4_030))).not.toContain("lead");
  expect(member.role).toBe("follower");
});

test("a node that starts from a stored position delivers what follows, and tries to lead in a later term", () => {
  const [, , third = entryAfter(LOG_START)] = chain(3);
  const member = createMember({ start: { position: third, epoch: "e1", term: 7 } });
  const next = entryAfter(third, { term: 7, committed: 3 });
  const later = entryAfter(next, { term: 7, committed: next.offset });
  member.entry(next, 0);
  expect(member.entry(later, 0)).toEqual([{ kind: "deliver", entries: [next] }]);
  expect(campaign(member, later, 4_000).header).toMatchObject({ kind: "term", term: 8, epoch: "e1" });
});

test("a node that starts from a stored position waits for signs of a leader before it tries to lead", () => {
  const [, , third = entryAfter(LOG_START)] = chain(3);
  const member = createMember({ start: { position: third, epoch: "e1", term: 7 } });
  for (let nowMs = 0; nowMs <= 2_800; nowMs += 400) {
    member.idle(third, nowMs);
    expect(member.tick(nowMs)).toEqual([]);
  }
  expect(campaign(member, third, 4_000).header).toMatchObject({ kind: "term", term: 8 });
});

test("renew makes a leader begin and lead a new epoch, and has no effect on a candidate", () => {
  const log = chain(2);
  const member = followerOf(log);
  const [, last = entryAfter(LOG_START)] = log;
  campaign(member, last, 4_000);
  expect(member.renew()).toEqual([]);
  member.appended({ kind: "appended" }, 4_010);
  const [effect] = member.renew();
  expect(effect).toMatchObject({ kind: "append", entry: { header: { kind: "base", epoch: "e9" } } });
  expect(member.appended({ kind: "appended" }, 4_020)).toContainEqual({
    kind: "lead",
    term: 2,
    epoch: "e9",
    isNewEpoch: true,
  });
});

test("a leader that resigns hands over, and tries to lead again only after the given rest", () => {
  const log = chain(2);
  const member = followerOf(log);
  const [, last = entryAfter(LOG_START)] = log;
  campaign(member, last, 4_000);
  member.appended({ kind: "appended" }, 4_010);
  const [handover] = member.leave(4_020, 10_000);
  if (handover?.kind !== "append") throw new Error("the member does not hand over");
  expect(handover.entry.header.kind).toBe("handover");
  expect(kinds(member.appended({ kind: "appended" }, 4_030))).toContain("follow");
  for (let nowMs = 4_100; nowMs < 14_020; nowMs += 400) {
    member.idle(handover.entry, nowMs);
    expect(member.tick(nowMs)).toEqual([]);
  }
  const [next] = member.tick(14_030);
  expect(next).toMatchObject({ kind: "append", entry: { header: { kind: "term", term: 3 } } });
});

test("a leader's sign of life contains its report", () => {
  const log = chain(2);
  const report = Buffer.from("well");
  const member = createMember({
    report: () => report,
    seal: (offset, header, body) => ({
      ...entryAfter({ offset: offset - 1, hash: header.prev }, header),
      body,
    }),
  });
  for (const entry of log) member.entry(entry, 0);
  const [, last = entryAfter(LOG_START)] = log;
  member.committed(last);
  campaign(member, last, 4_000);
  member.appended({ kind: "appended" }, 4_010);
  expect(member.tick(5_010)).toMatchObject([
    { kind: "append", entry: { header: { kind: "alive" }, body: report } },
  ]);
});

test("a pending entry that the log no longer has is dropped", () => {
  const log = chain(2);
  const member = followerOf(log);
  const [, last = entryAfter(LOG_START)] = log;
  member.entry(entryAfter(last), 10);
  expect(kinds(member.idle(entryAfter(last), 20))).toEqual(["reread"]);
  expect(campaign(member, last, 4_400).offset).toBe(3);
});

describe("a log that contradicts the delivered entries", () => {
  const own = chain(3);
  const other = chain(4, { epoch: "e1", by: "b" });

  test("[I3] is not a fork while none of its entries is committed: a former primary may have sent it", () => {
    const member = followerOf(own);
    expect(kinds(member.idle(other[2] ?? LOG_START, 10))).toEqual(["reread"]);
    for (const entry of other) member.entry(entry, 20);
    member.idle(other[3] ?? LOG_START, 30);
    expect(member.isForked).toBe(false);
    for (const entry of own) member.entry(entry, 40);
    member.idle(own[2] ?? LOG_START, 50);
    expect(member.delivered.offset).toBe(3);
  });

  test("[I3] is a fork once it is committed, and the leader is asked for a new epoch", () => {
    const member = followerOf(own);
    member.idle(other[2] ?? LOG_START, 10);
    for (const entry of other) member.entry(entry, 20);
    const last = entryAfter(other[3] ?? LOG_START, { committed: 4 });
    member.entry(last, 30);
    member.idle(last, 40);
    expect(member.isForked).toBe(true);
    expect(member.tick(50)).toEqual([{ kind: "fork", epoch: "e1" }]);
  });

  test("[I3] is followed if it has a new epoch, once that is committed", () => {
    const member = followerOf(own);
    const next = chain(2, { epoch: "e2", by: "b" });
    member.idle(next[0] ?? LOG_START, 10);
    for (const entry of next) member.entry(entry, 20);
    expect(kinds(member.idle(next[1] ?? LOG_START, 30))).toEqual([]);
    expect(member.delivered.offset).toBe(3);
    member.committed(next[1] ?? LOG_START);
    expect(kinds(member.idle(next[1] ?? LOG_START, 40))).toEqual([]);
    expect(kinds(member.committed(next[1] ?? LOG_START))).toEqual(["deliver"]);
    expect(member.delivered.hash).toBe(next[1]?.hash);
  });

  test("[I3] is a fork if it has an epoch that this node has left", () => {
    const member = followerOf(own);
    const next = chain(2, { epoch: "e2", by: "b" });
    member.idle(next[0] ?? LOG_START, 10);
    for (const entry of next) member.entry(entry, 20);
    member.committed(next[1] ?? LOG_START);
    member.idle(next[1] ?? LOG_START, 30);
    member.committed(next[1] ?? LOG_START);
    expect(kinds(member.idle(own[1] ?? LOG_START, 40))).toEqual(["reread"]);
    const grown = [...own, entryAfter(own[2] ?? LOG_START, { committed: 3 })];
    for (const entry of grown) member.entry(entry, 50);
    member.idle(grown[3] ?? LOG_START, 60);
    expect(member.isForked).toBe(true);
  });
});

test("silence counts only while the engine answers", () => {
  const silence = new Silence(() => 0);
  silence.noteAnswer(0);
  silence.noteLeader(0);
  for (let nowMs = 0; nowMs <= 2_800; nowMs += 400) silence.noteAnswer(nowMs);
  expect(silence.isLongEnough(2_999, false)).toBe(false);
  // The engine does not answer for a second.
  silence.noteAnswer(3_900);
  expect(silence.isLongEnough(3_900, false)).toBe(false);
  for (let nowMs = 3_900; nowMs <= 6_900; nowMs += 400) silence.noteAnswer(nowMs);
  expect(silence.isLongEnough(6_900, false)).toBe(true);
  expect(silence.isLongEnough(6_900, true)).toBe(false);
  expect(silence.isLongEnough(7_900, false)).toBe(false);
});

test("[L3] a node whose next entries were trimmed reloads the stored state, and begins a new epoch only after ten seconds of silence", () => {
  const log = chain(5).slice(3);
  const last = log.at(-1) ?? entryAfter(LOG_START);
  const member = createMember();
  const read = (nowMs: number) => log.flatMap((entry) => member.entry(entry, nowMs));
  expect(read(0)).toEqual([]);
  for (let nowMs = 0; nowMs <= 9_900; nowMs += 300) {
    expect(kinds(member.idle(last, nowMs))).toEqual(["reload"]);
    read(nowMs);
    expect(member.tick(nowMs)).toEqual([]);
  }
  expect(campaign(member, last, 10_200).header).toMatchObject({ kind: "base", epoch: "e9", prev: last.hash });
});

describe("[L3] a node whose next entries were trimmed", () => {
  const log = chain(5);
  const [, , third = entryAfter(LOG_START), , last = third] = log;

  function behind(): Member {
    const member = createMember();
    for (const entry of log.slice(3)) member.entry(entry, 0);
    expect(kinds(member.idle(last, 100))).toEqual(["reload"]);
    return member;
  }

  test("reloads no more once it has the stored state, although it has not read the log's end yet", () => {
    const member = behind();
    expect(kinds(member.reloaded({ position: third, epoch: "e1", term: 1 }))).toEqual(["reread"]);
    expect(member.idle(last, 200)).toEqual([]);
  });

  test("reloads no more once the log has no later entries, and leads after the usual silence", () => {
    const member = behind();
    for (let nowMs = 200; nowMs <= 3_400; nowMs += 400) expect(member.idle(LOG_START, nowMs)).toEqual([]);
    expect(member.tick(3_600)).toMatchObject([{ kind: "append", entry: { header: { kind: "base" } } }]);
  });
});

test("each loss of the log's end gives the leader time to repair it before a follower does", () => {
  const log = chain(3);
  const [, second = LOG_START, third = LOG_START] = log;
  const member = followerOf(log);
  expect(member.idle(second, 100)).toEqual([]);
  expect(member.idle(third, 500)).toEqual([]);
  expect(member.idle(second, 2_000)).toEqual([]);
  expect(member.idle(second, 2_700)).toEqual([]);
  expect(member.idle(second, 2_750)).toEqual([{ kind: "append", entry: third, isRepair: true }]);
});
