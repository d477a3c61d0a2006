import fc from "fast-check";
import { expect, test } from "vitest";
import { createConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/gateway/create-logger.ts";
import { createReplicaStore } from "../../src/gateway/persistence/replica-store.ts";
import { type LogRecord, MemoryLog } from "../../src/log/index.ts";
import { type EventBody, toEpoch, toSeq } from "../../src/protocol/index.ts";
import type { SnapshotEnd } from "../../src/workers/index.ts";
import { createGc } from "../support/create-gc.ts";
import { IS_SOAK, lawRuns } from "../support/law-runs.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { SAMPLE_FLARE } from "../support/world/samples.ts";

/*
 * What the log counts as its bytes, against what the process holds for them.
 */

const OBSERVED_AT = "2017-11-12T08:36:00.000Z";
/** Least and most of what is held that the count may be. */
const [LEAST, MOST] = [1, 1.5];
/** Enough that whatever else the process allocates meanwhile does not matter. */
const EVENTS = IS_SOAK ? 2_000 : 1_000;

function status(text: string): EventBody {
  return {
    name: "source-status",
    channel: "status",
    observed_at: OBSERVED_AT,
    data: { state: "live", reason: text },
  };
}

/** An event that does not last, with a text of its own of about this many bytes. */
function updated(seq: number, bytes: number): EventBody {
  const set = { latest_buy_count: seq, url: `https://forum.example/${seq}/${"x".repeat(bytes)}` };
  return {
    name: "flare-updated",
    channel: "flares.pro",
    observed_at: OBSERVED_AT,
    data: { op: "set", id: SAMPLE_FLARE.id, set },
  };
}

/** Bytes that the process has more when `fill` is done than before, with all garbage collected. */
async function heldBy(fill: () => Promise<unknown>): Promise<number> {
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

/** Short Buffers come and go beside the log, as in a gateway at work. */
function makeNoise(): void {
  for (let at = 0; at < 20; at += 1) Buffer.from("noise".repeat(10 * at));
}

function logOf(maxBytes: number, lastingAgeMs = 3_600_000) {
  const clock = new ManualClock();
  const log = new MemoryLog({ clock, maxAgeMs: 1_000, minCount: 0, lastingAgeMs, maxBytes });
  return { clock, log };
}

for (const bytes of IS_SOAK ? [0, 300, 3_000, 30_000] : [0, 3_000]) {
  test(`the bytes of events of ${bytes} bytes and up are what they hold, by up to half as much again`, async () => {
    const { log } = logOf(Number.POSITIVE_INFINITY);
    const held = await heldBy(async () => {
      for (let seq = 1; seq <= EVENTS; seq += 2) {
        await log.append([updated(seq, bytes), updated(seq + 1, bytes * 1.5)]);
        makeNoise();
      }
    });
    expect(log.head.seq - log.oldest.seq).toBe(EVENTS);
    expect(log.bytes / held).toBeGreaterThan(LEAST);
    expect(log.bytes / held).toBeLessThan(MOST);
    await log.close();
  });
}

test("an event that lasts holds nothing of those around it when they are gone", async () => {
  const { log, clock } = logOf(Number.POSITIVE_INFINITY);
  const count = IS_SOAK ? 40_000 : 16_000;
  const held = await heldBy(async () => {
    for (let seq = 1; seq <= count; seq += 20) {
      const some = Array.from({ length: 19 }, (_, at) => updated(seq + at, 200));
      await log.append([status(`${seq} ${"x".repeat(200)}`), ...some]);
      clock.advance(1_001);
    }
  });
  expect(log.oldest.seq).toBeGreaterThan(count - 100);
  expect(log.bytes / held).toBeGreaterThan(LEAST);
  expect(log.bytes / held).toBeLessThan(MOST);
  const last = await log.readLasting({ epoch: log.epoch, seq: log.oldestLasting.seq }, 10_000);
  expect(last.kind === "records" && last.records.length).toBeGreaterThan(count / 20 - 100);
  await log.close();
});

test("whatever is appended, no more than the bound is counted, but for a latest batch that alone is more", async () => {
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
          all.kind === "records" ? all.records.reduce((sum, { tail }) => sum + tail.length, 0) : 0;
        expect(log.bytes).toBeGreaterThanOrEqual(texts);
      },
    ),
    lawRuns(8, 20),
  );
});

const cursorOf = (epoch: string, seq: number) => ({ epoch: toEpoch(epoch), seq: toSeq(seq) });

/** A worker's store that received one event, and that event's text. */
function openReplica() {
  const clock = new ManualClock();
  const tail = Buffer.alloc(1_000);
  const record: LogRecord = {
    ...{ seq: toSeq(1), batch: toSeq(1), name: "source-status", channel: "status" },
    ...{ emittedAtMs: clock.now(), tail },
  };
  const end: SnapshotEnd = {
    ...{ cursor: cursorOf("aaaaaaaa", 1), positions: { status: 1 }, observedAtMs: 1, lists: undefined },
    ...{ runs: [{ from: toSeq(0), run: undefined }], oldest: 0, oldestLasting: 0 },
  };
  const parts = { config: createConfig({}), clock, logger: createLogger("silent") };
  const store = createReplicaStore({ records: [record], checkpoints: [], end }, parts);
  return { store, log: store.createFollowerLog(), held: new WeakRef(tail) };
}

test("a worker's store releases the primary's events when the log has dropped them", async () => {
  const { store, log, held } = openReplica();
  await log.restart({ cursor: cursorOf("bbbbbbbb", 5), positions: { status: 5 } });
  const gc = createGc();
  const isHeld = () => {
    gc();
    return held.deref() !== undefined;
  };
  await expect.poll(isHeld, { timeout: 5_000 }).toBe(false);
  await store.close();
});
