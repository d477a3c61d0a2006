import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LogFile, type LogFileOptions, openLogFile } from "../../../src/app/data/log-file.ts";
import { SqliteLog, type SqliteLogOptions } from "../../../src/app/data/sqlite-log.ts";
import { toEpoch, toSeq } from "../../../src/base/protocol/index.ts";
import { batchOf, eventLogContract, type LogFactory } from "../../contract/event-log-contract.ts";
import { lastingContract } from "../../contract/lasting-contract.ts";
import { type Image, putImage, takeImage } from "../../support/image.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

let directory = "";
let fileCount = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-log-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const NOW = Date.UTC(2026, 0, 1);
/** Checkpoint data of the size of a small gateway's. */
const CHECKPOINT = new Uint8Array(1_000);

function newPath(): string {
  fileCount += 1;
  return join(directory, String(fileCount), "events.sqlite");
}

const reported: string[] = [];

function open(path: string, options: Partial<LogFileOptions> = {}): LogFile {
  const file = openLogFile({
    path,
    nowMs: NOW,
    onSetAside: (sentence) => reported.push(sentence),
    ...options,
  });
  return file;
}

function logOf(file: LogFile, options: Partial<SqliteLogOptions> = {}) {
  const notices: string[] = [];
  const log = new SqliteLog({
    file,
    fingerprint: "test",
    clock: new ManualClock(),
    ...(file.found ? { stored: file.found } : {}),
    notify: (_level, sentence) => notices.push(sentence),
    ...options,
  });
  return { log, notices };
}

const contracted: LogFactory = (settings) => logOf(open(newPath()), settings).log;
eventLogContract("the SQLite log", contracted);
lastingContract("the SQLite log", contracted);

test("[L3] a reopened log continues its epoch with the same events and cursors, and the next seq", async () => {
  const path = newPath();
  const first = logOf(open(path)).log;
  const records = [...(await first.append(batchOf(1, 5))), ...(await first.append(batchOf(6, 3)))];
  const { epoch, positions } = first;
  await first.close();
  const file = open(path);
  expect(file.found).toMatchObject({ epoch, fingerprint: "test", doubt: undefined, state: undefined });
  const again = logOf(file).log;
  expect(again).toMatchObject({ epoch, positions, head: { epoch, seq: 8 }, oldest: { epoch, seq: 0 } });
  expect(await again.read(again.oldest, 100)).toEqual({ kind: "records", records });
  expect((await again.append(batchOf(9, 1))).map(({ seq }) => seq)).toEqual([9]);
  await again.close();
});

test("[L3] whatever was appended, checkpointed and dropped, a reopened log has the latest events without a gap", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("append" as const), size: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant("state" as const), back: fc.nat(10) }),
    fc.record({ kind: fc.constant("reopen" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const path = newPath();
      const limits = { maxBytes: 4_000, clock: new ManualClock() };
      let { log } = logOf(open(path), limits);
      let state = 0;
      let count = 0;
      for (const one of [...steps, { kind: "reopen" as const }]) {
        if (one.kind === "append") {
          await log.append(batchOf(count + 1, one.size));
          count += one.size;
        } else if (one.kind === "state") {
          state = Math.max(state, count - one.back);
          log.saveCheckpoint(state, `state at ${state}`, CHECKPOINT);
        } else {
          const held = await log.read(log.oldest, 10_000);
          const lastingFrom = log.oldestLasting.seq;
          await log.close();
          const file = open(path);
          const { oldest = 0, oldestLasting, records: found = [] } = file.found ?? {};
          const seqs = found.map(({ seq }) => seq).filter((seq) => seq > oldest);
          expect(seqs).toEqual(seqs.map((_, index) => count - seqs.length + 1 + index));
          const earlier = found.filter(({ seq }) => seq <= oldest);
          const lasting = Array.from({ length: oldest }, (_, index) => index + 1).filter(
            (seq) => seq % 3 === 0 && seq > (oldestLasting ?? 0),
          );
          expect(earlier.map(({ seq }) => seq)).toEqual(lasting);
          if (held.kind === "records")
            expect(found.slice(found.length - held.records.length)).toEqual(held.records);
          expect(oldestLasting).toBeLessThanOrEqual(lastingFrom);
          if (state > 0) {
            expect(file.found?.state).toEqual({ seq: state, text: `state at ${state}` });
            expect(seqs.length === 0 ? count : Number(seqs[0]) - 1).toBeLessThanOrEqual(state);
          }
          ({ log } = logOf(file, limits));
          expect(log.oldestLasting.seq).toBe(oldestLasting ?? 0);
          expect(log.head.seq).toBe(count);
        }
      }
      await log.close();
    }),
    { numRuns: 40 },
  );
});

