import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect } from "vitest";
import type { MarketEvent, Trade } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { RecordingManifest } from "../../../src/feeds/recording/manifest.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { IS_SOAK, lawRuns } from "../../support/law-runs.ts";
import { LeapingClock, replay } from "../replay/replay-kit.ts";
import { drain, play, recording, START, scripted, simulated, test } from "./record-kit.ts";

const manifestIn = (directory: string) =>
  RecordingManifest.parse(JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")));
const replayed = (path: string) =>
  new ReplayFeed({ path, speed: Number.POSITIVE_INFINITY, clock: new LeapingClock() });
/** First bytes of a gzip member: magic number and deflate. */
const MEMBER = Buffer.of(0x1f, 0x8b, 8);
const trade = (at: number): Trade => ({
  kind: "trade",
  at,
  group: "bsc",
  pool: "0xa",
  token: "0xb",
  side: "buy",
  price: "1",
  amount: "2",
  quoteUsd: "2",
  trader: "0xc",
});

describe("a recording of the simulated market", () => {
  test("[L4] replays to the same bytes of events and state as the market itself", async ({ directory }) => {
    const { recorder, feed } = recording(simulated(IS_SOAK ? 90 : 70), directory, IS_SOAK ? 50_000 : 30_000);
    const live = await play(feed);
    expect(live.lines.length).toBeGreaterThan(500);
    expect(recorder.parts).toBeGreaterThan(3);
    expect(await play(replayed(recorder.directory))).toEqual(live);
  });

  test("describes itself, and each of its parts can be read alone", async ({ directory }) => {
    const { recorder, feed } = recording(simulated(10), directory, 20_000);
    const events = await drain(feed);
    const manifest = manifestIn(recorder.directory);
    expect(manifest).toMatchObject({ feed: "simulated", origin: "simulated", facts: { trades: true } });
    expect(manifest.parts.every(({ state }) => state === "closed")).toBe(true);
    const texts = manifest.parts.map(({ file }) => gunzipSync(readFileSync(join(recorder.directory, file))));
    const lines = texts.flatMap((text) => text.toString().trimEnd().split("\n").slice(1));
    expect(lines).toEqual(events.map((event) => JSON.stringify(event)));
    expect(manifest.parts.map((part) => part.state === "closed" && part.events)).toEqual(
      texts.map((text) => text.toString().trimEnd().split("\n").length - 1),
    );
    const [, second] = manifest.parts;
    const { events: alone, totals } = await replay(join(recorder.directory, second?.file ?? ""));
    expect([alone.length, totals]).toEqual([second?.state === "closed" && second.events, {}]);
    expect(replayed(recorder.directory)).toMatchObject({ origin: "simulated", facts: { trades: true } });
  });

  test("that is truncated anywhere in its open part replays as a prefix, and is reported as torn", async ({
    directory,
  }) => {
    const { recorder, feed } = recording(simulated(6), directory, 12_000);
    const events = await drain(feed);
    const manifest = manifestIn(recorder.directory);
    const [last] = manifest.parts.slice(-1);
    if (last?.state !== "closed") throw new Error("the last part is closed");
    const path = join(recorder.directory, last.file);
    const whole = readFileSync(path);
    // A cut between two members leaves complete members.
    const memberEnds = new Set<number>();
    for (let at = whole.indexOf(MEMBER, 1); at > 0; at = whole.indexOf(MEMBER, at + 1)) memberEnds.add(at);
    const open = { ...manifest, parts: [...manifest.parts.slice(0, -1), { state: "open", file: last.file }] };
    writeFileSync(join(recorder.directory, "manifest.json"), JSON.stringify(open));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length }), async (length) => {
        writeFileSync(path, whole.subarray(0, length));
        const reported = await replay(recorder.directory);
        expect(reported.error).toBeUndefined();
        expect(reported.events).toEqual(events.slice(0, reported.events.length));
        expect(reported.events.length).toBeGreaterThanOrEqual(events.length - last.events);
        if (length === whole.length) expect(reported.events).toHaveLength(events.length);
        if (reported.totals.torn === undefined)
          expect(length < 18 || length === whole.length || memberEnds.has(length)).toBe(true);
      }),
      { ...lawRuns(7, 10), examples: [[0], [1], [17], [whole.length - 1], [whole.length]] },
    );
    rmSync(path);
    expect((await replay(recorder.directory)).error).toBeUndefined();
  });

  test("is rejected if a closed part is missing or truncated, or the manifest is invalid", async ({
    directory,
  }) => {
    const { recorder, feed } = recording(simulated(2), directory);
    await drain(feed);
    const path = join(recorder.directory, "part-00001.ndjson.gz");
    truncateSync(path, 100);
    expect(() => replayed(recorder.directory)).toThrow(
      /the manifest lists \d+ bytes for this part, but it has 100/,
    );
    rmSync(path);
    expect(() => replayed(recorder.directory)).toThrow("but it is missing");
    writeFileSync(join(recorder.directory, "manifest.json"), '{"kind":"recording-manifest","parts":[]}');
    expect(() => replayed(recorder.directory)).toThrow(/manifest\.json: version: /);
    expect(() => replayed(directory)).toThrow("a directory without manifest.json");
  });

  test("reports damage with the part's file and the line within it", async ({ directory }) => {
    const { recorder, feed } = recording(simulated(10), directory, 20_000);
    await drain(feed);
    const [first, second] = manifestIn(recorder.directory).parts;
    if (first?.state !== "closed" || second?.state !== "closed") throw new Error("both parts are closed");
    const path = join(recorder.directory, second.file);
    const whole = readFileSync(path);
    const start = whole.indexOf(MEMBER, 1);
    writeFileSync(path, whole.fill(0xff, start, start + 10));
    const { error } = await replay(recorder.directory);
    // No line of a chunk that contains damage is read.
    expect(error).toMatchObject({ file: path, line: 0 });
    expect(error).toHaveProperty("reason", expect.stringContaining("damaged after line 0"));
  });
});

