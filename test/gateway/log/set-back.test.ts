import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLogFile } from "../../../src/app/data/log-file.ts";
import { SqliteLog } from "../../../src/app/data/sqlite-log.ts";
import { type Cursor, formatCursor, toRun, toSeq } from "../../../src/base/protocol/index.ts";
import type { Stray } from "../../../src/gateway/log/index.ts";
import { batchOf } from "../../contract/event-log-contract.ts";
import { cutInHalf, flipBit, type Image, putImage, takeImage } from "../../support/image.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

let directory = "";
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-set-back-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const CHANGED = { kind: "lost", lost: { reason: "epoch-changed", events: null } };
const newPath = () => join(directory, `${++files}.sqlite`);

/** Opens the log as the next process would. */
function open(path: string, maxBytes = 2 ** 30): { log: SqliteLog; strays: Stray[] } {
  const file = openLogFile({ path, nowMs: 0, onSetAside: (sentence) => expect.fail(sentence) });
  expect(file.found?.doubt).toBeUndefined();
  const strays: Stray[] = [];
  const log = new SqliteLog({
    ...{ file, fingerprint: "test", clock: new ManualClock(), maxBytes },
    ...(file.found ? { stored: file.found } : {}),
    onStray: (stray) => strays.push(stray),
    notify: (_level, sentence) => expect.fail(sentence),
  });
  return { log, strays };
}

/**
 * Appends batches of three events until the log is at `seq`. Their text includes `life`, so that
 * they differ from those of other runs. Returns the cursor of each event.
 */
async function fill(log: SqliteLog, seq: number, life = "first"): Promise<Cursor[]> {
  const cursors: Cursor[] = [];
  while (log.head.seq < seq) {
    const records = await log.append(batchOf(log.head.seq + 1, 3, life));
    cursors.push(...records.map((record) => log.cursorAt(record.seq)));
  }
  return cursors;
}

/** Reads after each of these cursors. Returns how many resume, and the answers to the others. */
async function resumed(log: SqliteLog, cursors: readonly Cursor[]) {
  const answers = await Promise.all(cursors.map((cursor) => log.read(cursor, 1_000)));
  return {
    full: answers.filter(({ kind }) => kind === "records").length,
    lost: answers.filter(({ kind }) => kind === "lost"),
  };
}

test("[L3] after an older file is restored, cursors in it resume and those of lost events get a reset, three times in a row", async () => {
  const path = newPath();
  const first = open(path);
  const kept = await fill(first.log, 30);
  await first.log.close();
  const older = takeImage(path);
  let gone: Cursor[] = [];
  for (let round = 0; round < 3; round += 1) {
    const { log, strays } = open(path);
    expect(log.epoch).toBe(first.log.epoch);
    expect(await resumed(log, kept)).toEqual({ full: 30, lost: [] });
    // Before and after new events take the positions of the lost ones.
    expect(await resumed(log, gone)).toEqual({ full: 0, lost: gone.map(() => CHANGED) });
    const fresh = await fill(log, 60, `round ${round}`);
    expect(await resumed(log, [...kept, ...fresh])).toEqual({ full: 60, lost: [] });
    expect(await resumed(log, gone)).toEqual({ full: 0, lost: gone.map(() => CHANGED) });
    expect(strays).toEqual(
      gone.length === 0 ? [] : [{ cursor: gone[0], head: kept.at(-1), lastOfRun: undefined }],
    );
    gone = [...gone, ...fresh];
    await log.close();
    putImage(path, older);
  }
});

test("[L3] [W39] a closed log and two copies of it continue: each resumes shared cursors and its own, and none of the others'", async () => {
  const paths = [newPath(), newPath(), newPath()] as const;
  const [original, ...copies] = paths;
  const before = open(original);
  const shared = await fill(before.log, 30);
  await before.log.close();
  for (const copy of copies) copyFileSync(original, copy);
  const lives = [];
  for (const path of paths) {
    const { log } = open(path);
    lives.push({ log, own: await fill(log, 60, path) });
  }
  for (const { log, own } of lives) {
    expect(log.epoch).toBe(before.log.epoch);
    expect(await resumed(log, [...shared, ...own])).toEqual({ full: 60, lost: [] });
    const foreign = lives.filter((life) => life.log !== log).flatMap((life) => life.own);
    expect(await resumed(log, foreign)).toEqual({ full: 0, lost: foreign.map(() => CHANGED) });
  }
  for (const { log } of lives) await log.close();
});

test.each([
  ["a flipped bit in its -wal", flipBit],
  ["its -wal cut in half", cutInHalf],
])(
  "[L3] a killed log with %s continues from its last intact event, and accepts no cursor of a lost event",
  async (_, damage) => {
    const path = newPath();
    // Once in the epoch's first run, and once in a later one.
    for (const round of ["first", "second"]) {
      const { log } = open(path);
      const began = log.head.seq;
      const cursors = await fill(log, began + 300, round);
      const killed = takeImage(path);
      await log.close();
      putImage(path, damage(killed));
      const again = open(path);
      const { seq } = again.log.head;
      expect(seq).toBeGreaterThan(began);
      expect(seq).toBeLessThan(began + 300);
      const [has, lacks] = [cursors.slice(0, seq - began), cursors.slice(seq - began)];
      for (const at of [seq, began + 600]) {
        await fill(again.log, at, `after ${round}`);
        expect(await resumed(again.log, has)).toEqual({ full: has.length, lost: [] });
        expect(await resumed(again.log, lacks)).toEqual({ full: 0, lost: lacks.map(() => CHANGED) });
      }
      const [cursor, head] = [lacks[0], has.at(-1)];
      expect(again.strays).toEqual([{ cursor, head, lastOfRun: head?.seq }]);
      await again.log.close();
    }
  },
);