test("stored events age by the wall clock", async () => {
  const path = newPath();
  const first = logOf(open(path)).log;
  await first.append(batchOf(1, 5));
  await first.close();
  const clock = new ManualClock(new ManualClock().now() + 60_001);
  const { log } = logOf(open(path), { clock, maxAgeMs: 60_000, minCount: 0 });
  expect(log.oldest.seq).toBe(0);
  await log.append(batchOf(6, 1));
  expect(log.oldest.seq).toBe(5);
  await log.close();
});

test("events that are dropped from the log are removed from the file, except those after the last checkpoint", async () => {
  const path = newPath();
  const { log } = logOf(open(path), { maxBytes: 20_000 });
  for (let first = 1; first <= 6_000; first += 20) {
    await log.append(batchOf(first, 20));
    if (first % 1_000 === 1) log.saveCheckpoint(log.head.seq, "", CHECKPOINT);
  }
  await log.close();
  const file = open(path);
  expect(file.found?.oldest).toBeGreaterThan(5_000);
  expect(file.found?.oldest).toBeLessThanOrEqual(5_021);
  // Lasting events may use half of the bytes.
  expect(file.found?.oldestLasting).toBeGreaterThan(4_900);
  expect(file.found?.records.length).toBeLessThan(1_100);
  file.close();
});

test("a second open of a file in use fails without harm to the first, and succeeds after the first is closed", async () => {
  const path = newPath();
  const { log } = logOf(open(path));
  await log.append(batchOf(1, 1));
  expect(() => open(path)).toThrow(
    /is in use by another process(?: \(pid \d+\))?; it may still be stopping: wait, or stop that process/,
  );
  await log.append(batchOf(2, 1));
  await log.close();
  const file = open(path);
  expect(file.found?.records.length).toBe(2);
  file.close();
});

test.each([
  [
    "text",
    (path: string) =>
      writeFileSync(path, "not a database at all, but long enough to be looked at".repeat(20)),
  ],
  [
    "another program's database",
    (path: string) => {
      rmSync(path);
      const db = new DatabaseSync(path);
      db.exec("CREATE TABLE mine (id INTEGER)");
      db.close();
    },
  ],
  [
    "a torn log",
    (path: string) => {
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length / 2)));
    },
  ],
  [
    "a log with a record missing",
    (path: string) => {
      const db = new DatabaseSync(path);
      db.exec("DELETE FROM record WHERE seq = 3");
      db.close();
    },
  ],
  [
    "a log with an invalid epoch",
    (path: string) => {
      const db = new DatabaseSync(path);
      db.exec("UPDATE fact SET value = '{' WHERE name = 'epoch'");
      db.close();
    },
  ],
  [
    "a log with an invalid run",
    (path: string) => {
      const db = new DatabaseSync(path);
      db.exec("UPDATE run SET id = '{'");
      db.close();
    },
  ],
  [
    "a log of a later format",
    (path: string) => {
      const db = new DatabaseSync(path);
      db.exec("PRAGMA user_version = 99");
      db.close();
    },
  ],
])("%s is set aside and reported, and an empty log replaces it", async (_, damage) => {
  const path = newPath();
  const { log } = logOf(open(path));
  await log.append(batchOf(1, 200));
  await log.close();
  damage(path);
  const damaged = readFileSync(path);
  reported.length = 0;
  const file = open(path);
  expect(file.found).toBeUndefined();
  const aside = `${path}.set-aside-20260101T000000Z`;
  expect(reported).toEqual([expect.stringContaining(`moved it to ${aside} and started a new log`)]);
  expect(readFileSync(aside).equals(damaged)).toBe(true);
  const { log: fresh } = logOf(file);
  expect((await fresh.append(batchOf(1, 1)))[0]?.seq).toBe(1);
  await fresh.close();
});

