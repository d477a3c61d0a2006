import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LASTING_EVENTS, toEpoch } from "../../src/base/protocol/index.ts";
import type { EventLog, LogRecord } from "../../src/gateway/log/index.ts";
import { lawRuns } from "../support/law-runs.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { at, batchOf, type LogFactory, ROOMY } from "./event-log-contract.ts";

const HOUR = 3_600_000;
const limits = fc.record({
  maxAgeMs: fc.constantFrom(0, 60_000),
  minCount: fc.constantFrom(0, 5),
  lastingAgeMs: fc.constantFrom(0, HOUR, 24 * HOUR),
  maxBytes: fc.constantFrom(3_000, 2 ** 40),
});
const steps = fc.array(
  fc.record({
    waitMs: fc.nat(3 * HOUR),
    size: fc.integer({ min: 1, max: 6 }),
    padding: fc.nat(400),
    back: fc.nat(60),
    limit: fc.integer({ min: 1, max: 9 }),
  }),
  { maxLength: 40, size: "max" },
);

/** Returns all lasting events after a cursor, read in pages. */
async function lastingAfter(log: EventLog, seq: number, limit: number): Promise<readonly LogRecord[]> {
  const found: LogRecord[] = [];
  for (let from = seq; from < log.head.seq; ) {
    const result = await log.readLasting(at(from), limit);
    if (result.kind === "lost") throw new Error(`lost between two pages: ${result.lost.reason}`);
    expect(result.records.length).toBeLessThanOrEqual(limit);
    expect(result.through).toBeGreaterThan(from);
    found.push(...result.records);
    from = result.through;
  }
  return found;
}

/**
 * Tests that apply to lasting events (`LASTING_EVENTS`) in every event log. In {@link batchOf}
 * every third is lasting.
 */
export function lastingContract(name: string, create: LogFactory): void {
  describe(`${name} retains lasting events longer than others`, () => {
    test("[W36] [L3] a read from any cursor returns all later lasting events or reports the loss; events within the time and byte limits are retained", async () => {
      await fc.assert(
        fc.asyncProperty(limits, steps, async (settings, sequence) => {
          const clock = new ManualClock();
          const log = await create({ ...ROOMY, ...settings, clock });
          const lasting: { seq: number; appendedAt: number }[] = [];
          for (const { waitMs, size, padding, back, limit } of sequence) {
            clock.advance(waitMs);
            const before = log.head.seq;
            const records = await log.append(batchOf(before + 1, size, "x".repeat(padding)));
            const added = records.filter((record) => LASTING_EVENTS.has(record.name));
            lasting.push(...added.map(({ seq }) => ({ seq, appendedAt: clock.monotonic() })));
            const { oldestLasting, oldest, head } = log;
            expect(oldestLasting.seq).toBeLessThanOrEqual(oldest.seq);
            expect(log.bytes <= settings.maxBytes || oldest.seq === before).toBe(true);
            const young = lasting.filter(
              ({ appendedAt }) => clock.monotonic() - appendedAt <= settings.lastingAgeMs,
            );
            if (settings.maxBytes > 1e9 && young[0]) expect(oldestLasting.seq).toBeLessThan(young[0].seq);
            const seq = Math.max(0, head.seq - back);
            if (seq < oldestLasting.seq) {
              const lost = { reason: "expired", events: head.seq - seq };
              expect(await log.readLasting(at(seq), limit)).toEqual({ kind: "lost", lost });
              continue;
            }
            const found = (await lastingAfter(log, seq, limit)).map((record) => record.seq);
            expect(found).toEqual(lasting.map((one) => one.seq).filter((one) => one > seq));
          }
          await log.close();
        }),
        lawRuns(15),
      );
    });

    test("above the byte limit, older lasting events are dropped first while they take more than half, otherwise the oldest events", async () => {
      const clock = new ManualClock();
      const log = await create({
        ...ROOMY,
        clock,
        minCount: 10,
        maxAgeMs: 0,
        lastingAgeMs: HOUR,
        maxBytes: 40_000,
      });
      for (let first = 1; first <= 600; first += 3) await log.append(batchOf(first, 3, "x".repeat(100)));
      const { oldest, oldestLasting, head, bytes } = log;
      expect(bytes).toBeLessThanOrEqual(40_000);
      expect(bytes).toBeGreaterThan(38_000);
      expect(oldestLasting.seq).toBeGreaterThan(0);
      expect(oldestLasting.seq).toBeLessThan(oldest.seq);
      const lasting = (await lastingAfter(log, oldestLasting.seq, 100)).filter(
        ({ seq }) => seq <= oldest.seq,
      );
      const lastingBytes = lasting.reduce((sum, record) => sum + record.encoded.length + 512, 0);
      expect(lastingBytes).toBeGreaterThan(18_000);
      expect(lastingBytes).toBeLessThanOrEqual(20_800);
      expect(head.seq - oldest.seq).toBeGreaterThan(20);
      await log.close();
    });

    test("reads of lasting events reject invalid limits and report losses like other reads", async () => {
      const log = await create({ ...ROOMY, clock: new ManualClock() });
      await log.append(batchOf(1, 3));
      await expect(log.readLasting(at(0), 0)).rejects.toMatchObject({ code: "invalid-parameter" });
      expect(await log.readLasting(at(0, toEpoch("epoch2")), 1)).toMatchObject({
        lost: { reason: "epoch-changed" },
      });
      expect(await log.readLasting(at(4), 1)).toMatchObject({ lost: { reason: "ahead" } });
      expect(await log.readLasting(at(3), 1)).toEqual({ kind: "records", records: [], through: 3 });
      await log.close();
      await expect(log.readLasting(at(0), 1)).rejects.toMatchObject({ name: "FlarewireError" });
    });
  });
}
