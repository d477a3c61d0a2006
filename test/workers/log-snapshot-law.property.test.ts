import { deserialize, serialize } from "node:v8";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createConfig } from "../../src/app/config/config.ts";
import { type Cursor, formatMarks, type Lists, toSeq } from "../../src/base/protocol/index.ts";
import { ResourceBodies } from "../../src/gateway/http/rest/resource-bodies.ts";
import { Head, Hub } from "../../src/gateway/hub/index.ts";
import type { LogRecord } from "../../src/gateway/log/index.ts";
import { createReplicaStore } from "../../src/gateway/persistence/replica-store.ts";
import { decodeLists, encodeLists } from "../../src/gateway/persistence/restored-state.ts";
import { createLogger } from "../../src/gateway/start/create-logger.ts";
import { createReplicaSink } from "../../src/scale/follow/log-replica.ts";
import { PrimaryFollower, PrimaryLink, type ToWorker } from "../../src/workers/index.ts";
import { LogPublisher } from "../../src/workers/primary/log-publisher.ts";
import { createHubUnderTest, FRESH, INFO, settled } from "../gateway/hub/hub-fixture.ts";
import { STEPS } from "../gateway/hub/test-market.ts";
import { lawRuns } from "../support/law-runs.ts";
import { ManualClock } from "../support/time/manual-clock.ts";

const LOG = { minCount: 150, maxAgeMs: 0, lastingAgeMs: 1_000_000 };
const CONFIG = createConfig({ logCount: LOG.minCount, logAge: "1s" });
const logger = createLogger("silent");

/** The parts of a worker process that handle messages of the primary. */
class WorkerUnderTest {
  readonly faults: unknown[] = [];
  readonly #take: (message: ToWorker) => void;
  readonly #records: LogRecord[] = [];
  readonly #checkpoints: { seq: number; bytes: Uint8Array }[] = [];
  head: Head | undefined;
  hub: Hub | undefined;
  log: ReturnType<ReturnType<typeof createReplicaStore>["createFollowerLog"]> | undefined;

  constructor() {
    let listener: (message: unknown, handle: unknown) => void = () => {};
    const line = {
      send: () => true,
      on: (_name: "message", onMessage: typeof listener) => {
        listener = onMessage;
      },
      once: () => {},
    };
    const link = new PrimaryLink(line, (message) => {
      if (message.type === "records") this.#records.push(...message.records);
      if (message.type === "checkpoint") this.#checkpoints.push(message);
      if (message.type === "snapshot-end") this.#begin(link, message.end);
    });
    this.#take = (message) => listener(deserialize(serialize(message)), undefined);
  }

  take(message: ToWorker): void {
    this.#take(message);
  }

  #begin(link: PrimaryLink, end: (ToWorker & { type: "snapshot-end" })["end"]): void {
    const clock = new ManualClock();
    const store = createReplicaStore(
      { records: this.#records, checkpoints: this.#checkpoints, end },
      { config: CONFIG, clock, logger },
    );
    const log = store.createFollowerLog();
    const { restored } = store;
    const initial = restored && { snapshot: restored.known.lists.snapshot, observedAtMs: 1 };
    const head = new Head({ log, ...(initial ? { initial } : {}) });
    const hub = new Hub({
      ...{ log, head, clock, info: () => INFO, freshness: () => FRESH, serverName: "flarewire/test" },
      ...(restored ? { known: restored.known } : {}),
      onError: (error) => this.faults.push(error),
    });
    const leader = new PrimaryFollower({
      ...{ link, clock, staleAfterMs: 15_000, report: { info: INFO, freshness: FRESH } },
      decode: (bytes) => decodeLists({ bytes }),
      onBegun: () => {},
    });
    const mirror = createReplicaSink({
      log,
      head,
      history: hub.history,
      persistence: store,
      onPublished: () => {},
    });
    void leader.run(mirror, new AbortController().signal);
    Object.assign(this, { head, hub, log });
  }
}