test("[L3] a log that is killed and closed in turn resumes every cursor", async () => {
  const path = newPath();
  const cursors: Cursor[] = [];
  for (let round = 0; round < 4; round += 1) {
    const { log, strays } = open(path);
    expect(await resumed(log, cursors)).toEqual({ full: cursors.length, lost: [] });
    cursors.push(...(await fill(log, log.head.seq + 30)));
    const killed = takeImage(path);
    await log.close();
    if (round % 2 === 0) putImage(path, killed);
    expect(strays).toEqual([]);
  }
  expect(new Set(cursors.map(({ run }) => run)).size).toBe(4);
});

test("[L3] a log of the previous format continues: its cursors resume, and those of lost events do not", async () => {
  const path = newPath();
  const before = open(path);
  const cursors = await fill(before.log, 30);
  await before.log.close();
  const db = new DatabaseSync(path);
  db.exec("DROP TABLE run; DROP TABLE slice; PRAGMA user_version = 3");
  db.close();
  const older = takeImage(path);
  expect(cursors.map(formatCursor)).toContain(`${before.log.epoch}-30`);
  const { log } = open(path);
  expect(await resumed(log, cursors)).toEqual({ full: 30, lost: [] });
  const fresh = await fill(log, 60);
  expect(formatCursor(log.head)).toMatch(/^[0-9a-f]{16}-60-[0-9a-f]{8}$/);
  // A cursor that the previous version reported, of an event after the end of the file.
  const gone = { epoch: log.epoch, seq: toSeq(45) };
  expect(await resumed(log, [gone])).toEqual({ full: 0, lost: [CHANGED] });
  await log.close();
  putImage(path, older);
  const again = open(path);
  expect(await resumed(again.log, [...fresh, gone])).toEqual({
    full: 0,
    lost: [...fresh, gone].map(() => CHANGED),
  });
  await again.log.close();
});

test("[L3] runs without stored events are removed from the file, and their cursors are expired", async () => {
  const path = newPath();
  const cursors: Cursor[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { log } = open(path, 20_000);
    cursors.push(...(await fill(log, log.head.seq + 1_500)));
    log.saveCheckpoint(log.head.seq, "", new Uint8Array(8));
    await log.close();
  }
  const { log } = open(path, 20_000);
  expect(log.runs.length).toBe(1);
  expect(await log.read(cursors[0] ?? log.head, 9)).toMatchObject({ lost: { reason: "expired" } });
  expect(await log.read(cursors.at(-1) ?? log.oldest, 9)).toEqual({ kind: "records", records: [] });
  await log.close();
});

test("[L3] whatever is appended, closed, killed and restored, a cursor resumes if and only if the log has its event", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("append" as const) }),
    fc.record({ kind: fc.constantFrom("close" as const, "kill" as const) }),
    fc.record({ kind: fc.constant("set back" as const), to: fc.nat(20) }),
  );
  const totals = { full: 0, lost: 0 };
  await assertReaching(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
      const path = newPath();
      let { log } = open(path);
      const images: Image[] = [takeImage(path)];
      /** The latest text at each cursor that a client may have. */
      const reported = new Map<string, string>();
      let life = 0;
      for (const one of steps) {
        if (one.kind === "append") {
          life += 1;
          for (const { seq, encoded } of await log.append(batchOf(log.head.seq + 1, 2, `life ${life}`)))
            reported.set(formatCursor(log.cursorAt(seq)), encoded.toString());
          images.push(takeImage(path));
        } else {
          const killed = takeImage(path);
          await log.close();
          if (one.kind === "kill") putImage(path, killed);
          const older = images[one.kind === "set back" ? one.to % images.length : -1];
          if (older) putImage(path, older);
          ({ log } = open(path));
        }
        const result = await log.read(log.oldest, 1_000);
        const held = result.kind === "records" ? result.records : [];
        const has = new Set(held.map(({ seq, encoded }) => `${seq} ${encoded}`));
        for (const [text, encoded] of reported) {
          const [epoch = "", seq, run] = text.split("-");
          const at = { epoch: log.epoch, seq: toSeq(Number(seq)), ...(run ? { run: toRun(run) } : {}) };
          expect(epoch).toBe(log.epoch);
          const { kind } = await log.read(at, 1);
          expect(kind, `${text} in a log at ${formatCursor(log.head)}`).toBe(
            has.has(`${seq} ${encoded}`) ? "records" : "lost",
          );
          totals[kind === "lost" ? "lost" : "full"] += 1;
        }
      }
      await log.close();
    }),
    lawRuns(5, 10),
    totals,
    { full: 50, lost: 10 },
  );
});
