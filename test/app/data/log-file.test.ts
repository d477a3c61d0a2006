import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLogFile } from "../../../src/app/data/log-file.ts";
import { SqliteLog, type SqliteLogOptions } from "../../../src/app/data/sqlite-log.ts";
import { toEpoch, toSeq } from "../../../src/base/protocol/index.ts";
import { encodeBody, type LogRecord } from "../../../src/gateway/log/index.ts";
import { batchOf } from "../../contract/event-log-contract.ts";
import { putImage, takeImage } from "../../support/image.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

let directory = "";
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-log-file-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const newPath = () => join(directory, `${++files}.sqlite`);

/** Opens the log as the next process would. */
function open(path: string, limits: Partial<SqliteLogOptions> = {}) {
  const file = openLogFile({ path, nowMs: 0, onSetAside: (sentence) => expect.fail(sentence) });
  const notices: string[] = [];
  const log = new SqliteLog({
    ...{ file, fingerprint: "test", clock: new ManualClock(), ...limits },
    ...(file.found ? { stored: file.found } : {}),
    notify: (_level, sentence) => notices.push(sentence),
  });
  return { file, log, notices };
}

/** Returns what the next process would find. */
function foundAt(path: string) {
  const file = openLogFile({ path, nowMs: 0, onSetAside: (sentence) => expect.fail(sentence) });
  const { found } = file;
  file.close();
  return found;
}

test("[L3] a log that was once closed in order, but was in use when the machine went down, is doubtful", async () => {
  const path = newPath();
  const first = open(path);
  await first.log.append(batchOf(1, 3));
  await first.log.close();
  for (let round = 0; round < 2; round += 1) {
    const { log } = open(path);
    await log.append(batchOf(log.head.seq + 1, 3));
    const inUse = takeImage(path);
    await log.close();
    putImage(path, inUse);
    // A killed process loses nothing, and the next one continues.
    expect(foundAt(path)).toMatchObject({ closedInOrder: false, doubt: undefined });
  }
  const { log } = open(path);
  const inUse = takeImage(path);
  await log.close();
  putImage(path, inUse);
  const db = new DatabaseSync(path);
  db.prepare("UPDATE fact SET value = 'an earlier one' WHERE name = 'boot'").run();
  db.close();
  expect(foundAt(path)).toMatchObject({ doubt: expect.stringMatching(/the machine went down/) });
});

test.each([
  ["removed", (path: string) => rmSync(path)],
  ["moved", (path: string) => renameSync(path, `${path}-moved`)],
  [
    "replaced",
    (path: string) => {
      renameSync(path, `${path}-moved`);
      openLogFile({ path, nowMs: 0, onSetAside: () => {} }).close();
    },
  ],
])(
  "[L3] a file that is %s while in use is no longer written to, which is reported once",
  async (how, damage) => {
    const path = newPath();
    const { log, notices } = open(path);
    await log.append(batchOf(1, 3));
    damage(path);
    for (const number of [4, 5]) await log.append(batchOf(number, 1));
    expect(notices).toEqual([expect.stringContaining("it was removed, moved or replaced")]);
    expect([log.isInMemoryOnly, log.head.seq]).toEqual([true, 5]);
    expect(await log.read(log.oldest, 10)).toMatchObject({ records: { length: 5 } });
    await log.close();
    // The file in its place may be a backup that an operator restored.
    expect(existsSync(path)).toBe(how === "replaced");
  },
);

test("the file has 16 to 40 checkpoints of the lists, and none from before the oldest event", async () => {
  const path = newPath();
  const clock = new ManualClock();
  const { log } = open(path, { clock, minCount: 4_096, maxAgeMs: 0, lastingAgeMs: 0 });
  for (let batch = 0; batch < 200; batch += 1) {
    clock.advance(1);
    await log.append(batchOf(log.head.seq + 1, 64));
    log.saveCheckpoint(log.head.seq, "state", new Uint8Array([batch]));
  }
  await log.close();
  const seqs = foundAt(path)?.checkpoints.map(({ seq }) => seq) ?? [];
  expect(seqs.length).toBeGreaterThanOrEqual(16);
  expect(seqs.length).toBeLessThanOrEqual(40);
  expect(seqs.at(-1)).toBe(200 * 64);
  expect(Math.min(...seqs)).toBeGreaterThanOrEqual(200 * 64 - 4_096 - 64);
});

test("a file that begins anew drops nothing by the state before, and is closed in order although it was in doubt", () => {
  const path = newPath();
  const first = openLogFile({ path, nowMs: 0, onSetAside: (sentence) => expect.fail(sentence) });
  const startOf = (epoch: string) => ({ cursor: { epoch: toEpoch(epoch), seq: toSeq(0) }, positions: {} });
  const recordsUpTo = (last: number) =>
    Array.from({ length: last }, (_, index): LogRecord => {
      const event = batchOf(index + 1, 1)[0];
      if (!event) throw new Error("there is no event");
      const { name, channel } = event;
      const own = { name, channel, emittedAtMs: 1, encoded: encodeBody(event) };
      return { ...own, seq: toSeq(index + 1), batch: toSeq(last) };
    });
  const nothing = { oldest: 0, oldestLasting: 0 };
  first.begin("test", startOf("before1"));
  first.write(recordsUpTo(90), nothing);
  first.saveSlice(new Uint8Array(3));
  first.saveCheckpoint(90, "state", new Uint8Array(1), nothing, 1);
  for (const epoch of ["second1", "third1"]) {
    first.begin("test", startOf(epoch));
    // Without a state, every event is needed.
    first.write(recordsUpTo(40), { oldest: 30, oldestLasting: 30 });
  }
  first.close();
  const found = foundAt(path);
  expect(found).toMatchObject({ epoch: "third1", oldest: 0, state: undefined, closedInOrder: true });
  expect(found?.records.map(({ seq }) => seq)).toEqual(recordsUpTo(40).map(({ seq }) => seq));
  const fact = new DatabaseSync(path);
  fact.exec(
    "UPDATE fact SET value = 'no' WHERE name = 'closed'; UPDATE fact SET value = 'x' WHERE name = 'boot'",
  );
  fact.close();
  const doubtful = openLogFile({ path, nowMs: 0, onSetAside: (sentence) => expect.fail(sentence) });
  expect(doubtful.found?.doubt).toBeDefined();
  doubtful.begin("test", startOf("fourth1"));
  doubtful.close();
  expect(foundAt(path)).toMatchObject({ epoch: "fourth1", closedInOrder: true, doubt: undefined });
});