test("a copy of a file in use, and a file in use when the machine went down, are doubtful; one closed in order is not", async () => {
  const path = newPath();
  const { log } = logOf(open(path));
  await log.append(batchOf(1, 3));
  await log.close();
  const fact = (name: string, value: string) => {
    const db = new DatabaseSync(path);
    db.prepare("UPDATE fact SET value = ? WHERE name = ?").run(value, name);
    db.close();
  };
  const doubt = (of = path) => {
    const file = open(of);
    const { found } = file;
    file.close();
    return found?.doubt;
  };
  fact("boot", "an earlier one");
  expect(doubt()).toBeUndefined();
  fact("closed", "no");
  expect(doubt()).toBeUndefined();
  fact("boot", "an earlier one");
  fact("closed", "no");
  expect(doubt()).toMatch(/the machine went down/);
  // Opening the file does not remove the doubt.
  expect(doubt()).toMatch(/the machine went down/);
  copyFileSync(path, `${path}-copy`);
  expect(doubt(`${path}-copy`)).toMatch(/a copy/);
});

test("[L3] a copy of a closed log continues, even after a kill; a copy of one in use, or with a write-ahead file, is doubtful", async () => {
  const [path, copy] = [newPath(), newPath()];
  const { log } = logOf(open(path));
  await log.append(batchOf(1, 3));
  const inUse = takeImage(path);
  await log.close();
  const found = (image: Image) => {
    rmSync(copy, { force: true });
    mkdirSync(dirname(copy), { recursive: true });
    putImage(copy, image);
    const file = open(copy);
    return { file, doubt: file.found?.doubt };
  };
  const closed = takeImage(path);
  const taken = found(closed);
  expect(taken).toMatchObject({ doubt: undefined, file: { found: { epoch: log.epoch } } });
  const killed = takeImage(copy);
  taken.file.close();
  putImage(copy, killed);
  const again = open(copy);
  expect(again.found).toMatchObject({ closedInOrder: false, doubt: undefined });
  again.close();
  for (const image of [inUse, { main: closed.main, wal: Buffer.alloc(64) }]) {
    const { file, doubt } = found(image);
    file.close();
    expect(doubt).toMatch(/a copy of a file in use/);
  }
});

test("[L3] when the disk is full, the log continues in memory without a gap, reports this once, and leaves no file", async () => {
  const path = newPath();
  const { log, notices } = logOf(open(path, { maxFileBytes: 200_000 }));
  let count = 0;
  while (!log.isInMemoryOnly && count < 10_000) {
    await log.append(batchOf(count + 1, 10, "x".repeat(200)));
    count += 10;
  }
  await log.append(batchOf(count + 1, 10));
  log.saveCheckpoint(toSeq(1), "", CHECKPOINT);
  expect(log.head.seq).toBe(count + 10);
  expect(await log.read(log.oldest, 100_000)).toMatchObject({ records: { length: count + 10 } });
  expect(notices).toEqual([
    `cannot write ${path} (database or disk is full); events are in memory only from now on; the next start will begin a new epoch`,
  ]);
  await log.close();
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(join(path, ".."))).toEqual([]);
});

test("an abandoned file leaves a log in memory only, and a restart does not report this again", async () => {
  const file = open(newPath());
  file.abandon();
  const { log, notices } = logOf(file);
  expect(notices.length).toBe(1);
  expect((await log.append(batchOf(1, 2))).map(({ seq }) => seq)).toEqual([1, 2]);
  await log.restart({ cursor: { epoch: toEpoch("other"), seq: toSeq(7) }, positions: { status: 7 } });
  expect((await log.append(batchOf(8, 1))).map(({ seq }) => seq)).toEqual([8]);
  expect([notices.length, log.isInMemoryOnly]).toEqual([1, true]);
  await log.close();
});

test.skipIf(process.platform !== "linux")("a directory that cannot be created is an error", () => {
  const path = "/proc/no-such/deep/events.sqlite";
  expect(() => openLogFile({ path, nowMs: NOW, onSetAside: () => {} })).toThrow("/proc/no-such");
});
