import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EMPTY_SNAPSHOT, Snapshot } from "../../../src/base/model/index.ts";
import { applyEvent, CHANNELS, EventBody, projectSnapshot } from "../../../src/base/protocol/index.ts";
import { runInProcess } from "./run-in-process.ts";
import { runCli, spawnCli } from "./spawn-cli.ts";

const MINUTES = 240;
const START = Date.UTC(2017, 10, 12);
let directory = "";
let day = "";

/** Candles of eight pairs, each with its own swing, and one pump in the third hour. */
function candles(minutes: number): string {
  const lines = ["time_ms,pair,open,high,low,close,volume"];
  for (let minute = 0; minute < minutes; minute += 1) {
    for (let pair = 0; pair < 8; pair += 1) {
      const price = (at: number) => {
        const pumped =
          pair === 3 && at > 150
            ? 1 + 0.3 * Math.min(1, (at - 150) / 8) * Math.exp(-Math.max(0, at - 165) / 20)
            : 1;
        return (
          0.01 *
          (pair + 1) *
          (1 + 0.002 * Math.sin(at * (0.7 + pair * 0.31)) + 0.001 * Math.sin(at * 2.3)) *
          pumped
        );
      };
      const [open, close] = [price(minute), price(minute + 1)];
      const volume =
        (10 + Math.sin(minute + pair) * 4) * (pair === 3 && minute >= 150 && minute < 170 ? 20 : 1);
      const values = [open, Math.max(open, close), Math.min(open, close), close, volume].map((value) =>
        value.toFixed(8),
      );
      lines.push([START + minute * 60_000, `BTC_T${pair}`, ...values].join(","));
    }
  }
  return `${lines.join("\n")}\n`;
}

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "flarewire-replay-"));
  day = join(directory, "day.csv.gz");
  writeFileSync(day, gzipSync(candles(MINUTES)));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const inDirectory = (name: string) => join(directory, name);
const linesOf = (text: string) => text.split("\n").filter((line) => line !== "");

/** Replays of the day, one for each `--group` and one without, shared by all tests. */
const replays = new Map<string, ReturnType<typeof replayDay>>();
async function replayDay(...group: readonly string[]) {
  const [events, snapshot] = [`${group.join("")}.ndjson`, `${group.join("")}.json`].map(inDirectory);
  const outputs = ["--events", events ?? "", "--snapshot", snapshot ?? ""];
  const { code, stdout, stderr } = await runInProcess(["replay", day, ...group, ...outputs]);
  const [lines = "", state = ""] = [events, snapshot].map((path) => readFileSync(path ?? "", "utf8"));
  return { code, stdout, stderr, lines: linesOf(lines), state };
}
function replayed(...group: readonly string[]) {
  const found = replays.get(group.join()) ?? replayDay(...group);
  replays.set(group.join(), found);
  return found;
}

test("[L4] the same recording gives the same bytes: events and final state", async () => {
  const [events, snapshot] = ["1.ndjson", "1.json"].map(inDirectory);
  const outputs = ["--events", events ?? "", "--snapshot", snapshot ?? ""];
  const { lines, state, ...inProcess } = await replayed();
  const alone = await runCli(["replay", day, ...outputs]);
  for (const { code, stdout, stderr } of [inProcess, alone]) {
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(
      /^1920 market events accepted \(1920 candles\), \d+ events, \d+ flares? in \d+\.\d s\n$/,
    );
  }
  const written = [events, snapshot].map((path) => readFileSync(path ?? "", "utf8"));
  expect(written).toEqual([`${lines.join("\n")}\n`, state]);
  expect(lines.length).toBeGreaterThan(100);
});

test("[L1] the events, applied one by one, give the state at the recording's end", async () => {
  const { code, lines, state } = await replayed("--group", "bsc");
  expect(code).toBe(0);
  const bodies = lines.map((line) => EventBody.parse(JSON.parse(line)));
  const view = bodies.reduce(applyEvent, projectSnapshot(EMPTY_SNAPSHOT, CHANNELS));
  const snapshot = Snapshot.parse(JSON.parse(state));
  expect(view).toEqual(projectSnapshot(snapshot, CHANNELS));
});

test("the start and finish of a flare have its symbol, and the start has its reason", async () => {
  const { lines, stderr } = await replayed("--group", "bsc");
  const flares = lines
    .map((line) => EventBody.parse(JSON.parse(line)))
    .filter(({ name, channel }) => channel === "flares.pro" && /^flare-(started|finished)$/.test(name));
  expect(flares).toMatchObject([
    {
      name: "flare-started",
      data: { flare: { token: { symbol: "BTC_T3" } }, why: { terms: expect.anything() } },
    },
    { name: "flare-finished", data: { flare: { token: { symbol: "BTC_T3" } } } },
  ]);
  expect(stderr).toMatch(/, 1 flare in \d+\.\d s\n$/);
});

test("invalid lines are reported and counted by reason, and the rest is played", async () => {
  const path = inDirectory("flawed.csv");
  writeFileSync(path, `${candles(5)}nonsense\n${START},BTC_T1,1,1,1,x,1\n`);
  const { code, stderr } = await runInProcess(["replay", path]);
  expect(code).toBe(0);
  expect(stderr.split("\n").slice(0, 3)).toEqual([
    "flarewire replay: line 42 skipped (bad-columns): 1 columns, expected 7 (time_ms,pair,open,high,low,close,volume)",
    'flarewire replay: line 43 skipped (bad-number): close "x" is not a decimal number of at most 100 characters',
    expect.stringMatching(
      /^40 market events accepted \(40 candles\), .*; skipped: 1 bad-columns, 1 bad-number$/,
    ),
  ]);
});

