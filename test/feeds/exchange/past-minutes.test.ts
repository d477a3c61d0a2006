import { expect, test } from "vitest";
import { PastMinutes } from "../../../src/feeds/exchange/past-minutes.ts";
import { candle, MINUTE, START } from "../../engine/trend-kit.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

const at = (minute: number) => START + minute * MINUTE;
const createPast = () =>
  new PastMinutes({
    clock: new ManualClock(START),
    signal: new AbortController().signal,
    notify: () => undefined,
  });
const openTimes = (past: PastMinutes, now: number) =>
  past.take(now).map(({ openAt }) => (openAt - START) / MINUTE);

test("past and present are emitted together once the past is known, in order and each minute once", () => {
  const past = createPast();
  past.hold("A/USDT");
  past.add(candle(at(9), "A/USDT", 1, 2));
  for (const minute of [3, 2, 9]) past.add(candle(at(minute), "A/USDT", 5, 6));
  expect(past.take(at(10))).toEqual([]);
  past.release("A/USDT");
  const candles = past.take(at(10) + 1_000);
  expect(candles.map(({ openAt }) => (openAt - START) / MINUTE)).toEqual([1, 2, 8]);
  expect(new Set(candles.map((one) => one.at))).toEqual(new Set([at(10) + 1_000]));
  expect(candles.at(-1)?.close).toBe(candle(at(9), "A/USDT", 1, 2).close);
});

test("in each round, a token that two requests hold back is released by the second", () => {
  const past = createPast();
  for (const round of [1, 2]) {
    for (const _ of [1, 2]) past.hold("A/USDT");
    past.add(candle(at(round + 1), "A/USDT", 1, 2));
    past.release("A/USDT");
    expect(openTimes(past, at(9))).toEqual([]);
    past.release("A/USDT");
    expect(openTimes(past, at(9))).toEqual([round]);
    expect([past.has("A/USDT"), openTimes(past, at(9))]).toEqual([false, []]);
  }
});

test("a token whose past is unavailable is released too, and one that was not held is unchanged", () => {
  const past = createPast();
  past.hold("A/USDT");
  past.add(candle(at(1), "B/USDT", 1, 1));
  past.release("A/USDT");
  past.release("B/USDT");
  expect(past.has("A/USDT")).toBe(true);
  expect(openTimes(past, at(2))).toEqual([]);
  expect([past.has("A/USDT"), past.has("B/USDT")]).toEqual([false, false]);
});

test("a request that takes longer than two minutes is reported and no longer holds its token back", async () => {
  const clock = new ManualClock(START);
  const notices: string[] = [];
  const notify = (level: string, words: string) => notices.push(`${level} ${words}`);
  const past = new PastMinutes({ clock, signal: new AbortController().signal, notify });
  const follower = { name: "binance", fill: () => new Promise<number>(() => {}) } as const;
  const market = { token: "A", venue: "binance", pair: "AUSDT", quote: "USDT" } as const;
  past.request(follower, [market], { fromMs: at(0), toMs: at(5) }, () => true);
  const filled = past.filled();
  clock.advance(2 * MINUTE);
  await filled;
  expect(notices).toEqual([
    "warn requested 5 past minutes of 1 markets on binance and received not all within 120 s",
  ]);
  expect(openTimes(past, at(7))).toEqual([]);
  expect(past.has("A")).toBe(false);
});
