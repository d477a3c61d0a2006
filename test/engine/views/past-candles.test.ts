import fc from "fast-check";
import { expect, test } from "vitest";
import { checkpointOf, restoreEngine } from "../../../src/app/data/engine-checkpoints.ts";
import type { Candle } from "../../../src/base/market/index.ts";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import {
  candle,
  candlePath,
  clock,
  createRandom,
  drive,
  MINUTE,
  SECOND,
  START,
  withClocks,
} from "../trend-kit.ts";

const TOKEN = "NEW/USDT";
const exchange = { group: "exchange" } as const;
const CANDLES = candlePath(
  TOKEN,
  130,
  createRandom(7),
  (minute) => 1 + minute / 500,
  undefined,
  exchange,
).filter(
  // Every ninth minute is silent. Silent minutes count as flat.
  ({ openAt }) => (openAt / MINUTE) % 9 !== 4,
);

test("a token with past candles has the same measurements as one that was always followed", () => {
  const moment = START + 100 * MINUTE + 7 * SECOND;
  const isPast = ({ at }: { at: number }) => at <= START + 100 * MINUTE;
  const past = CANDLES.filter(isPast).map((one) => ({ ...one, at: moment }));
  const live = CANDLES.filter((one) => !isPast(one));
  const until = START + 125 * MINUTE;
  const always = new TrendEngine();
  const later = new TrendEngine();
  drive(
    always,
    withClocks(
      CANDLES.filter(({ at }) => at <= until),
      until,
    ),
  );
  drive(later, withClocks([...past, ...live.filter(({ at }) => at <= until)], until));
  const reading = always.readingOf("exchange", TOKEN);
  expect(reading?.terms.some(({ raw }) => raw !== 0)).toBe(true);
  expect(later.readingOf("exchange", TOKEN)).toEqual(reading);
  expect(Object.values(later.rejected).every((count) => count === 0)).toBe(true);
});

test("a past candle is rejected as late after the first live minute has closed, or if its minute is known", () => {
  const engine = new TrendEngine();
  drive(engine, withClocks([candle(START + MINUTE, TOKEN, 1, 1, exchange)], START + MINUTE + SECOND));
  engine.accept({ ...candle(START, TOKEN, 1, 9, exchange), at: START + MINUTE + SECOND });
  expect(engine.rejected.late).toBe(1);
  const other = { ...candle(START, "OTHER/USDT", 1, 2, exchange), at: START + MINUTE + SECOND };
  for (let times = 0; times < 2; times++) engine.accept(other);
  engine.accept(clock(START + MINUTE + 2 * SECOND));
  expect(engine.rejected.late).toBe(2);
});

/** Delivers an outage's candles after it, in two halves that are one second apart. */
function lateMinutes(fromMinute: number, minutes: number, second: number): Candle[] {
  const moment = START + (fromMinute + minutes) * MINUTE + second * SECOND;
  const isLate = ({ at }: Candle) => at > START + fromMinute * MINUTE && at <= moment;
  const isSecondHalf = ({ at }: Candle) => at > START + (fromMinute + minutes / 2) * MINUTE;
  return CANDLES.map((one) =>
    isLate(one) ? { ...one, at: moment + (isSecondHalf(one) ? SECOND : 0) } : one,
  );
}

const ranges = { from: fc.integer({ min: 0, max: 44 }), minutes: fc.integer({ min: 1, max: 40 }) };

test("a token whose candles of an outage arrive later has the same measurements as with candles on time", () => {
  const until = START + 125 * MINUTE;
  const inTime = withClocks(
    CANDLES.filter(({ at }) => at <= until),
    until,
  );
  const always = new TrendEngine();
  // Streaks are not compared: ranks that were served during the outage are not changed later.
  const pricesOf = ({ charts }: Snapshot) => charts.exchange.map(({ streak: _, ...item }) => item);
  const expected = pricesOf(drive(always, inTime));
  expect(expected[0]?.latest_candle_prices.length).toBe(60);
  fc.assert(
    fc.property(ranges.from, ranges.minutes, fc.integer({ min: 6, max: 58 }), (from, minutes, second) => {
      const late = lateMinutes(40 + from, minutes, second).filter(({ at }) => at <= until);
      const events = withClocks(late, until);
      let engine = new TrendEngine();
      const half = Math.floor(events.length * 0.7);
      drive(engine, events.slice(0, half));
      // A restart between the halves changes nothing.
      engine = restoreEngine(checkpointOf(engine));
      const charts = pricesOf(drive(engine, events.slice(half)));
      expect(engine.rejected.late).toBe(0);
      expect(engine.readingOf("exchange", TOKEN)).toEqual(always.readingOf("exchange", TOKEN));
      expect(charts).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});

test("a late candle changes no minute before the token's last known one", () => {
  const engine = new TrendEngine();
  const at = START + 5 * MINUTE + 10 * SECOND;
  drive(engine, withClocks([candle(START + 3 * MINUTE, TOKEN, 1, 1, exchange)], at));
  engine.accept({ ...candle(START + 5 * MINUTE, TOKEN, 1, 2, exchange), at });
  engine.accept({ ...candle(START + 4 * MINUTE, TOKEN, 1, 3, exchange), at });
  expect(engine.rejected.late).toBe(1);
});
