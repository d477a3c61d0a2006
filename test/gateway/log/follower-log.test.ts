import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LogFile, openLogFile } from "../../../src/app/data/log-file.ts";
import { SqliteLog, type SqliteLogOptions } from "../../../src/app/data/sqlite-log.ts";
import { toEpoch, toSeq } from "../../../src/base/protocol/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { batchOf, type LogSettings } from "../../contract/event-log-contract.ts";
import { followerLogContract } from "../../contract/follower-log-contract.ts";
import { lastingContract } from "../../contract/lasting-contract.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

let directory = "";
let fileCount = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-follower-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function newPath(): string {
  fileCount += 1;
  return join(directory, `${fileCount}.sqlite`);
}

function open(path: string): LogFile {
  const file = openLogFile({ path, nowMs: 0, onSetAside: () => {} });
  return file;
}

const inMemory = (settings: LogSettings) => new MemoryLog(settings);

function inFile(settings: Partial<LogSettings>, file = open(newPath())) {
  const options: SqliteLogOptions = {
    clock: new ManualClock(),
    ...settings,
    file,
    fingerprint: "test",
    follows: true,
    notify: (_level, _message, { err: error } = {}) => {
      throw error;
    },
  };
  return new SqliteLog({ ...options, ...(file.found ? { stored: file.found } : {}) });
}

followerLogContract("the memory log", inMemory);
followerLogContract("the SQLite log", inFile);
lastingContract("the SQLite log of a follower", (settings) => inFile(settings));

test("[L3] a reopened file of a restarted log has its cursor, positions and batches, and later events", async () => {
  const path = newPath();
  const log = inFile({ epoch: toEpoch("first") }, open(path));
  await log.append(batchOf(1, 3));
  const cursor = { epoch: toEpoch("second"), seq: toSeq(40) };
  await log.restart({ cursor, positions: { status: 39, "flares.finished": 40 } });
  await log.close();

  const empty = inFile({}, open(path));
  expect(empty).toMatchObject({
    ...{ head: cursor, oldest: cursor, oldestLasting: cursor },
    positions: { status: 39 },
  });
  const records = await empty.append(batchOf(41, 2));
  expect(records.map(({ batch }) => batch)).toEqual([42, 42]);
  await empty.close();

  const again = inFile({}, open(path));
  expect(again.head).toEqual({ ...cursor, seq: 42 });
  expect(await again.read(cursor, 10)).toEqual({ kind: "records", records });
  await again.close();
});
