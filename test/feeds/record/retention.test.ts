import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { makeRoom } from "../../../src/feeds/record/make-room.ts";
import { recordFeed } from "../../../src/feeds/record/record-feed.ts";
import { Recorder } from "../../../src/feeds/record/recorder.ts";
import { type RecordingManifest, readRecordingDirectory } from "../../../src/feeds/recording/manifest.ts";
import { LeapingClock, replay } from "../replay/replay-kit.ts";
import { drain, simulated, test } from "./record-kit.ts";

const MAX_BYTES = 200_000;

function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".gz"))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

function recorderIn(directory: string, maxBytes?: number, clock = new LeapingClock()): Recorder {
  const bound = maxBytes === undefined ? {} : { maxBytes };
  const feed = simulated(0);
  return new Recorder({
    directory,
    feed,
    clock,
    memberChars: 10_000,
    partBytes: 20_000,
    ...bound,
  });
}

/**
 * Records this many minutes of the simulated market. Returns the events, and the maximum size of
 * all recordings.
 */
async function recordInto(directory: string, minutes: number, maxBytes?: number, clock?: LeapingClock) {
  const recorder = recorderIn(directory, maxBytes, clock);
  const failures: Error[] = [];
  const feed = recordFeed(simulated(minutes), recorder, (error) => failures.push(error));
  let most = 0;
  let parts = 0;
  const events = [];
  for await (const event of feed.events(new AbortController().signal)) {
    events.push(event);
    if (recorder.parts === parts) continue;
    parts = recorder.parts;
    most = Math.max(most, sizeOf(directory));
  }
  return { recorder, events, failures, most: Math.max(most, sizeOf(directory)) };
}

const filesOf = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.startsWith("part-"))
    .toSorted();
const named = (directory: string) => readRecordingDirectory(directory).manifest.parts.map(({ file }) => file);

/** Creates an earlier recording. If `isKilled`, its last part is still open. */
async function olderIn(directory: string, name: string, isKilled: boolean): Promise<string> {
  const { recorder } = await recordInto(join(directory, "elsewhere"), 12);
  const path = join(directory, name);
  mkdirSync(path);
  const { manifest } = readRecordingDirectory(recorder.directory);
  for (const file of filesOf(recorder.directory))
    writeFileSync(join(path, file), readFileSync(join(recorder.directory, file)));
  const open = { state: "open", file: manifest.parts.at(-1)?.file ?? "" } as const;
  const parts: RecordingManifest["parts"] = isKilled
    ? [...manifest.parts.slice(0, -1), open]
    : manifest.parts;
  writeFileSync(join(path, "manifest.json"), JSON.stringify({ ...manifest, parts }));
  rmSync(join(directory, "elsewhere"), { recursive: true });
  return path;
}

describe("a recording with a bound", () => {
  test("stays within it by removing its oldest parts; the latest events are left", async ({ directory }) => {
    const { recorder, events, failures, most } = await recordInto(directory, 45, MAX_BYTES);
    expect(failures).toEqual([]);
    expect(most).toBeLessThanOrEqual(MAX_BYTES);
    expect(most).toBeGreaterThan(MAX_BYTES / 2);
    expect(named(recorder.directory)).toEqual(filesOf(recorder.directory));
    expect(named(recorder.directory)).not.toContain("part-00001.ndjson.gz");
    expect(recorder.bytes).toBe(sizeOf(directory));
    const reported = await replay(recorder.directory);
    expect(reported.error).toBeUndefined();
    expect(reported.totals).toEqual({});
    expect(reported.events.length).toBeGreaterThan(500);
    expect(reported.events).toEqual(events.slice(-reported.events.length));
  });

  test("stays within it even if the clock is set back before each run", async ({ directory }) => {
    for (let run = 0; run < 5; run++) {
      const clock = new LeapingClock();
      clock.wall -= run * 86_400_000;
      const { failures, most } = await recordInto(directory, 12, 65_536, clock);
      expect(failures).toEqual([]);
      expect(most).toBeLessThanOrEqual(65_536);
    }
  });

  test("removes parts of other runs first, even of a killed one; foreign directories and renamed recordings stay", async ({
    directory,
  }) => {
    const first = await olderIn(directory, "2020-01-01T000000.000Z", true);
    const second = await olderIn(directory, "2020-01-02T000000.000Z", false);
    const renamed = await olderIn(directory, "2019-12-24 keep", false);
    mkdirSync(join(directory, "2019 holidays"));
    writeFileSync(join(directory, "2019 holidays", "part-00001.ndjson.gz"), "mine");
    writeFileSync(join(directory, "notes.txt"), "mine");
    const kept = sizeOf(second);
    const others = sizeOf(renamed);
    const { recorder, failures } = await recordInto(directory, 8, sizeOf(directory) - others);
    expect(failures).toEqual([]);
    expect(existsSync(first) ? named(first).length : 0).toBeLessThan(
      readRecordingDirectory(second).parts.length,
    );
    expect(sizeOf(second)).toBe(kept);
    expect(named(recorder.directory)[0]).toBe("part-00001.ndjson.gz");
    const last = await recordInto(directory, 30, MAX_BYTES);
    expect(last.failures).toEqual([]);
    expect(existsSync(first) || existsSync(second)).toBe(false);
    expect(sizeOf(renamed)).toBe(others);
    expect(readFileSync(join(directory, "2019 holidays", "part-00001.ndjson.gz"), "utf8")).toBe("mine");
    expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("mine");
  });

  test("is consistent after each step of a removal, even if the process is killed, and leftovers are removed the next time", async ({
    directory,
  }) => {
    const older = await olderIn(directory, "2020-01-01T000000.000Z", true);
    const own = { name: "2021", bytes: 0, parts: { next: undefined, drop: () => undefined } };
    const files = filesOf(older);
    expect(files.length).toBeGreaterThan(3);
    for (let removed = 0; removed < files.length; removed++) {
      // Killed between the manifest and the file: the file still exists without a manifest entry.
      const [file = ""] = named(older);
      const bytes = readFileSync(join(older, file));
      makeRoom(directory, own, sizeOf(older) - 1);
      if (removed + 1 === files.length) break;
      writeFileSync(join(older, file), bytes);
      expect(named(older)).toEqual(files.slice(removed + 1));
      expect((await replay(older)).error).toBeUndefined();
      makeRoom(directory, own, Number.MAX_SAFE_INTEGER);
      expect(filesOf(older)).toEqual(files.slice(removed + 1));
    }
    expect(existsSync(older)).toBe(false);
  });

  test("that cannot be met ends the recording; its events are complete up to then", async ({ directory }) => {
    const older = await olderIn(directory, "2020-01-01T000000.000Z", false);
    const [oldest = ""] = named(older);
    rmSync(join(older, oldest));
    mkdirSync(join(older, oldest));
    const { recorder, events, failures } = await recordInto(directory, 30, MAX_BYTES);
    expect(failures.join()).toMatch(/failed: .*(EISDIR|directory).*were saved/);
    const reported = await replay(recorder.directory);
    expect(reported.error).toBeUndefined();
    expect(reported.events).toEqual(events.slice(0, reported.events.length));
  });

  test("has none by default: nothing is removed", async ({ directory }) => {
    const older = await olderIn(directory, "2020-01-01T000000.000Z", false);
    const { recorder } = await recordInto(directory, 20);
    expect(filesOf(older)).toEqual(named(older));
    expect(named(recorder.directory)[0]).toBe("part-00001.ndjson.gz");
    expect(await drain(simulated(20))).toEqual((await replay(recorder.directory)).events);
  });
});
