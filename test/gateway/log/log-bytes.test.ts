import fc from "fast-check";
import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import { type EventBody, listsOf, toEpoch, toSeq } from "../../../src/base/protocol/index.ts";
import { type LogRecord, MemoryLog } from "../../../src/gateway/log/index.ts";
import { encodeLists } from "../../../src/gateway/persistence/restored-state.ts";
import { createReplicaStore, type LogSnapshot } from "../../../src/scale/cluster/node/replica-store.ts";
import { createGc } from "../../support/create-gc.ts";
import { IS_SOAK, lawRuns } from "../../support/law-runs.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { SAMPLE_FLARE } from "../../support/world/samples.ts";

/*
 * Compares the bytes that the log counts with the memory that the process uses for them.
 */

const OBSERVED_AT = "2017-11-12T08:36:00.000Z";
/** Bounds of the counted bytes as a multiple of the memory in use. */
const [MIN_RATIO, MAX_RATIO] = [1, 1.5];
/** Enough events that other allocations of the process do not matter. */
const EVENTS = IS_SOAK ? 2_000 : 1_000;

function status(text: string): EventBody {
  return {
    name: "source-status",
    channel: "status",
    observed_at: OBSERVED_AT,
    data: { state: "live", reason: text },
  };
}

/** Returns an event that is not lasting, with a unique text of about this many bytes. */
function updated(seq: number, bytes: number): EventBody {
  const set = { latest_buy_count: seq, url: `https://forum.example/${seq}/${"x".repeat(bytes)}` };
  return {
    name: "flare-updated",
    channel: "flares.pro",
    observed_at: OBSERVED_AT,
    data: { op: "set", id: SAMPLE_FLARE.id, set },
  };
}

/** Returns the bytes that `fill` adds to the memory in use, measured after garbage collection. */
async function memoryAddedBy(fill: () => Promise<unknown>): Promise<number> {
  const gc = createGc();
  const held = () => {
    gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = held();
  await fill();
  return held() - before;
}

/** Allocates short-lived Buffers, as a busy gateway does. */
function makeNoise(): void {
  for (let at = 0; at < 20; at += 1) Buffer.from("noise".repeat(10 * at));
}

function logOf(maxBytes: number, lastingAgeMs = 3_600_000) {
  const clock = new ManualClock();
  const log = new MemoryLog({ clock, maxAgeMs: 1_000, minCount: 0, lastingAgeMs, maxBytes });
  return { clock, log };
}

for (const bytes of IS_SOAK ? [0, 300, 3_000, 30_000] : [0, 3_000]) {
  test(`the counted bytes of events of ${bytes} bytes and more are 1 to 1.5 times the memory they use`, async () => {
    const { log } = logOf(Number.POSITIVE_INFINITY);
    const held = await memoryAddedBy(async () => {
      for (let seq = 1; seq <= EVENTS; seq += 2) {
        await log.append([updated(seq, bytes), updated(seq + 1, bytes * 1.5)]);
        makeNoise();
      }
    });
    expect(log.head.seq - log.oldest.seq).toBe(EVENTS);
    expect(log.bytes / held).toBeGreaterThan(MIN_RATIO);
    expect(log.bytes / held).toBeLessThan(MAX_RATIO);
    await log.close();
  });
}

test("a lasting event does not keep the memory of expired events around it", async () => {
  const { log, clock } = logOf(Number.POSITIVE_INFINITY);
  const count = IS_SOAK ? 40_000 : 16_000;
  const held = await memoryAddedBy(async () => {
    for (let seq = 1; seq <= count; seq += 20) {
      const some = Array.from({ length: 19 }, (_, at) => updated(seq + at, 200));
      await log.append([status(`${seq} ${"x".repeat(200)}`), ...some]);
      clock.advance(1_001);
    }
  });
  expect(log.oldest.seq).toBeGreaterThan(count - 100);
  expect(log.bytes / held).toBeGreaterThan(MIN_RATIO);
  expect(log.bytes / held).toBeLessThan(MAX_RATIO);
  const last = await log.readLasting({ epoch: log.epoch, seq: log.oldestLasting.seq }, 10_000);
  expect(last.kind === "records" && last.records.length).toBeGreaterThan(count / 20 - 100);
  await log.close();
});

test("the counted bytes never exceed the limit, unless the latest batch alone does", async () => {
  const batch = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 9_000 })), {
    minLength: 1,
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2_000, max: 60_000 }),
      fc.array(batch, { maxLength: 40 }),
      async (maxBytes, batches) => {
        const { log, clock } = logOf(maxBytes);
        for (const wanted of batches) {
          const before = log.head.seq;
          await log.append(
            wanted.map(([lasts, bytes], at) => (lasts ? status("x".repeat(bytes)) : updated(at, bytes))),
          );
          expect(log.bytes <= maxBytes || log.oldest.seq === before).toBe(true);
          clock.advance(400);
        }
        const all = await log.read(log.oldest, 1_000);
        const texts =
          all.kind === "records" ? all.records.reduce((sum, { encoded }) => sum + encoded.length, 0) : 0;
        expect(log.bytes).toBeGreaterThanOrEqual(texts);
      },
    ),
    lawRuns(8, 20),
  );
});

const cursorOf = (epoch: string, seq: number) => ({ epoch: toEpoch(epoch), seq: toSeq(seq) });

/** Opens a node's store that received one event, with a weak reference to that event's text. */
function openReplica() {
  const clock = new ManualClock();
  const encoded = Buffer.alloc(1_000);
  const record: LogRecord = {
    ...{ seq: toSeq(1), batch: toSeq(1), name: "source-status", channel: "status" },
    ...{ emittedAtMs: clock.now(), encoded },
  };
  const end: LogSnapshot["end"] = {
    ...{ cursor: cursorOf("aaaaaaaa", 1), positions: { status: 1 }, observedAtMs: 1 },
    lists: encodeLists(listsOf(EMPTY_SNAPSHOT)),
    ...{ runs: [{ from: toSeq(0), run: undefined }], oldest: 0, oldestLasting: 0 },
  };
  const parts = { config: createConfig({}), clock, logger: createLogger("silent") };
  const store = createReplicaStore({ records: [record], checkpoints: [], end }, parts);
  return { store, log: store.createFollowerLog(), held: new WeakRef(encoded) };
}

test("a node's store releases the leader's events when the log restarts", async () => {
  const { store, log, held } = openReplica();
  await log.restart({ cursor: cursorOf("bbbbbbbb", 5), positions: { status: 5 } });
  const gc = createGc();
  const isHeld = () => {
    gc();
    return held.deref() !== undefined;
  };
  await expect.poll(isHeld).toBe(false);
  await store.close();
});
