import { expect, test } from "vitest";
import { type LogRecord, MemoryLog } from "../../../../src/gateway/log/index.ts";
import { decodeLists, type EngineProgress } from "../../../../src/gateway/persistence/restored-state.ts";
import type { Engine, LogNews } from "../../../../src/scale/cluster/engine.ts";
import { type Entry, LOG_START } from "../../../../src/scale/cluster/entry.ts";
import { seal } from "../../../../src/scale/cluster/entry-text.ts";
import { decodeContent, encodeContent } from "../../../../src/scale/cluster/node/entry-body.ts";
import {
  readStoredLog,
  StateEncoder,
  storedSlices,
  storedText,
} from "../../../../src/scale/cluster/node/stored-node.ts";
import { createHubUnderTest, EPOCH, FRESH, INFO } from "../../../gateway/hub/hub-fixture.ts";
import type { Step } from "../../../gateway/hub/test-market.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";

const { signal } = new AbortController();
const report = { info: INFO, freshness: FRESH };

/** Creates a node with a short log. Returns it with the matching entries of the cluster's log. */
async function createNode(polls: readonly Step[], progress?: EngineProgress) {
  const node = createHubUnderTest({ log: { minCount: 3, maxAgeMs: 1 } });
  const entries: Entry[] = [];
  node.head.onChange((records) => {
    const { offset, hash } = entries.at(-1) ?? LOG_START;
    const header = {
      kind: "batch",
      term: 1,
      by: "a",
      committed: 0,
      epoch: EPOCH,
      nonce: "",
      prev: hash,
    } as const;
    const body = encodeContent({ report, update: { type: "batch", records, observedAtMs: 1_000 } });
    entries.push(seal(offset + 1, header, body));
  });
  for (const step of polls) {
    await node.publish(step);
    node.clock.advance(10);
  }
  const { log, head, hub } = node;
  const values = await new StateEncoder().encode(
    { log, head, history: hub.history, task: { content: "{}" } },
    "f",
    progress,
  );
  const { offset, hash } = entries.at(-1) ?? LOG_START;
  return { ...node, entries, checkpoint: { position: { offset, hash }, epoch: EPOCH, term: 1, values } };
}

/** An engine with these entries. `interruptions`: numbers of entries before each disconnect. */
function engineWith(
  entries: readonly Entry[],
  interruptions: readonly number[] = [],
): Pick<Engine, "load" | "read"> {
  const lengths = [...interruptions];
  return {
    load: async () => undefined,
    async *read(): AsyncGenerator<LogNews> {
      const length = lengths.shift();
      for (const entry of entries.slice(0, length)) yield { kind: "entry", entry };
      if (length !== undefined) return;
      yield { kind: "idle", head: entries.at(-1) ?? LOG_START, isWritable: true };
    },
  };
}

const POLLS: readonly Step[] = [
  "flare",
  "list",
  "status",
  "list",
  "refresh",
  "flare",
  "list",
  "unlist",
  "list",
];

test("[L2] [L3] a starting node gets the lists, all events of the cluster's log, and the lasting ones before them", async () => {
  const { hub, log, head, entries, checkpoint } = await createNode(POLLS);
  const snapshot = await readStoredLog(checkpoint, engineWith(entries.slice(4)), signal);
  expect(snapshot?.end).toMatchObject({ cursor: head.cursor, oldest: 4, oldestLasting: 0 });
  expect(snapshot?.end.lists && decodeLists({ bytes: snapshot.end.lists })).toEqual(hub.history.lists);
  const seqs = snapshot?.records.map(({ seq }) => Number(seq));
  expect(seqs).toEqual([1, 3, 5, 6, 7, 8, 9]);
  if (!snapshot) throw new Error("nothing was read");
  const started = new MemoryLog({
    epoch: log.epoch,
    clock: new ManualClock(),
    stored: { records: snapshot.records, ...snapshot.end },
  });
  const lasting = async (one: typeof log) => {
    const result = await one.readLasting(one.oldestLasting, 2);
    return result.kind === "records" ? result.records.map(({ encoded }) => String(encoded)) : result;
  };
  expect(await lasting(started)).toEqual(await lasting(log));
});

test("[L3] the slices of the engine's state are read again one by one, and not with the rest", async () => {
  const slices = ["", "a", "b".repeat(100_000)];
  const { checkpoint } = await createNode(POLLS, { afterMs: 1, checkpoint: "rest", slices: slices.values() });
  const found = storedSlices(checkpoint);
  expect([[...found], [...found]]).toEqual([slices, slices]);
  const text = await storedText(checkpoint, "state");
  expect(JSON.parse(text ?? "").engine).toEqual({ afterMs: 1, checkpoint: "rest" });
  expect([...storedSlices((await createNode(POLLS)).checkpoint)]).toEqual([]);
});

test("[L3] a node whose connections end while it reads the cluster's log still gets every event", async () => {
  const { entries, checkpoint } = await createNode(POLLS);
  const snapshot = await readStoredLog(checkpoint, engineWith(entries, [0, 4]), signal);
  expect(snapshot?.end.oldest).toBe(0);
  expect(snapshot?.records.map(({ seq }) => Number(seq))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("[L3] a node does not combine a stored state with a log whose entries do not lead to that state", async () => {
  const { entries, checkpoint } = await createNode(POLLS);
  const other = { ...checkpoint, position: { ...checkpoint.position, hash: "other" } };
  const missing = entries.filter(({ offset }) => offset !== entries.length);
  for (const [stored, log] of [
    [other, entries],
    [checkpoint, missing],
    [checkpoint, []],
  ] as const) {
    const snapshot = await readStoredLog(stored, engineWith(log), signal);
    expect(snapshot?.records.map(({ seq }) => Number(seq))).toEqual([1, 3, 6]);
    expect(snapshot?.end).toMatchObject({ oldest: 9, oldestLasting: 0 });
  }
});

test("decoding an entry's body returns each event as it was encoded; an empty body has none", async () => {
  const { entries, log } = await createNode(["flare", "list"]);
  const result = await log.read(log.oldest, 10);
  const expected = result.kind === "records" ? result.records : [];
  const read = entries.flatMap((entry): readonly LogRecord[] => {
    const update = decodeContent(entry)?.update;
    return update?.type === "batch" ? update.records : [];
  });
  expect(read.map(({ encoded }) => String(encoded))).toEqual(expected.map(({ encoded }) => String(encoded)));
  expect(read).toMatchObject(
    expected.map(({ seq, batch, name, channel }) => ({ seq, batch, name, channel })),
  );
  expect(decodeContent({ header: { epoch: EPOCH, term: 1 }, body: Buffer.alloc(0) })).toBeUndefined();
});
