import { expect, test } from "vitest";
import { toEpoch, toRun, toSeq } from "../../../src/base/protocol/index.ts";
import { MemoryLog, type MemoryLogOptions } from "../../../src/gateway/log/index.ts";
import { batchOf, eventLogContract, numbered } from "../../contract/event-log-contract.ts";
import { lastingContract } from "../../contract/lasting-contract.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

eventLogContract("the memory log", (settings) => new MemoryLog(settings));
lastingContract("the memory log", (settings) => new MemoryLog(settings));

function logOf(options: Partial<MemoryLogOptions>) {
  const clock = new ManualClock();
  return { clock, log: new MemoryLog({ clock, ...options }) };
}

test("each log has a new epoch unless one is given", () => {
  const [a, b] = [logOf({}).log.epoch, logOf({}).log.epoch];
  expect(a).toMatch(/^[0-9a-f]{16}$/);
  expect(a).not.toBe(b);
});

test("an event is dropped only if it is both older than the maximum age and not among the latest", async () => {
  const { log, clock } = logOf({ maxAgeMs: 60_000, minCount: 3 });
  await log.append(batchOf(1, 5));
  clock.advance(60_000);
  await log.append(batchOf(6, 1));
  expect(log.oldest.seq).toBe(0);
  clock.advance(1);
  await log.append(batchOf(7, 1));
  expect(log.oldest.seq).toBe(4);
  clock.advance(60_001);
  await log.append(batchOf(8, 1));
  expect(log.oldest.seq).toBe(5);
  clock.advance(60_001);
  await log.append(batchOf(9, 10));
  expect(log.oldest.seq).toBe(8);
});

test("by default the log keeps ten minutes or ten thousand events, whichever is more", async () => {
  const { log, clock } = logOf({});
  await log.append(batchOf(1, 6_000));
  clock.advance(600_001);
  await log.append(batchOf(6_001, 6_000));
  expect(log.oldest.seq).toBe(2_000);
  await log.append(batchOf(12_001, 6_000));
  expect(log.oldest.seq).toBe(6_000);
});

test("the bytes of dropped events are no longer counted", async () => {
  const { log, clock } = logOf({ maxAgeMs: 0, minCount: 0, lastingAgeMs: 0 });
  await log.append(batchOf(1, 1));
  const one = log.bytes;
  clock.advance(1);
  await log.append(batchOf(2, 50));
  clock.advance(1);
  await log.append(batchOf(4, 1));
  expect([log.bytes, log.oldest.seq, log.head.seq]).toEqual([one, 51, 52]);
});

test("an error that a listener throws is reported", async () => {
  const reported: unknown[] = [];
  const { log } = logOf({ onError: (error) => reported.push(error) });
  const error = new Error("broken listener");
  log.onAppend(() => {
    throw error;
  });
  await log.append(batchOf(1, 1));
  expect(reported).toEqual([error]);
});

test("all listeners receive the batches in order, even if one of them appends", async () => {
  const { log } = logOf({});
  const heard: string[] = [];
  log.onAppend((records) => {
    heard.push(`a${records[0]?.seq}`);
    if (records[0]?.seq === 1) void log.append([numbered(2)]);
  });
  log.onAppend((records) => heard.push(`b${records[0]?.seq}`));
  await log.append([numbered(1)]);
  expect(heard).toEqual(["a1", "b1", "a2", "b2"]);
});

test("a listener that is added during a delivery starts at the head; a removed one is not called again", async () => {
  const { log } = logOf({});
  const heard: string[] = [];
  let stopB: () => void = () => undefined;
  log.onAppend((records) => {
    if (records[0]?.seq !== 1) return;
    stopB();
    log.onAppend((later) => heard.push(`c${later[0]?.seq}`));
  });
  stopB = log.onAppend((records) => heard.push(`b${records[0]?.seq}`));
  await log.append([numbered(1)]);
  await log.append([numbered(2)]);
  expect(heard).toEqual(["c2"]);
});

test("[L3] a batch that a listener appended before it restarted the log is not delivered after the restart", async () => {
  const { log } = logOf({ follows: true });
  const heard: string[] = [];
  log.onAppend((records) => {
    heard.push(`a${records[0]?.seq}`);
    if (records[0]?.seq !== 1) return;
    void log.append([numbered(2)]);
    void log.restart({ cursor: { epoch: toEpoch("another1"), seq: toSeq(7) }, positions: { status: 7 } });
  });
  log.onAppend((records) => heard.push(`b${records[0]?.seq}`));
  await log.append([numbered(1)]);
  await log.append([numbered(8)]);
  expect(heard).toEqual(["a1", "a8", "b8"]);
});

test("a log of exactly its highest size keeps all events, and one byte less drops the oldest", async () => {
  const events = batchOf(1, 3);
  const { log: measured } = logOf({ maxAgeMs: 0, minCount: 100 });
  await measured.append(events);
  for (const [less, oldest] of [
    [0, 0],
    [1, 1],
  ] as const) {
    const { log } = logOf({ maxAgeMs: 0, minCount: 100, maxBytes: measured.bytes - less });
    for (const event of events) await log.append([event]);
    expect(log.oldest.seq).toBe(oldest);
  }
});

test("if a listener closes the log, later listeners do not get the batch", async () => {
  const { log } = logOf({});
  const heard: number[] = [];
  log.onAppend(() => void log.close());
  log.onAppend((records) => heard.push(records.length));
  await log.append([numbered(1)]);
  expect(heard).toEqual([]);
  await expect(log.append([numbered(2)])).rejects.toMatchObject({ code: "draining" });
});

test("[W39] the log remembers only the runs of its events and the one before", async () => {
  const { log, clock } = logOf({ maxAgeMs: 0, minCount: 5, lastingAgeMs: 0, follows: true });
  for (let batch = 1; batch <= 200; batch += 1) {
    const { log: other } = logOf({});
    // A lasting event: runs of stored lasting events are remembered too.
    const [record] = await other.append([numbered(3)]);
    if (!record) throw new Error("nothing was appended");
    clock.advance(1);
    const seq = toSeq(batch);
    await log.appendReplicated([{ ...record, seq, batch: seq, run: toRun(`run${batch}`) }]);
  }
  expect(log.runs.length).toBeLessThanOrEqual(7);
  expect(log.runs.at(-1)).toEqual({ from: 200, run: "run200" });
  expect(log.strayed({ ...log.cursorAt(toSeq(199)), run: toRun("run198") })).toEqual({
    reason: "epoch-changed",
    events: null,
  });
});
