import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KeyUses, readKeyUses, SAVE_MS } from "../../../src/gateway/keys/index.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

function watched(onTestFinished: Finish) {
  const directory = newDirectory(onTestFinished);
  const file = join(directory, "keys.json");
  const clock = new ManualClock();
  const reports: string[] = [];
  const open = (known: readonly string[]) =>
    new KeyUses({
      ...{ file, clock, isKnown: (id) => known.includes(id) },
      notify: (level, message) => reports.push(`${level} ${message}`),
    });
  return { directory, file, clock, reports, open, stored: `${file}.used` };
}

test("the last use of each key is stored once a minute and at the stop, and survives a restart", ({
  onTestFinished,
}) => {
  const { file, clock, open, stored, reports } = watched(onTestFinished);
  const uses = open(["aaaaaaaa", "bbbbbbbb"]);
  clock.advance(SAVE_MS);
  // No key was used, so nothing is written.
  expect(existsSync(stored)).toBe(false);
  uses.note("aaaaaaaa");
  clock.advance(1_000);
  uses.note("aaaaaaaa");
  uses.note("cccccccc");
  expect(existsSync(stored)).toBe(false);
  clock.advance(SAVE_MS);
  expect(readKeyUses(file)).toEqual({ aaaaaaaa: "2026-01-01T00:01:01.000Z" });
  expect(statSync(stored).mode & 0o777).toBe(0o600);
  const text = readFileSync(stored, "utf8");
  writeFileSync(stored, `${text} `);
  clock.advance(SAVE_MS);
  // No use was added, so the file is not written again.
  expect(readFileSync(stored, "utf8")).toBe(`${text} `);
  uses.stop();
  const again = open(["aaaaaaaa", "bbbbbbbb"]);
  again.note("bbbbbbbb");
  again.stop();
  expect(readKeyUses(file)).toEqual({
    aaaaaaaa: "2026-01-01T00:01:01.000Z",
    bbbbbbbb: "2026-01-01T00:03:01.000Z",
  });
  expect(reports).toEqual([]);
});

test("each failure to store uses is reported once, and a damaged file counts as empty", ({
  onTestFinished,
}) => {
  const { directory, file, clock, open, stored, reports } = watched(onTestFinished);
  writeFileSync(stored, "{ damaged");
  expect(readKeyUses(file)).toEqual({});
  const uses = open(["aaaaaaaa"]);
  rmSync(directory, { recursive: true });
  const useFor = (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      uses.note("aaaaaaaa");
      clock.advance(SAVE_MS);
    }
  };
  useFor(3);
  const failed = "warn cannot save the last-use times of keys";
  expect(reports).toEqual([failed]);
  mkdirSync(directory);
  useFor(1);
  rmSync(directory, { recursive: true });
  useFor(3);
  expect(reports).toEqual([failed, failed]);
  uses.stop();
});

test("a stored use that is not a time is dropped, and the others stay", ({ onTestFinished }) => {
  const { file, clock, open, stored } = watched(onTestFinished);
  const kept = { bbbbbbbb: "2026-01-01T00:00:00.000Z" };
  writeFileSync(stored, JSON.stringify({ aaaaaaaa: "yesterday", ...kept }));
  expect(readKeyUses(file)).toEqual(kept);
  const uses = open(["aaaaaaaa", "bbbbbbbb", "cccccccc"]);
  uses.note("cccccccc");
  clock.advance(SAVE_MS);
  uses.stop();
  expect(readKeyUses(file)).toEqual({ ...kept, cccccccc: "2026-01-01T00:00:00.000Z" });
});
