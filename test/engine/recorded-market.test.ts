import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Candle, MarketEvent } from "../../src/base/market/index.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { drive, MINUTE, SECOND } from "./trend-kit.ts";

const FILE = fileURLToPath(
  new URL("../../../shared/data/exchange-1m/2017-11-04_2017-11-14.csv.gz", import.meta.url),
);
const FACTS = { trades: false, liquidity: false, listings: false, profiles: false };

const addressOf = (pair: string) => `0x${Buffer.from(pair).toString("hex")}`;
const BCC = addressOf("BTC_BCC");

/**
 * Returns the recording's candles from a time on, with a clock at each minute, and each second if
 * `everySecond`.
 */
function eventsFrom(fromMs: number, untilMs: number): MarketEvent[] {
  const lines = gunzipSync(readFileSync(FILE)).toString().split("\n").slice(1);
  const events: MarketEvent[] = [];
  let clockMs = 0;
  for (const line of lines) {
    const [time, pair, open, high, low, close, volume] = line.split(",");
    const openAt = Number(time);
    if (!pair || !open || !high || !low || !close || !volume || openAt < fromMs || openAt >= untilMs)
      continue;
    for (clockMs ||= openAt; clockMs < openAt + MINUTE; clockMs += 30 * SECOND)
      events.push({ kind: "clock", at: clockMs });
    const candle: Candle = {
      kind: "candle",
      at: openAt + MINUTE,
      group: "bsc",
      token: addressOf(pair),
      openAt,
      open,
      high,
      low,
      close,
      volume,
    };
    events.push(candle);
  }
  events.push({ kind: "clock", at: clockMs });
  return events;
}

/** Returns the starts of all flares with their tokens. */
function startsOf(events: readonly MarketEvent[]): { readonly token: string; readonly at: number }[] {
  const seen = new Map<string, { token: string; at: number }>();
  const engine = new TrendEngine({ facts: FACTS });
  drive(engine, events, ({ flares }) => {
    for (const { id, token, started_trending_at } of flares.pro) {
      if (!seen.has(id)) seen.set(id, { token: token.address, at: Date.parse(started_trending_at) });
    }
  });
  expect(Object.values(engine.rejected).reduce((sum, count) => sum + count, 0)).toBe(0);
  return [...seen.values()];
}

const [BURST_FROM, BURST_UNTIL] = [Date.UTC(2017, 10, 12, 8, 21), Date.UTC(2017, 10, 12, 8, 35)];
const isBurst = ({ token, at }: { token: string; at: number }) =>
  token === BCC && at >= BURST_FROM && at <= BURST_UNTIL;

test.skipIf(!existsSync(FILE))(
  "BCC's burst of 12 November in the recording starts a flare, also in an engine that has only that day [needs the recording]",
  () => {
    const day = Date.UTC(2017, 10, 12);
    expect(startsOf(eventsFrom(day, day + 12 * 60 * MINUTE)).filter(isBurst)).toHaveLength(1);
  },
);

test.skipIf(!existsSync(FILE))(
  "in the recording, each pair has about one flare in two days, and few start when the whole market moves [needs the recording]",
  () => {
    // The move of the whole market is on 8 November. The day before fills the baselines.
    const from = IS_SOAK ? 0 : Date.UTC(2017, 10, 7);
    const events = eventsFrom(from, IS_SOAK ? Number.POSITIVE_INFINITY : Date.UTC(2017, 10, 9));
    const starts = startsOf(events);
    if (IS_SOAK) expect(starts.filter(isBurst)).toHaveLength(1);
    const pairDays = events.filter(({ kind }) => kind === "candle").length / 1_440;
    expect(starts.length / pairDays).toBeGreaterThan(0.3);
    expect(starts.length / pairDays).toBeLessThan(0.65);
    const wide = Date.UTC(2017, 10, 8, 18, 20);
    expect(starts.filter(({ at }) => at >= wide && at < wide + 20 * MINUTE).length).toBeLessThanOrEqual(2);
  },
);
