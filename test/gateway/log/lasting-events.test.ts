import { expect, test } from "vitest";
import { toRun, toSeq } from "../../../src/base/protocol/index.ts";
import { type RetainedEvent, RetainedEvents } from "../../../src/gateway/log/retained-events.ts";
import { Runs } from "../../../src/gateway/log/runs.ts";

const BYTES = 512 + 10;

/** Returns a lasting event that was appended at the millisecond `seq`. */
const event = (seq: number): RetainedEvent => ({
  record: {
    seq: toSeq(seq),
    name: "flare-started",
    channel: "flares.pro",
    emittedAtMs: 0,
    batch: toSeq(seq),
    encoded: Buffer.alloc(10),
  },
  appendedAtMs: seq,
  latestMs: seq,
});

test("[W36] lasting events after a seq are read in order, even after more than a thousand were dropped", () => {
  const retained = new RetainedEvents(5);
  for (let seq = 10; seq <= 4_000; seq += 10) retained.push(event(seq));
  for (let seq = 4_010; seq <= 30_000; seq += 10) {
    retained.push(event(seq));
    expect(retained.drop()).toBe(true);
  }
  expect([retained.droppedTo, retained.bytes]).toEqual([26_000, 400 * BYTES]);
  const seqs = (after: number, limit: number) => retained.after(after, limit).map(({ seq }) => seq);
  expect(seqs(0, 2)).toEqual([26_010, 26_020]);
  expect(seqs(26_010, 1)).toEqual([26_020]);
  expect(seqs(26_009, 1)).toEqual([26_010]);
  expect(seqs(29_990, 9)).toEqual([30_000]);
  expect(seqs(30_000, 9)).toEqual([]);
});

test("[W36] an event appended at the given time is kept, earlier ones are dropped, and an empty list drops nothing", () => {
  const retained = new RetainedEvents(0);
  for (const seq of [1, 2, 3]) retained.push(event(seq));
  retained.dropBefore(2);
  expect(retained.after(0, 9).map(({ seq }) => seq)).toEqual([2, 3]);
  retained.dropBefore(100);
  expect([retained.drop(), retained.droppedTo, retained.bytes]).toEqual([false, 3, 0]);
  retained.push(event(7));
  retained.clear();
  expect([retained.after(0, 9), retained.bytes, retained.drop()]).toEqual([[], 0, false]);
});

test("[W39] each run has the events from its first to the one before the next run; dropped runs are unknown", () => {
  const runs = new Runs();
  const [one, two] = [toRun("one"), toRun("two")];
  runs.append(5, one);
  runs.append(6, one);
  runs.append(9, two);
  expect(runs.starts.map(({ from }) => from)).toEqual([0, 5, 9]);
  expect([4, 5, 8, 9].map((seq) => runs.at(seq)?.run)).toEqual([undefined, one, one, two]);
  expect([undefined, one, two].map((run) => runs.lastOf(run, 20))).toEqual([4, 8, 20]);
  expect(runs.mayHave({ seq: toSeq(8), run: two })).toBe(false);
  expect(runs.mayHave({ seq: toSeq(9), run: two })).toBe(true);
  runs.dropBefore(8);
  expect(runs.starts.map(({ from }) => from)).toEqual([5, 9]);
  runs.dropBefore(9);
  expect(runs.starts.map(({ from }) => from)).toEqual([9]);
  expect([runs.lastOf(one, 20), runs.mayHave({ seq: toSeq(8), run: one })]).toEqual([undefined, true]);
});
