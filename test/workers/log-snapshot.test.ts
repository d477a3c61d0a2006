import { expect, test } from "vitest";
import { toEpoch, toSeq } from "../../src/base/protocol/index.ts";
import type { LogRecord } from "../../src/gateway/log/index.ts";
import { snapshotMessages } from "../../src/workers/primary/log-snapshot.ts";
import { createHubUnderTest } from "../gateway/hub/hub-fixture.ts";

const cursorAt = (seq: number) => ({ epoch: toEpoch("fill1"), seq: toSeq(seq) });
const record = (seq: number): LogRecord => ({
  seq: toSeq(seq),
  channel: "status",
  name: "source-status",
  emittedAtMs: 1,
  batch: toSeq(seq),
  tail: Buffer.from("}"),
});

test("[F3] [L3] a worker's snapshot has each event up to the head once, including retained ones, and no later event", async () => {
  const { hub } = createHubUnderTest();
  const messages = snapshotMessages({
    log: {
      ...{ oldest: cursorAt(5), oldestLasting: cursorAt(2), runs: [] },
      // A log on disk responds late and then has more events.
      readLasting: async () => ({
        kind: "records",
        records: [3, 5, 7, 9].map(record),
        through: toSeq(9),
      }),
      read: async () => ({ kind: "records", records: [6, 7, 8, 9].map(record) }),
    },
    head: { cursor: cursorAt(8), observedAtMs: 1, ready: true },
    history: { lists: hub.history.lists, checkpoints: [] },
    positions: { status: 8 },
    encode: () => new Uint8Array(),
  });
  const seqs: number[] = [];
  for await (const message of messages)
    if (message.type === "records") seqs.push(...message.records.map(({ seq }) => seq));
    else if (message.type === "snapshot-end")
      expect(message.end).toMatchObject({ cursor: cursorAt(8), oldest: 5 });
  expect(seqs).toEqual([3, 5, 6, 7, 8]);
});

test("a worker starts without events instead of a part of the log if the primary has dropped events meanwhile", async () => {
  const { hub } = createHubUnderTest();
  const messages = snapshotMessages({
    log: {
      ...{ oldest: cursorAt(5), oldestLasting: cursorAt(5), runs: [] },
      readLasting: async () => ({ kind: "records", records: [], through: toSeq(5) }),
      read: async () => ({ kind: "lost", lost: { reason: "expired", events: 3 } }),
    },
    head: { cursor: cursorAt(8), observedAtMs: 1, ready: true },
    history: { lists: hub.history.lists, checkpoints: [] },
    positions: { status: 8 },
    encode: () => new Uint8Array(),
  });
  const types: string[] = [];
  for await (const message of messages) {
    types.push(message.type);
    if (message.type === "snapshot-end") expect(message.end).toMatchObject({ oldest: 8, oldestLasting: 8 });
  }
  expect(types).toEqual(["snapshot-end"]);
});
