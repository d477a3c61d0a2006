import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import {
  createHistoryReader,
  type HistoryReader,
  openMinuteStore,
  openSqliteHistoryStore,
} from "../../../src/extensions/history/index.ts";
import { type RunningCli, spawnCli } from "../../app/cli/spawn-cli.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { writePumpedMarket } from "../../support/world/pumped-market.ts";
import { MINUTE_MS } from "./flare-records.ts";

/** A larger number plays the whole recorded day. */
const KILLS = Number(process.env.HISTORY_KILLS ?? 1);
const isWholeDay = KILLS > 5;
const HOURS = isWholeDay ? 24 : 3;
const DAY = "examples/data/2017-11-12";
const START_MS = Date.UTC(2017, 10, 12);
/** End of the last minute. */
const END_MS = START_MS + (HOURS * 60 - 1) * MINUTE_MS;
const LIMITS = { maxAgeMs: 30 * 24 * 60 * MINUTE_MS, maxBytes: 2 ** 30 };

/** Returns the options to serve the market. */
function marketIn(folder: string): readonly string[] {
  if (isWholeDay) return ["--file", `${DAY}.csv.gz`, "--profiles", `${DAY}.profiles.json`];
  return ["--file", writePumpedMarket(join(folder, "recording.csv"), HOURS), "--group", "bsc"];
}

interface Served {
  readonly cli: RunningCli;
  readonly url: string;
}

async function serve(market: readonly string[], data: string): Promise<Served> {
  const pace = ["--no-loop", "--warmup", "0", "--speed", "20000", "--refresh", "10s", "--drain", "0"];
  const cli = spawnCli(["serve", ...market, ...pace, "--port", "0", "--data", data]);
  await cli.said("stdout", "\n");
  return { cli, url: /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "" };
}

/** Resolves when the data of this time is served or, at the end, when the recording is over. */
async function reach({ url }: Served, atMs: number): Promise<void> {
  const look = async () => {
    const { headers } = await fetch(`${url}/api/v1/flares`, { method: "HEAD" });
    const observedMs = Date.parse(headers.get("flarewire-observed-at") ?? "1970-01-01T00:00:00Z");
    const isEnd = atMs === END_MS;
    return observedMs >= atMs && (!isEnd || headers.get("flarewire-source-state") === "stale");
  };
  await expect.poll(look, { interval: 20 }).toBe(true);
}

/**
 * Serves the recording to its end. A process is killed at or after each of these times. Resolves
 * with the HTTP status of every tenth past minute, by its start.
 */
async function playAll(market: readonly string[], data: string, kills: readonly number[]) {
  for (const atMs of kills) {
    const served = await serve(market, data);
    await using cli = served.cli;
    await reach(served, atMs);
    cli.child.kill("SIGKILL");
  }
  const served = await serve(market, data);
  await using cli = served.cli;
  await reach(served, END_MS);
  const statuses = new Map<number, number>();
  for (let atMs = START_MS; atMs < END_MS; atMs += 10 * MINUTE_MS) {
    const { status } = await fetch(`${served.url}/api/v1/flares?at=${new Date(atMs).toISOString()}`);
    statuses.set(atMs, status);
  }
  cli.child.kill("SIGTERM");
  expect(await cli.ended()).toBe(0);
  return statuses;
}

/** Returns the contents of a data directory's history. */
async function readHistory(data: string) {
  const pathOf = (what: string) =>
    join(data, readdirSync(data).find((name) => new RegExp(`^${what}-\\w+\\.sqlite$`).test(name)) ?? "");
  const db = new DatabaseSync(pathOf("history"));
  const rowsOf = (sql: string) => db.prepare(sql).all();
  const flares = rowsOf("SELECT * FROM flare ORDER BY id");
  const starts = rowsOf("SELECT * FROM start ORDER BY id");
  const candles = rowsOf(
    "SELECT market, address, hour_ms, body FROM candle ORDER BY market, address, hour_ms",
  );
  db.close();
  const store = openSqliteHistoryStore(LIMITS, pathOf("history"));
  const minuteStore = openMinuteStore(LIMITS, pathOf("minutes"));
  const reader = createHistoryReader(store, { store: minuteStore });
  const record = await reader.record({ window: "7d", toMs: END_MS });
  const minutes = await readMinutes(reader);
  store.close();
  minuteStore.close();
  return { flares, starts, candles, record, minutes };
}

async function readMinutes(reader: HistoryReader): Promise<ReadonlyMap<number, unknown>> {
  const minutes = new Map<number, unknown>();
  for (let atMs = START_MS; atMs <= END_MS; atMs += MINUTE_MS) {
    const answer = await reader.minute(atMs);
    // Parsed, because a restored state may have its members in another order.
    if (answer.minute) minutes.set(atMs, JSON.parse(answer.snapshot));
  }
  return minutes;
}

test(`a gateway that is killed ${KILLS === 1 ? "once" : `${KILLS} times`} stores the same flares, candles and record as one that is not, and the past minutes that were served`, {
  timeout: 600_000 + KILLS * 30_000,
}, async ({ onTestFinished }) => {
  const directories = Array.from({ length: 3 }, () => newDirectory(onTestFinished));
  const [unbroken = "", killed = "", source = ""] = directories;
  const market = marketIn(source);
  const spacingMs = (END_MS - START_MS) / (KILLS + 1);
  const kills = Array.from({ length: KILLS }, (_, index) => Math.round(START_MS + (index + 1) * spacingMs));
  const [, statuses] = await Promise.all([playAll(market, unbroken, []), playAll(market, killed, kills)]);
  const [expected, actual] = [await readHistory(unbroken), await readHistory(killed)];
  expect(expected.record.all.flares).toBeGreaterThan(0);
  expect(expected.candles.length).toBeGreaterThan(0);
  const { minutes: all, ...history } = expected;
  const { minutes, ...same } = actual;
  expect(same).toEqual(history);
  // At this speed, up to 32 minutes wait to be compressed when a process is killed.
  expect(minutes.size).toBeGreaterThan(all.size - 40 * KILLS);
  for (const [atMs, snapshot] of minutes) expect(snapshot).toEqual(all.get(atMs));
  for (const [atMs, status] of statuses)
    expect(status, new Date(atMs).toISOString()).toBe(minutes.has(atMs) ? 200 : 410);
});