const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant("publish" as const),
      steps: fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 9 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("begin" as const) }) },
  // Sends the next part of the snapshot to each starting worker.
  { weight: 4, arbitrary: fc.record({ op: fc.constant("fill" as const) }) },
);

/** Returns the lists as sent, without objects that both sides share. */
function plainLists(lists: Lists): unknown {
  return structuredClone({ snapshot: lists.snapshot, marks: formatMarks(lists) });
}

const plain = (record: LogRecord) => ({ ...record, tail: record.tail.toString() });

test("[F3] [L2] [L3] [W28] a worker that starts at any moment has the primary's log, and its lists at every cursor, whatever was published during the start", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(operation, { minLength: 5, maxLength: 60 }),
      async (ready, operations) => {
        const primary = createHubUnderTest({ log: LOG, ready });
        const { head, hub, log } = primary;
        const feed = new LogPublisher({ log, head, history: hub.history, encode: encodeLists });
        const workers: { worker: WorkerUnderTest; sendNext: () => Promise<boolean> }[] = [];
        const begin = () => {
          const worker = new WorkerUnderTest();
          const pending: ToWorker[] = [];
          let hasSnapshot = false;
          const { snapshot } = feed.follow((message) => {
            if (hasSnapshot) worker.take(message);
            else pending.push(message);
          });
          const sendNext = async () => {
            const { value, done } = await snapshot.next();
            if (value) worker.take(value);
            if (!done) return true;
            hasSnapshot = true;
            for (const message of pending.splice(0)) worker.take(message);
            return false;
          };
          workers.push({ worker, sendNext });
        };
        begin();
        for (const step of operations) {
          if (step.op === "publish") await primary.publish(...step.steps);
          else if (step.op === "begin" && workers.length < 4) begin();
          else for (const { sendNext } of workers) await sendNext();
        }
        await primary.publish("list");
        begin();
        for (const { sendNext } of workers) while (await sendNext());
        await primary.publish("refresh");
        await settled();
        for (const { worker } of workers) await expectSame(worker, primary);
        expect(primary.errors).toEqual([]);
      },
    ),
    lawRuns(12),
  );
});

async function expectSame(
  worker: WorkerUnderTest,
  { head, hub, log }: ReturnType<typeof createHubUnderTest>,
): Promise<void> {
  expect(worker.faults).toEqual([]);
  expect(worker.head?.cursor).toEqual(head.cursor);
  expect(worker.log?.positions).toEqual(log.positions);
  // The bytes of REST are equal, and so is the entity tag.
  expect(worker.head && new ResourceBodies(worker.head).snapshot().version).toBe(
    new ResourceBodies(head).snapshot().version,
  );
  const own = worker.hub?.history.lists;
  expect(own && plainLists(own)).toEqual(plainLists(hub.history.lists));
  const first = Math.max(log.oldest.seq, worker.log?.oldest.seq ?? 0);
  for (let seq = first; seq <= log.head.seq; seq += 13) {
    const at: Cursor = { epoch: log.epoch, seq: toSeq(seq) };
    const [here, there] = [await worker.log?.read(at, 1_000), await log.read(at, 1_000)];
    if (here?.kind !== "records" || there.kind !== "records")
      throw new Error(`event ${seq} is not in both logs`);
    expect(here.records.map(plain)).toEqual(there.records.map(plain));
    const [lists, known] = [await worker.hub?.history.at(at), await hub.history.at(at)];
    if (known && lists) expect(plainLists(lists)).toEqual(plainLists(known));
    // A client that can resume with a filter at the primary can also resume at a worker that was
    // there from the first snapshot on.
    expect(lists === undefined && known !== undefined && seq >= first + 64).toBe(false);
  }
  const [lasting, known] = [
    await worker.log?.readLasting(worker.log.oldestLasting, 10_000),
    await log.readLasting(worker.log?.oldestLasting ?? log.oldestLasting, 10_000),
  ];
  expect(lasting).toMatchObject({ kind: "records" });
  if (lasting?.kind === "records" && known.kind === "records")
    expect(known.records.map(plain).slice(-lasting.records.length || undefined)).toEqual(
      lasting.records.map(plain),
    );
}
