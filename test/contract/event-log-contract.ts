import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/base/lib/time/clock.ts";
import { type Cursor, type Epoch, type EventBody, toEpoch, toSeq } from "../../src/base/protocol/index.ts";
import type { EventLog, LogRecord } from "../../src/gateway/log/index.ts";
import { lawRuns } from "../support/law-runs.ts";
import { ManualClock } from "../support/time/manual-clock.ts";

/** Settings of every adapter of the port. */
export interface LogSettings {
  readonly clock: Clock;
  readonly epoch: Epoch;
  readonly maxAgeMs: number;
  readonly minCount: number;
  readonly maxBytes: number;
  readonly lastingAgeMs: number;
}

/** Creates an empty log. */
export type LogFactory = (settings: LogSettings) => EventLog | Promise<EventLog>;

const EPOCH = toEpoch("epoch1");
const OTHER = toEpoch("epoch2");
export const ROOMY = {
  epoch: EPOCH,
  maxAgeMs: 600_000,
  minCount: 1_000_000,
  maxBytes: 2 ** 40,
  lastingAgeMs: 0,
};

/** Returns the event with this number. Every third is on another channel. */
export function numbered(number: number, padding = ""): EventBody {
  const observed_at = new Date(Date.UTC(2017, 10, 12) + number * 1_000).toISOString();
  return number % 3 === 0
    ? {
        name: "source-status",
        channel: "status",
        observed_at,
        data: { state: "live", reason: `${number} é🔥\u2028${padding}` },
      }
    : {
        name: "flare-expired",
        channel: "flares.finished",
        observed_at,
        data: { op: "remove", id: `${number}${padding}` },
      };
}

/** Returns `size` events, numbered from `first`. */
export function batchOf(first: number, size: number, padding = ""): readonly EventBody[] {
  return Array.from({ length: size }, (_, index) => numbered(first + index, padding));
}

/** Returns a cursor. */
export const at = (seq: number, epoch = EPOCH): Cursor => ({ epoch, seq: toSeq(seq) });
/** Returns the event in a record. */
const bodyOf = (record: LogRecord): unknown => JSON.parse(`{${record.encoded.toString("utf8")}`);

