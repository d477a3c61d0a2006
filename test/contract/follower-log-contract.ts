import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cursor, toEpoch, toSeq } from "../../src/base/protocol/index.ts";
import { type FollowerLog, type LogRecord, MemoryLog } from "../../src/gateway/log/index.ts";
import { lawRuns } from "../support/law-runs.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { batchOf, type LogSettings } from "./event-log-contract.ts";

/** Creates an empty log that can follow another. */
type FollowerLogFactory = (settings: LogSettings) => FollowerLog;

const EPOCH = toEpoch("epoch1");
const OTHER = toEpoch("epoch2");
const ROOMY = { maxAgeMs: 600_000, minCount: 1_000_000, maxBytes: 2 ** 40, lastingAgeMs: 0 };
const at = (seq: number, epoch = EPOCH): Cursor => ({ epoch, seq: toSeq(seq) });

/**
 * Tests that apply to every log of a gateway that follows another, in addition to the event log's.
 */
export function followerLogContract(name: string, create: FollowerLogFactory): void {
  const fresh = () => {
    const clock = new ManualClock();
    const leader = new MemoryLog({ clock, epoch: EPOCH, ...ROOMY });
    return { clock, leader, log: create({ clock: new ManualClock(0), epoch: EPOCH, ...ROOMY }) };
  };

  describe(`${name} fulfills the contract of a follower's log`, () => {
    test("[F3] replicated records are stored unchanged: seq, batch, time and bytes", async () => {
      const { clock, leader, log } = fresh();
      for (const size of [3, 1, 2]) {
        clock.advance(7);
        const records = await leader.append(batchOf(leader.head.seq + 1, size));
        expect(await log.appendReplicated(records)).toEqual(records);
      }
      expect(await log.read(at(0), 100)).toEqual(await leader.read(at(0), 100));
      expect(log).toMatchObject({ head: at(6), positions: leader.positions, bytes: leader.bytes });
      expect(await log.appendReplicated([])).toEqual([]);
      await log.close();
    });

    test("[L3] a batch that leaves a gap, is repeated or is incomplete is rejected, and nothing changes", async () => {
      const { leader, log } = fresh();
      const [first, second] = [await leader.append(batchOf(1, 2)), await leader.append(batchOf(3, 3))];
      await log.appendReplicated(first);
      const bad: readonly (readonly LogRecord[])[] = [
        first,
        second.slice(1),
        second.slice(0, 2),
        [...second].reverse(),
        [...second, ...(await leader.append(batchOf(6, 1)))],
      ];
      for (const records of bad)
        await expect(log.appendReplicated(records)).rejects.toMatchObject({
          code: "invalid-input",
          field: "seq",
        });
      expect(log.head).toEqual(at(2));
      await log.appendReplicated(second);
      expect(log.head).toEqual(at(5));
      await log.close();
    });

    test("[F5] a restarted log is empty and starts at the given cursor and positions, and older cursors are lost", async () => {
      const { log } = fresh();
      await log.append(batchOf(1, 4));
      const positions = { status: 36, "flares.finished": 40 };
      await log.restart({ cursor: at(40), positions });
      expect(log).toMatchObject({ epoch: EPOCH, head: at(40), oldest: at(40), bytes: 0, positions });
      expect(log.oldestLasting).toEqual(at(40));
      const lost = { kind: "lost", lost: { reason: "expired", events: 36 } };
      expect(await log.read(at(4), 9)).toEqual(lost);
      expect(await log.readLasting(at(4), 9)).toEqual(lost);
      await log.restart({ cursor: at(3, OTHER), positions: { status: 3 } });
      expect(log).toMatchObject({
        epoch: OTHER,
        head: at(3, OTHER),
        positions: { status: 3, "flares.pro": 0 },
      });
      expect(await log.read(at(40), 9)).toMatchObject({ lost: { reason: "epoch-changed" } });
      expect((await log.append(batchOf(4, 1))).map(({ seq }) => seq)).toEqual([4]);
      await log.close();
    });

    test("listeners remain after a restart, receive no call for it, and can be removed afterwards", async () => {
      const { log } = fresh();
      const [received, stopped]: number[][] = [[], []];
      log.onAppend((records) => received?.push(...records.map(({ seq }) => seq)));
      const stop = log.onAppend((records) => stopped?.push(...records.map(({ seq }) => seq)));
      await log.append(batchOf(1, 1));
      await log.restart({ cursor: at(7), positions: { status: 7 } });
      await log.append(batchOf(8, 1));
      stop();
      await log.append(batchOf(9, 1));
      expect([received, stopped]).toEqual([
        [1, 8, 9],
        [1, 8],
      ]);
      await log.close();
    });

    test("[L3] after a restart in the middle of a delivery, the later listeners do not receive the old history", async () => {
      const { log } = fresh();
      const received: number[] = [];
      let isFirst = true;
      log.onAppend(() => {
        if (isFirst) void log.restart({ cursor: at(7), positions: { status: 7 } });
        isFirst = false;
      });
      log.onAppend((records) => received.push(...records.map(({ seq }) => seq)));
      await log.append(batchOf(1, 1));
      expect([received, log.head.seq]).toEqual([[], 7]);
      await log.append(batchOf(8, 1));
      expect(received).toEqual([8]);
      await log.close();
    });

    test("[F3] [L3] after any batches and restarts, a read returns the same as the leader's log, or reports the loss", async () => {
      const step = fc.oneof(
        {
          weight: 5,
          arbitrary: fc.record({ kind: fc.constant("batch" as const), size: fc.integer({ min: 1, max: 6 }) }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            kind: fc.constant("missed" as const),
            size: fc.integer({ min: 1, max: 6 }),
          }),
        },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
          const { leader, log } = fresh();
          let from = 0;
          for (const { kind, size } of steps) {
            const records = await leader.append(batchOf(leader.head.seq + 1, size));
            if (kind === "batch") await log.appendReplicated(records);
            else {
              from = leader.head.seq;
              await log.restart({ cursor: leader.head, positions: leader.positions });
            }
          }
          expect(log).toMatchObject({ head: leader.head, oldest: at(from), positions: leader.positions });
          expect(await log.read(at(from), 500)).toEqual(await leader.read(at(from), 500));
          if (from > 0)
            expect(await log.read(at(from - 1), 1)).toMatchObject({ lost: { reason: "expired" } });
          await log.close();
        }),
        lawRuns(15),
      );
    });
  });
}
