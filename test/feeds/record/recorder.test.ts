import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, vi } from "vitest";
import type { RecorderOptions } from "../../../src/feeds/record/recorder.ts";
import { Recorder } from "../../../src/feeds/record/recorder.ts";
import { readRecordingDirectory } from "../../../src/feeds/recording/manifest.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test as base } from "../../support/time/still-running.ts";
import { until } from "../exchange/scripted-venue.ts";
import { LeapingClock } from "../replay/replay-kit.ts";
import { drain, START, simulated } from "./record-kit.ts";

const test = base.extend<{ directory: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern
  directory: async ({}, use) => {
    const directory = mkdtempSync(join(tmpdir(), "flarewire-recorder-"));
    await use(directory);
    rmSync(directory, { recursive: true });
  },
});

/** Creates a recorder with a manual clock. */
function recorderIn(directory: string, options: Partial<RecorderOptions> = {}) {
  const clock = new ManualClock();
  const recorder = new Recorder({ directory, feed: simulated(0), clock, ...options });
  const write = (second: number) => recorder.write({ kind: "clock", at: START + second * 1_000 });
  const states = () => readRecordingDirectory(recorder.directory).manifest.parts.map(({ state }) => state);
  const written = (events: number) => until(`${events} events are written`, () => recorder.events === events);
  const partsAre = (...expected: readonly string[]) =>
    until(`its parts are ${expected}`, () => states().join() === expected.join());
  return { clock, recorder, write, states, written, partsAre };
}

describe("a recorder", () => {
  test("makes its writer wait while more than eight members wait for the disk", async ({ directory }) => {
    const { recorder, write } = recorderIn(directory, { memberChars: 1 });
    for (const round of [0, 1]) {
      for (let second = 1; second <= 8; second++) expect(write(10 * round + second)).toBeUndefined();
      const room = write(10 * round + 9);
      expect(room).toBeInstanceOf(Promise);
      await room;
      expect(recorder.events).toBe(9 * (round + 1));
    }
    await recorder.close();
  });

  test("writes buffered events every second, and closes each part at its maximum age", async ({
    directory,
  }) => {
    const { clock, recorder, write, states, written, partsAre } = recorderIn(directory, { partMs: 60_000 });
    for (const round of [0, 1]) {
      const closed = Array(round).fill("closed");
      await write(100 * round);
      clock.advance(999);
      expect(recorder.events).toBe(3 * round);
      clock.advance(1);
      await written(3 * round + 1);
      await write(100 * round + 1);
      clock.advance(59_999);
      await written(3 * round + 2);
      await partsAre(...closed, "open");
      await write(100 * round + 2);
      clock.advance(1);
      await written(3 * round + 3);
      await partsAre(...closed, "closed");
    }
    await recorder.close();
    expect(states()).toEqual(["closed", "closed"]);
  });

  test("syncs a part to disk before the manifest lists it as closed", async ({ directory }) => {
    const { recorder, write, states } = recorderIn(directory, { memberChars: 1, partBytes: 1 });
    const probe = await open(join(directory, "probe"), "w");
    await probe.close();
    const synced: (string | undefined)[] = [];
    const spy = vi.spyOn(Object.getPrototypeOf(probe), "datasync").mockImplementation(async () => {
      synced.push(states().at(-1));
    });
    try {
      for (const second of [1, 2, 3]) await write(second);
      await recorder.close();
    } finally {
      spy.mockRestore();
    }
    expect(synced).toEqual(["open", "open", "open"]);
    expect(states()).toEqual(["closed", "closed", "closed"]);
  });

  test("ignores events after it is closed, and has no timer", async ({ directory }) => {
    const { clock, recorder, write, states } = recorderIn(directory);
    await write(1);
    await recorder.close();
    await write(2);
    clock.advance(10_000);
    await recorder.close();
    expect([recorder.events, states()]).toEqual([1, ["closed"]]);
  });

  test("whose write fails halfway saves what came before, and replays it after it is closed", async ({
    directory,
  }) => {
    const probe = await open(join(directory, "probe"), "w");
    const handles: { write: (...given: readonly unknown[]) => Promise<unknown> } =
      Object.getPrototypeOf(probe);
    const realWrite = handles.write;
    await probe.close();
    const { clock, recorder, written } = recorderIn(directory);
    const write = (second: number) => {
      const at = START + second * 1_000;
      return recorder.write({ kind: "profile", at, group: "exchange", token: `T${second}`, symbol: "T" });
    };
    await write(1);
    await write(2);
    clock.advance(1_000);
    await written(2);
    let writes = 0;
    // A disk that becomes full takes some bytes, then none, and later has room again.
    const failing = vi.spyOn(handles, "write").mockImplementation(async function (this: unknown, ...given) {
      writes += 1;
      if (writes === 2) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
      const [bytes, at, length, place] = given;
      return await realWrite.call(this, bytes, at, writes === 1 ? 5 : length, place);
    });
    // Both wait for the disk when it fails.
    for (const second of [3, 4]) {
      await write(second);
      clock.advance(1_000);
    }
    await until("the failure is noticed", () => recorder.failure !== undefined);
    await write(5);
    clock.advance(1_000);
    await recorder.close();
    failing.mockRestore();
    expect(recorder.failure?.message).toMatch(
      /no space left on device; 2 events up to .*:02\.000Z were saved$/,
    );
    expect(recorder.events).toBe(2);
    const skipped: string[] = [];
    const feed = new ReplayFeed({
      ...{ path: recorder.directory, speed: Number.POSITIVE_INFINITY, clock: new LeapingClock() },
      onSkipped: (reason) => skipped.push(reason),
    });
    const replayed = (await drain(feed)).flatMap((event) => (event.kind === "profile" ? [event.token] : []));
    expect(replayed).toEqual(["T1", "T2"]);
    expect(skipped).toEqual([]);
  });
});