/** Tests that apply to every event log, whatever its storage. */
export function eventLogContract(name: string, create: LogFactory): void {
  const fresh = async (settings: Partial<LogSettings> = {}) => {
    const clock = new ManualClock();
    const log = await create({ clock, ...ROOMY, ...settings });
    return { clock, log };
  };

  describe(`${name} fulfills the contract of the event log`, () => {
    test("a new log is empty: head and oldest are seq 0, no channel has a position", async () => {
      const { log } = await fresh();
      expect(log).toMatchObject({ epoch: EPOCH, head: at(0), oldest: at(0), bytes: 0 });
      expect(new Set(Object.values(log.positions))).toEqual(new Set([0]));
      expect(await log.read(at(0), 10)).toEqual({ kind: "records", records: [] });
      await log.close();
    });

    test("events get the next cursors, the wall-clock time of the append, and the encoded body", async () => {
      const { log, clock } = await fresh();
      await log.append(batchOf(1, 2));
      clock.advance(5);
      const records = await log.append(batchOf(3, 2));
      expect(records.map(({ seq }) => seq)).toEqual([3, 4]);
      expect(records.map(({ emittedAtMs }) => emittedAtMs)).toEqual([clock.now(), clock.now()]);
      expect(records.map(({ name: event, channel }) => [event, channel])).toEqual([
        ["source-status", "status"],
        ["flare-expired", "flares.finished"],
      ]);
      expect(records.map(bodyOf)).toEqual(batchOf(3, 2));
      expect(records[1]?.encoded.toString()).toMatch(
        /^"name":"[^{]*"channel":"[^{]*"observed_at":"[^{]*"data":\{/,
      );
      expect(log.head).toEqual(at(4));
      expect(log.positions).toMatchObject({ status: 3, "flares.finished": 4, "flares.pro": 0 });
      expect(log.bytes).toBeGreaterThanOrEqual(records.reduce((sum, { encoded }) => sum + encoded.length, 0));
      await log.close();
    });

    test("positions returned earlier do not change", async () => {
      const { log } = await fresh();
      await log.append(batchOf(3, 1));
      const before = log.positions;
      await log.append(batchOf(6, 1));
      expect([before.status, log.positions.status]).toEqual([1, 2]);
      await log.close();
    });

    test("an empty batch changes nothing and calls no listener", async () => {
      const { log } = await fresh();
      const received: unknown[] = [];
      log.onAppend((records) => received.push(records));
      expect(await log.append([])).toEqual([]);
      expect([log.head.seq, received]).toEqual([0, []]);
      await log.close();
    });

    test("no event of a batch is appended if one of them cannot be encoded", async () => {
      const { log } = await fresh();
      const received: unknown[] = [];
      log.onAppend((records) => received.push(records));
      const bad = { ...numbered(2), data: { op: "remove", id: 1n } } as unknown as EventBody;
      await expect(log.append([numbered(1), bad])).rejects.toThrow(/BigInt/);
      expect([log.head.seq, log.positions["flares.finished"], log.bytes, received]).toEqual([0, 0, 0, []]);
      expect((await log.append([numbered(4)])).map(({ seq }) => seq)).toEqual([1]);
      await log.close();
    });

    test("a read returns at most `limit` records, and rejects a limit below 1", async () => {
      const { log } = await fresh();
      await log.append(batchOf(1, 5));
      const read = async (after: number, limit: number) => {
        const result = await log.read(at(after), limit);
        return result.kind === "records" ? result.records.map(({ seq }) => seq) : result.lost;
      };
      expect(await read(0, 2)).toEqual([1, 2]);
      expect(await read(2, 100)).toEqual([3, 4, 5]);
      expect(await read(5, 1)).toEqual([]);
      await expect(log.read(at(0), 0)).rejects.toMatchObject({ code: "invalid-parameter", field: "limit" });
      await expect(log.read(at(0), Number.NaN)).rejects.toMatchObject({ code: "invalid-parameter" });
      await log.close();
    });

    test("a cursor of another epoch or ahead of the head is lost, with an unknown number of events", async () => {
      const { log } = await fresh();
      await log.append(batchOf(1, 3));
      expect(await log.read(at(2, OTHER), 10)).toEqual({
        kind: "lost",
        lost: { reason: "epoch-changed", events: null },
      });
      expect(await log.read(at(4), 10)).toEqual({ kind: "lost", lost: { reason: "ahead", events: null } });
      await log.close();
    });

    listening(fresh);
    retention(fresh);

    test("after close, appends and reads reject", async () => {
      const { log } = await fresh();
      await log.append(batchOf(1, 1));
      await log.close();
      await expect(log.append(batchOf(2, 1))).rejects.toMatchObject({ name: "FlarewireError" });
      await expect(log.read(at(0), 1)).rejects.toMatchObject({ name: "FlarewireError" });
      await expect(log.close()).resolves.toBeUndefined();
    });

    law(fresh);
  });
}

type Fresh = (settings?: Partial<LogSettings>) => Promise<{ clock: ManualClock; log: EventLog }>;

function listening(fresh: Fresh): void {
  test("listeners receive each appended batch in order, until they are removed", async () => {
    const { log } = await fresh();
    const received: number[][] = [];
    const listener = (records: readonly LogRecord[]) => received.push(records.map(({ seq }) => seq));
    const stop = log.onAppend(listener);
    const stopSecond = log.onAppend(listener);
    await log.append(batchOf(1, 2));
    stopSecond();
    await log.append(batchOf(3, 1));
    stop();
    await log.append(batchOf(4, 1));
    expect(received).toEqual([[1, 2], [1, 2], [3]]);
    await log.close();
  });

  test("when a listener receives a batch, the head is at its end and a read returns it", async () => {
    const { log } = await fresh();
    const reads: Promise<unknown>[] = [];
    log.onAppend((records) => {
      expect(log.head.seq).toBe(records.at(-1)?.seq);
      reads.push(log.read(at(0), 10));
    });
    const records = await log.append(batchOf(1, 2));
    expect(await Promise.all(reads)).toEqual([{ kind: "records", records }]);
    await log.close();
  });

  test("a listener that throws affects neither the append nor the other listeners", async () => {
    const { log } = await fresh();
    const received: number[] = [];
    log.onAppend(() => {
      throw new Error("broken listener");
    });
    log.onAppend((records) => received.push(...records.map(({ seq }) => seq)));
    await log.append(batchOf(1, 2));
    await log.append(batchOf(3, 1));
    expect([received, log.head.seq]).toEqual([[1, 2, 3], 3]);
    await log.close();
  });
}

function retention(fresh: Fresh): void {
  test("[L3] a cursor before the oldest event is lost, with the exact number of events after it", async () => {
    const { log } = await fresh({ maxBytes: 4_000 });
    for (let first = 1; first <= 50; first += 5) await log.append(batchOf(first, 5, "x".repeat(100)));
    const oldest = log.oldest.seq;
    expect(oldest).toBeGreaterThan(0);
    expect(await log.read(at(oldest - 1), 10)).toEqual({
      kind: "lost",
      lost: { reason: "expired", events: 50 - (oldest - 1) },
    });
    expect(await log.read(at(oldest), 50)).toMatchObject({
      kind: "records",
      records: { length: 50 - oldest },
    });
    expect(log.bytes).toBeLessThanOrEqual(4_000);
    await log.close();
  });

  test("a batch above the byte limit is stored completely until the next batch", async () => {
    const { log } = await fresh({ maxBytes: 1_000 });
    await log.append(batchOf(1, 1));
    await log.append(batchOf(2, 20, "x".repeat(100)));
    expect(await log.read(at(1), 100)).toMatchObject({ kind: "records", records: { length: 20 } });
    await log.append(batchOf(22, 1));
    expect(log.oldest.seq).toBeGreaterThan(1);
    expect(log.bytes).toBeLessThanOrEqual(1_000);
    await log.close();
  });

  test("a jump of the wall clock drops no events", async () => {
    const { log, clock } = await fresh({ minCount: 0 });
    await log.append(batchOf(1, 3));
    clock.jumpWall(400 * 86_400_000);
    await log.append(batchOf(4, 1));
    clock.jumpWall(-900 * 86_400_000);
    await log.append(batchOf(5, 1));
    expect(log.oldest).toEqual(at(0));
    await log.close();
  });
}

type Step =
  | { readonly kind: "append"; readonly size: number; readonly padding: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "jump"; readonly ms: number }
  | { readonly kind: "read"; readonly back: number; readonly limit: number; readonly foreign: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("append" as const),
    size: fc.integer({ min: 1, max: 6 }),
    padding: fc.nat(400),
  }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(60_000) }),
  fc.record({ kind: fc.constant("jump" as const), ms: fc.integer({ min: -1e9, max: 1e9 }) }),
  fc.record({
    kind: fc.constant("read" as const),
    back: fc.integer({ min: -2, max: 40 }),
    limit: fc.integer({ min: 1, max: 50 }),
    foreign: fc.boolean(),
  }),
);

