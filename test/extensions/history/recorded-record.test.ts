import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { HOUR_MS } from "../../../src/base/lib/time/time.ts";
import { addressOf } from "../../../src/feeds/replay/pair-registry.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";
import { type RestFactory, test } from "../../gateway/http/rest/rest-fixture.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { loadMarket } from "../../tools/evaluate/series.ts";
import { MINUTE_MS, START_MS } from "./flare-records.ts";
import { RawTrades } from "./raw-trades.ts";
import { compareRecords } from "./record-compare.ts";
import { RawMarket, type RawPrice } from "./record-script.ts";

const DAY = "examples/data/2017-11-12.csv.gz";
const DAY_MS = Date.UTC(2017, 10, 12);
/** Hours of the recorded day. BCC rises in the ninth. */
const HOURS = IS_SOAK ? 24 : 10;
const TEN_DAYS = "../shared/data/exchange-1m/2017-11-04_2017-11-14.csv.gz";

/** Returns the closes of minutes with volume, as raw prices at their end. */
function rawCandles(path: string): RawMarket {
  const { startMs, series } = loadMarket(path);
  const prices = new Map<string, readonly RawPrice[]>();
  for (const { pair, close, volume } of series) {
    const all = Array.from(close, (price, minute) => ({ at: startMs + (minute + 1) * MINUTE_MS, price }));
    const traded = all.filter((_, minute) => (volume[minute] ?? 0) > 0);
    prices.set(addressOf("bsc", pair), traded);
  }
  const heard = new Set([...prices.values()].flatMap((all) => all.map(({ at }) => at)));
  return new RawMarket(prices, { isCandle: true, heard: [...heard].sort((a, b) => a - b) });
}

/** Plays candles. Returns the number of flares. */
function compare(path: string, makeRest: RestFactory): Promise<number> {
  const feed = new ReplayFeed({ path, group: "bsc", speed: Number.POSITIVE_INFINITY, clock: systemClock });
  const raw = { note: () => {}, market: () => rawCandles(path), liquidityOf: () => undefined };
  return compareRecords(feed, raw, makeRest);
}

/** Plays a simulated market of this many tokens. Returns the number of flares. */
function compareSimulated(days: number, tokens: number, makeRest: RestFactory): Promise<number> {
  const feed = createSimulatedFeed({
    seed: 2,
    startAtMs: START_MS,
    warmupMs: 0,
    durationMs: days * 24 * 60 * MINUTE_MS,
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
    tokens,
  });
  return compareRecords(feed, new RawTrades(), makeRest);
}

/** Writes the first hours of the recorded day to a file. */
function writeHours(folder: string): string {
  const path = join(folder, "hours.csv");
  const lines = gunzipSync(readFileSync(DAY)).toString().split("\n");
  const isOf = (line: string) => !/^\d/.test(line) || Number(line.split(",")[0]) < DAY_MS + HOURS * HOUR_MS;
  writeFileSync(path, lines.filter(isOf).join("\n"));
  return path;
}

test(`the track record of ${HOURS} recorded hours, with its control, equals a script's result from the raw candles`, async ({
  makeRest,
  onTestFinished,
}) => {
  const flares = await compare(writeHours(newDirectory(onTestFinished)), makeRest);
  expect(flares).toBeGreaterThan(IS_SOAK ? 5 : 2);
});

test("the track record of the ten recorded days equals a script's result from the raw candles", async ({
  makeRest,
  skip,
}) => {
  if (!existsSync(TEN_DAYS)) return skip(`${TEN_DAYS} is not here`);
  if (process.env.FLAREWIRE_LONG !== "1") return skip("FLAREWIRE_LONG=1 plays ten days, for a minute");
  expect(await compare(TEN_DAYS, makeRest)).toBeGreaterThan(100);
}, 900_000);

test("the track record of a simulated market equals a script's result from its trades and pools", async ({
  makeRest,
}) => {
  if (IS_SOAK) expect(await compareSimulated(1 / 6, 72, makeRest)).toBeGreaterThan(20);
  else expect(await compareSimulated(1 / 20, 48, makeRest)).toBeGreaterThan(5);
});

test("the track record of a simulated week equals a script's result from its trades and pools", async ({
  makeRest,
  skip,
}) => {
  if (process.env.FLAREWIRE_LONG !== "1") return skip("FLAREWIRE_LONG=1 plays a week, for minutes");
  expect(await compareSimulated(7, 100, makeRest)).toBeGreaterThan(1_000);
}, 3_600_000);
