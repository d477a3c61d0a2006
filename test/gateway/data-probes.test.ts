import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect } from "vitest";
import { createConfig, type GivenSettings } from "../../src/config/config.ts";
import { runProbe } from "../../src/feed/index.ts";
import { dataProbes } from "../../src/gateway/persistence/data-probes.ts";
import { storedPath } from "../../src/gateway/persistence/persistence.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { openLogFile } from "../../src/log/index.ts";
import { spawnCli } from "../cli/spawn-cli.ts";

const test = base.extend<{ directory: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  directory: async ({}, use) => {
    const directory = mkdtempSync(join(tmpdir(), "flarewire-data-probes-"));
    await use(directory);
    rmSync(directory, { recursive: true, force: true });
  },
});

/** What the probes find in this directory, by subject. */
async function findingsOf(data: string, settings: GivenSettings = {}) {
  const { signal } = new AbortController();
  const probes = dataProbes(createConfig({ data, ...settings }));
  const found = await Promise.all(probes.map((probe) => runProbe(probe, systemClock, signal)));
  return Object.fromEntries(
    found.map(({ what, works, isNeeded, detail }) => [what, { works, isNeeded, detail }]),
  );
}

function logIn(data: string) {
  const path = storedPath({ config: createConfig({ data }) }, "events");
  const open = () => openLogFile({ path, nowMs: 0, onSetAside: () => undefined });
  return { path, open };
}

test("of a missing directory the one above it is judged, and nothing is created", async ({ directory }) => {
  const found = await findingsOf(join(directory, "a", "b"));
  expect(found.directory).toEqual({ works: true, isNeeded: true, detail: "will be created" });
  expect(found.space?.detail).toMatch(/^\d+ MiB free$/);
  expect(found.log?.detail).toBe("none of this market yet");
  expect(readdirSync(directory)).toEqual([]);
  const inFile = join(directory, "file");
  writeFileSync(inFile, "");
  expect((await findingsOf(join(inFile, "data"))).directory).toEqual({
    ...{ works: false, isNeeded: true },
    detail: `cannot be used, because of ${inFile}: not a directory`,
  });
});

test("too little free space for the log is reported, but is no fault", async ({ directory }) => {
  const { space } = await findingsOf(directory, { logBytes: "1024GiB" });
  const { bavail, bsize } = statfsSync(directory);
  const hasRoom = bavail * bsize >= 1_024 ** 4;
  const detail = hasRoom ? / MiB free$/ : / MiB free, less than logBytes, 1048576 MiB: make room$/;
  expect(space).toEqual({ works: hasRoom, isNeeded: false, detail: expect.stringMatching(detail) });
});

test("a log that was closed is read and left as it is; an open one is not read", async ({ directory }) => {
  const { path, open } = logIn(directory);
  const file = open();
  expect((await findingsOf(directory)).log).toMatchObject({
    ...{ works: true, detail: "open, or not closed in order; not checked" },
  });
  file.close();
  const files = readdirSync(directory);
  expect((await findingsOf(directory)).log?.detail).toMatch(/^events-\w+\.sqlite is intact$/);
  expect(readdirSync(directory)).toEqual(files);
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test.runIf(process.platform === "linux")(
  "a log that another process uses is reported with its pid, but is no fault",
  async ({ directory }) => {
    await using server = spawnCli(["serve", "--port", "0", "--warmup", "0", "--data", directory]);
    await server.said("stdout", /serves http.*\n/);
    const { lock, log } = await findingsOf(directory);
    const detail = `in use by another process (pid ${server.child.pid}); only one may use the directory`;
    expect(lock).toEqual({ works: false, isNeeded: false, detail });
    expect(log?.works).toBe(true);
  },
);

test("a damaged log fails, with what serve would do", async ({ directory }) => {
  const { path } = logIn(directory);
  writeFileSync(path, "no database, but a text that is long enough to look like one ".repeat(100));
  expect((await findingsOf(directory)).log).toEqual({
    ...{ works: false, isNeeded: true },
    detail: expect.stringMatching(
      /^events-\w+\.sqlite is damaged \(.+\): serve would move it aside and start a new log$/,
    ),
  });
});
