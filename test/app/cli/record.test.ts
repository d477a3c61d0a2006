import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";
import { checkedFetch } from "../../support/expect/validate-response.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { runInProcess } from "./run-in-process.ts";
import { serveInProcess } from "./shell-in-process.ts";
import { spawnCli, spawnCommand } from "./spawn-cli.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-record-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const at = (name: string) => join(directory, name);

async function read(path: string): Promise<readonly MarketEvent[]> {
  const events: MarketEvent[] = [];
  const feed = new ReplayFeed({ path, speed: Number.POSITIVE_INFINITY, clock: systemClock });
  for await (const event of feed.events(new AbortController().signal)) events.push(event);
  return events;
}

test("record writes a span of the simulated market, which replay plays", async () => {
  const flags = ["--warmup", "0", "--speed", "max", "--for", IS_SOAK ? "5m" : "2m"];
  const { code, stdout, stderr } = await runInProcess(["record", at("span"), ...flags]);
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^recorded \d+ market events in 1 part, \d+ bytes: /),
  ]);
  const events = await read(stdout.trim());
  const first = events[0]?.at ?? 0;
  const same = createSimulatedFeed({
    seed: 3,
    startAtMs: first,
    warmupMs: 0,
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
  });
  const expected: MarketEvent[] = [];
  for await (const event of same.events(new AbortController().signal)) {
    if (expected.push(event) === events.length) break;
  }
  expect(events.at(-1)?.at).toBeGreaterThanOrEqual(first + (IS_SOAK ? 5 : 2) * 60_000);
  expect(events.slice(0, 1_000)).toEqual(expected.slice(0, 1_000));
  const played = await runInProcess(["replay", stdout.trim(), "--snapshot", "-"]);
  expect([played.code, played.stderr]).toEqual([0, expect.not.stringMatching(/skipped|rejected/)]);
});

test("the recording of a killed process has the first events without a gap, and replay plays it", async () => {
  await using cli = spawnCli([
    "record",
    at("killed"),
    "--feed",
    "replay",
    "--speed",
    "4000",
    "--no-loop",
    "--warmup",
    "1h",
  ]);
  await cli.said("stdout", "\n");
  const path = cli.stdout().trim();
  const part = join(path, "part-00001.ndjson.gz");
  while (!(existsSync(part) && statSync(part).size > 60_000) && cli.child.exitCode === null)
    await systemClock.sleep(20, new AbortController().signal);
  cli.child.kill("SIGKILL");
  await cli.ended();
  const events = await read(path);
  const whole = new ReplayFeed({
    path: new URL("../../../examples/data/2017-11-12.csv.gz", import.meta.url).pathname,
    profilesPath: new URL("../../../examples/data/2017-11-12.profiles.json", import.meta.url).pathname,
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
  });
  const expected: MarketEvent[] = [];
  for await (const event of whole.events(new AbortController().signal)) {
    if (expected.push(event) === events.length) break;
  }
  expect(events.length).toBeGreaterThan(1_000);
  expect(events).toEqual(expected);
  const { code } = await runInProcess(["replay", path]);
  expect(code).toBe(0);
});

test("a full disk ends record with 75, and the recording so far is intact", async () => {
  // A file size limit simulates a full disk: writes beyond it fail.
  const command = `ulimit -f 200; exec "${process.execPath}" "${process.env.BUNDLED_PROGRAM ?? "src/main.ts"}" record "${at("full")}" --warmup 0 --speed max`;
  await using cli = spawnCommand("bash", ["-c", command]);
  expect(await cli.ended()).toBe(75);
  expect(cli.stderr()).toMatch(/recording into \S+ failed: EFBIG.*; \d+ events up to \S+ were saved/);
  const recorded = Number(/(\d+) events/.exec(cli.stderr())?.[1]);
  expect(await read(cli.stdout().trim())).toHaveLength(recorded);
});

test("an invalid directory or duration is rejected with the reason", async () => {
  expect((await runInProcess(["record"])).stderr).toContain("argument DIRECTORY is missing");
  expect((await runInProcess(["record", "none"])).stderr).toContain(
    "must be the path of a directory, got none",
  );
  expect((await runInProcess(["record", at("x"), "--for", "soon"])).stderr).toContain("for example 10m");
  const { code, stderr } = await runInProcess(["record", "/dev/null/x"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("cannot record into /dev/null/x")]);
});

test("[L4] a replay of a server's recording gives the events that it served", async () => {
  const warmup = IS_SOAK ? "10m" : "3m";
  const served = ["--port", "0", "--record", at("served"), "--warmup", warmup, "--speed", "60"];
  const { url, stop } = await serveInProcess(served);
  const first = async () => (await checkedFetch(`${url}/api/v1/events?after=oldest&limit=1`)).json;
  await expect.poll(first).toHaveProperty("events.0");
  const { json } = await checkedFetch(`${url}/api/v1/snapshot`);
  const { events } = (await checkedFetch(`${url}/api/v1/events?after=oldest&limit=1000`)).json as {
    events: readonly Record<string, unknown>[];
  };
  await stop();
  const [name = ""] = readdirSync(at("served"));
  const directory = join(at("served"), name);
  const replayed = await runInProcess(["replay", directory, "--events", "-"]);
  expect(replayed.code).toBe(0);
  const reported = replayed.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const bare = ({ name, channel, observed_at, data }: Record<string, unknown>) =>
    JSON.stringify({ name, channel, observed_at, data });
  const lines = new Set(reported.map(bare));
  expect(events.length).toBeGreaterThan(0);
  expect(events.filter((event) => !lines.has(bare(event)))).toEqual([]);
  expect(json).toHaveProperty("charts");
  expect(JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")).parts[0].state).toBe("closed");
});