test("[L4] clocks are recorded, so that a replay adds none", async ({ directory }) => {
  // Clocks off the whole seconds, a trade too far ahead for the engine, an hour of silence, and an
  // end in mid-second.
  const events: readonly MarketEvent[] = [
    trade(START + 10),
    { kind: "clock", at: START + 950 },
    trade(START + 20_000),
    { kind: "clock", at: START + 1_850 },
    { kind: "clock", at: START + 3_600_123 },
    trade(START + 3_600_200),
  ];
  const { recorder, feed } = recording(scripted(events), directory);
  const live = await play(feed);
  expect((await replay(recorder.directory)).events).toEqual(events);
  expect(await play(replayed(recorder.directory))).toEqual(live);
});

test("an exchange's trades, which have no trader, replay as they were; on a chain, the engine rejects such a trade", async ({
  directory,
}) => {
  const { trader: _, ...anonymous } = { trader: "", ...trade(START + 1_000) };
  const ofExchange = { ...anonymous, group: "exchange", pool: "SOL/USDT", token: "SOL" } as const;
  const events: readonly MarketEvent[] = [
    { kind: "clock", at: START },
    ofExchange,
    { ...ofExchange, tradedAt: START - 60_000 },
    { kind: "clock", at: START + 1_000 },
  ];
  const { recorder, feed } = recording(scripted(events), directory);
  await drain(feed);
  expect((await replay(recorder.directory)).events).toEqual(events);
  const engine = new TrendEngine();
  engine.accept({ kind: "clock", at: START });
  engine.accept(anonymous);
  expect([engine.rejected.malformed, engine.tokenCount]).toEqual([1, 0]);
});

test("two recordings of the same moment get separate directories", async ({ directory }) => {
  const paths = [recording(simulated(1), directory), recording(simulated(1), directory)].map(
    ({ recorder }) => recorder.directory,
  );
  expect(new Set(paths).size).toBe(2);
  expect(readdirSync(directory)).toHaveLength(2);
});
