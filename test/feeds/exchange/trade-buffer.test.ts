import { describe, expect, test } from "vitest";
import { LATE_TRADE_MS, TradeBuffer } from "../../../src/feeds/exchange/trade-buffer.ts";
import { tradeAt } from "./scripted-venue.ts";

const T = Date.UTC(2026, 0, 1);
const market = (token: string) => ({ token, venue: "binance", pair: `${token}USDT`, quote: "USDT" }) as const;

/** Puts trades, and returns a function that takes those that are due. */
function held(...trades: readonly (readonly [token: string, id: number, at: number, isPast?: boolean])[]) {
  const buffer = new TradeBuffer();
  for (const [token, id, at, isPast = false] of trades)
    buffer.put(market(token), tradeAt(id, T + at), isPast, T);
  return (beforeMs: number, latestMs = 0) =>
    buffer
      .take(T + beforeMs, T + latestMs)
      .map(({ token, amount, at, tradedAt }) => [`${token}${amount}`, at - T, tradedAt && tradedAt - T]);
}

describe("held trades", () => {
  test("come once they are due, by time, then by pair, then by id", () => {
    const take = held(["B", 2, 5], ["A", 9, 5], ["B", 1, 5], ["A", 8, 4], ["C", 1, 7], ["B", 3, 6]);
    expect(take(4)).toEqual([]);
    expect(take(6).map(([name]) => name)).toEqual(["A8", "A9", "B1", "B2"]);
    expect(take(100).map(([name]) => name)).toEqual(["B3", "C1"]);
    expect(take(100)).toEqual([]);
  });

  test("that are late keep their time up to five seconds, and then are past trades", () => {
    const take = held(["A", 1, 0], ["A", 2, 1]);
    expect(take(10, LATE_TRADE_MS + 1)).toEqual([
      ["A1", LATE_TRADE_MS + 1, 0],
      ["A2", 1, undefined],
    ]);
  });

  test("that the stream had missed are past trades, whenever they come, and never from the future", () => {
    const take = held(["A", 1, 3, true], ["A", 2, 2]);
    expect(take(10, 0)).toEqual([
      ["A2", 2, undefined],
      ["A1", 3, 3],
    ]);
    expect(held(["A", 1, 3, true])(10, 8)).toEqual([["A1", 8, 3]]);
  });

  test("of an exchange whose clock is far ahead get the present as their time", () => {
    expect(held(["A", 1, 1_000], ["A", 2, 1_001])(5_000)).toEqual([
      ["A2", 0, undefined],
      ["A1", 1_000, undefined],
    ]);
  });

  test("are at most 200,000; further ones are dropped and counted", () => {
    const buffer = new TradeBuffer();
    for (let id = 0; id < 200_003; id++) buffer.put(market("A"), tradeAt(id, T), false, T);
    expect(buffer.dropped).toBe(3);
    expect(buffer.take(T + 1, T)).toHaveLength(200_000);
    buffer.put(market("A"), tradeAt(1, T), false, T);
    expect(buffer.dropped).toBe(3);
  });
});