/** All events ever appended, with their times. */
type Model = { readonly bodies: EventBody[]; readonly appendedAt: number[] };

/**
 * Compares the log with a model: after any appends and times, a read returns exactly the following
 * events or reports the loss.
 */
function law(fresh: Fresh): void {
  const settings = fc.record({
    maxAgeMs: fc.constantFrom(0, 60_000, 600_000),
    minCount: fc.constantFrom(0, 5, 20),
    maxBytes: fc.constantFrom(3_000, 2 ** 40),
  });
  test("[L3] from any cursor a read returns exactly the following events, or reports the loss", async () => {
    await fc.assert(
      fc.asyncProperty(settings, fc.array(step, { maxLength: 40, size: "max" }), async (limits, steps) => {
        const { log, clock } = await fresh(limits);
        const model: Model = { bodies: [], appendedAt: [] };
        for (const one of steps) await take(one, { log, clock, model, limits });
        await log.close();
      }),
      lawRuns(40),
    );
  });
}

type Scene = {
  readonly log: EventLog;
  readonly clock: ManualClock;
  readonly model: Model;
  readonly limits: Pick<LogSettings, "maxAgeMs" | "minCount" | "maxBytes">;
};

async function take(one: Step, { log, clock, model, limits }: Scene): Promise<void> {
  const { bodies, appendedAt } = model;
  if (one.kind === "wait") clock.advance(one.ms);
  else if (one.kind === "jump") clock.jumpWall(one.ms);
  else if (one.kind === "append") {
    const batch = batchOf(bodies.length + 1, one.size, "x".repeat(one.padding));
    await log.append(batch);
    bodies.push(...batch);
    appendedAt.push(...batch.map(() => clock.monotonic()));
    expect(log.head).toEqual(at(bodies.length));
    const newest = bodies.length - batch.length;
    const young = appendedAt.findIndex((when) => clock.monotonic() - when <= limits.maxAgeMs);
    const promised = Math.min(
      young < 0 ? bodies.length : young,
      Math.max(0, bodies.length - limits.minCount),
    );
    if (limits.maxBytes > 1e9) expect(log.oldest.seq).toBeLessThanOrEqual(promised);
    expect(log.oldest.seq).toBeLessThanOrEqual(newest);
    expect(log.bytes <= limits.maxBytes || log.oldest.seq === newest).toBe(true);
  } else {
    const seq = Math.max(0, bodies.length - one.back);
    const result = await log.read(at(seq, one.foreign ? OTHER : EPOCH), one.limit);
    if (result.kind === "records") {
      expect(one.foreign).toBe(false);
      expect(result.records.map(bodyOf)).toEqual(bodies.slice(seq, seq + one.limit));
      expect(result.records.map((record) => record.seq)).toEqual(
        result.records.map((_, index) => seq + 1 + index),
      );
      expect(seq).toBeGreaterThanOrEqual(log.oldest.seq);
    } else if (one.foreign) expect(result.lost).toEqual({ reason: "epoch-changed", events: null });
    else if (seq > bodies.length) expect(result.lost).toEqual({ reason: "ahead", events: null });
    else {
      expect(result.lost).toEqual({ reason: "expired", events: bodies.length - seq });
      expect(seq).toBeLessThan(log.oldest.seq);
    }
  }
}
