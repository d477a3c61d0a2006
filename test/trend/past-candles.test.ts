import { expect, test } from "vitest";
import { TrendEngine } from "../../src/trend/index.ts";
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
} from "./trend-kit.ts";

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
  // Silent minutes are flat ones.
  ({ openAt }) => (openAt / MINUTE) % 9 !== 4,
);

test("a token with past candles reads as if it had been followed all along", () => {
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

test("a past candle is late after the first closed minute of the present, or if its minute is known", () => {
  const engine = new TrendEngine();
  drive(engine, withClocks([candle(START + MINUTE, TOKEN, 1, 1, exchange)], START + MINUTE + SECOND));
  engine.accept({ ...candle(START, TOKEN, 1, 9, exchange), at: START + MINUTE + SECOND });
  expect(engine.rejected.late).toBe(1);
  const other = { ...candle(START, "OTHER/USDT", 1, 2, exchange), at: START + MINUTE + SECOND };
  for (let times = 0; times < 2; times++) engine.accept(other);
  engine.accept(clock(START + MINUTE + 2 * SECOND));
  expect(engine.rejected.late).toBe(2);
});