const trade = (at: number, more: Record<string, unknown> = {}) => ({
  kind: "trade",
  at: START + at,
  group: "bsc",
  token: "0xbb",
  pool: "0xaa",
  side: "buy",
  price: "0.25",
  amount: "40",
  quoteUsd: "10",
  trader: "0xcc",
  ...more,
});
function recording(name: string, events: readonly unknown[]): string {
  const path = inDirectory(name);
  writeFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  return path;
}

test("[L1] the first events describe the recording's initial state: applied to the empty state, all events give the final one", async () => {
  const first = {
    kind: "listing",
    at: START + 250,
    group: "bsc",
    token: "0xbb",
    pool: "0xaa",
    liquidity: "50000",
  };
  const path = recording("listing.ndjson", [first, trade(500)]);
  const state = inDirectory("listing.json");
  const { code, stdout } = await runInProcess(["replay", path, "--events", "-", "--snapshot", state]);
  expect(code).toBe(0);
  const bodies = linesOf(stdout).map((line) => EventBody.parse(JSON.parse(line)));
  const view = bodies.reduce(applyEvent, projectSnapshot(EMPTY_SNAPSHOT, CHANNELS));
  const snapshot = Snapshot.parse(JSON.parse(readFileSync(state, "utf8")));
  expect(snapshot.newest.bsc).toHaveLength(1);
  expect(view).toEqual(projectSnapshot(snapshot, CHANNELS));
});

test("rejected events are counted by reason, in addition to skipped lines", async () => {
  const path = recording("rejected.ndjson", [
    trade(0),
    trade(100, { token: "not-an-address" }),
    trade(200, { price: "0" }),
    { kind: "nonsense" },
    trade(300),
  ]);
  const { code, stderr } = await runInProcess(["replay", path]);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /\n2 market events accepted \(2 trades\), .* in \d+\.\d s; skipped: 1 bad-event; rejected: 1 token, 1 price\n$/,
  );
});

test("a recording whose market events are all rejected ends with 1 and the reason", async () => {
  const path = recording("wrong.ndjson", [trade(0, { price: "0" }), trade(100, { token: "x" })]);
  const { code, stderr } = await runInProcess(["replay", path]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^0 market events accepted, 0 events, 0 flares in .*; rejected: 1 token, 1 price\nflarewire replay: the recording has no usable market event\n$/,
  );
});

test("of ten lines with the same fault, five are reported, then the total, without control characters", async () => {
  const path = inDirectory("many.csv");
  const bad = Array.from({ length: 9 }, () => `\u001B[2J\u202E,1\n`).join("");
  writeFileSync(path, `${candles(5)}${bad}${START},BTC\u001B[2J\u202E,1\n`);
  const { code, stderr } = await runInProcess(["replay", path]);
  expect(code).toBe(0);
  const reported = stderr.split("\n").filter((line) => line.includes("skipped (bad-columns)"));
  expect(reported).toHaveLength(6);
  expect(reported.at(-1)).toContain("10 in total");
  expect(stderr.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("a truncated recording is played up to the cut; then replay reports the cut and ends with 1", async () => {
  const cut = inDirectory("cut.csv.gz");
  const packed = readFileSync(day);
  writeFileSync(cut, packed.subarray(0, Math.floor(packed.length * 0.7)));
  const { lines: whole } = await replayed();
  const { code, stdout, stderr } = await runInProcess(["replay", cut, "--events", "-"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/candles\), .*\nflarewire replay: .*cut\.csv\.gz.*truncated after line \d+/);
  const lines = linesOf(stdout);
  expect(lines.length).toBeGreaterThan(whole.length / 2);
  // The last second may be incomplete.
  const last = EventBody.parse(JSON.parse(lines.at(-1) ?? "")).observed_at;
  const sure = lines.filter((line) => !line.includes(`"observed_at":"${last}"`));
  expect(whole.slice(0, sure.length)).toEqual(sure);
});

test("a recording without a valid line ends with 1 and the reason", async () => {
  const path = inDirectory("empty.csv");
  writeFileSync(path, "time_ms,pair,open,high,low,close,volume\n");
  const { code, stderr } = await runInProcess(["replay", path]);
  expect(code).toBe(1);
  expect(stderr).toContain("no line of the file is usable");
});

test.skipIf(!existsSync("/dev/full"))("a full disk ends replay with 75 and the file's name", async () => {
  const { code, stderr } = await runInProcess(["replay", day, "--events", "/dev/full"]);
  expect(code).toBe(75);
  expect(stderr).toMatch(/flarewire replay: cannot write \/dev\/full: .*no space left/);
});

test("an output that cannot be created ends replay with 1 and the file's name", async () => {
  const { code, stderr } = await runInProcess(["replay", day, "--events", inDirectory("no/such/place")]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/cannot write .*place: ENOENT/);
});

test("an output never overwrites the recording", async () => {
  const before = readFileSync(day);
  const { code, stderr } = await runInProcess(["replay", day, "--events", day]);
  expect(code).toBe(1);
  expect(stderr).toContain("is used twice");
  expect(readFileSync(day)).toEqual(before);
});

test("when the pipe's reader leaves, replay ends with 0 and prints no error", async () => {
  const long = inDirectory("long.csv.gz");
  writeFileSync(long, gzipSync(candles(1_000)));
  await using cli = spawnCli(["replay", long, "--events", "-"]);
  await cli.said("stdout", "\n");
  cli.child.stdout?.destroy();
  expect(await cli.ended()).toBe(0);
  expect(cli.stderr()).not.toMatch(/EPIPE|rror/);
});
