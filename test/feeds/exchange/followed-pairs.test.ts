import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CandleBuffer } from "../../../src/feeds/exchange/candle-buffer.ts";
import { choosePairs, type FollowedPair, type Listing } from "../../../src/feeds/exchange/choose-pairs.ts";
import type { MinuteCandle } from "../../../src/feeds/exchange/venue.ts";

const CHOICE = { quotes: ["USDT", "USDC"], minVolume: 1_000, maxTokens: 100 };
const NONE: ReadonlyMap<string, FollowedPair> = new Map();

function listing(venue: Listing["venue"], markets: Readonly<Record<string, number>>): Listing {
  const pairs = Object.keys(markets).map((pair) => {
    const [base = "", quote = ""] = pair.split("/");
    return { pair, base, quote };
  });
  return { venue, pairs, volumes: new Map(Object.entries(markets)) };
}
const chosen = (...args: Parameters<typeof choosePairs>) =>
  [...choosePairs(...args).values()].map(({ token, venue, pair }) => `${token} ${venue} ${pair}`);

describe("the followed markets", () => {
  test("contain each token once: on Binance if it lists the token with enough volume, whatever other exchanges report", () => {
    const binance = listing("binance", {
      "AAA/USDT": 5_000,
      "AAA/USDC": 6_000,
      "BBB/USDT": 999,
      "CCC/BTC": 9_000,
      "USDC/USDT": 9_000,
    });
    const gate = listing("gate", { "AAA/USDT": 5_500_000, "BBB/USDT": 1_000, "BTC3L/USDT": 9_000 });
    expect(chosen([gate, binance], NONE, CHOICE)).toEqual(["AAA binance AAA/USDC", "BBB gate BBB/USDT"]);
  });

  test("are otherwise on the exchange with the median volume (of two, the lower), so that wash trading gains nothing", () => {
    const kucoin = listing("kucoin", { "AAA/USDT": 2_000, "AAA/USDC": 500, "BBB/USDT": 999 });
    const gate = listing("gate", { "AAA/USDT": 9_000_000, "BBB/USDT": 1_000 });
    expect(chosen([gate, kucoin], NONE, CHOICE)).toEqual(["AAA kucoin AAA/USDT", "BBB gate BBB/USDT"]);
  });

  test("change to Binance when it lists the token, and not back while its market has half the volume", () => {
    const first = choosePairs([listing("gate", { "AAA/USDT": 9_000 })], NONE, CHOICE);
    const at = (volume: number) => [
      listing("binance", { "AAA/USDT": volume }),
      listing("gate", { "AAA/USDT": 9_000 }),
    ];
    expect(chosen(at(999), first, CHOICE)).toEqual(["AAA gate AAA/USDT"]);
    const second = choosePairs(at(1_000), first, CHOICE);
    expect([...second.values()].map(({ venue }) => venue)).toEqual(["binance"]);
    expect(chosen(at(500), second, CHOICE)).toEqual(["AAA binance AAA/USDT"]);
    expect(chosen(at(499), second, CHOICE)).toEqual(["AAA gate AAA/USDT"]);
  });

  test("stay while their exchange is down", () => {
    const first = choosePairs([listing("binance", { "AAA/USDT": 2_000, "BBB/USDT": 2_000 })], NONE, CHOICE);
    expect(chosen([listing("gate", { "BBB/USDT": 9_000 })], first, CHOICE)).toEqual([
      "AAA binance AAA/USDT",
      "BBB binance BBB/USDT",
    ]);
  });

  test("stay at half the minimum volume, and not below", () => {
    const at = (volume: number) => [listing("binance", { "AAA/USDT": volume })];
    const first = choosePairs(at(1_000), NONE, CHOICE);
    expect(chosen(at(1_000), NONE, CHOICE)).toHaveLength(1);
    expect(chosen(at(999), NONE, CHOICE)).toEqual([]);
    expect(chosen(at(500), first, CHOICE)).toEqual(["AAA binance AAA/USDT"]);
    expect(chosen(at(499), first, CHOICE)).toEqual([]);
  });

  test("stay at exactly twice the volume of another market, and change above", () => {
    const first = choosePairs([listing("gate", { "AAA/USDT": 4_000 })], NONE, CHOICE);
    const beside = (volume: number) => [
      listing("gate", { "AAA/USDT": volume }),
      listing("kucoin", { "AAA/USDT": 2_000 }),
    ];
    expect(chosen(beside(4_000), first, CHOICE)).toEqual(["AAA gate AAA/USDT"]);
    expect(chosen(beside(4_001), first, CHOICE)).toEqual(["AAA kucoin AAA/USDT"]);
    const binance = (usdc: number) => [listing("binance", { "AAA/USDT": 2_000, "AAA/USDC": usdc })];
    const held = choosePairs(binance(1_000), NONE, CHOICE);
    expect(chosen(binance(4_000), held, CHOICE)).toEqual(["AAA binance AAA/USDT"]);
    expect(chosen(binance(4_001), held, CHOICE)).toEqual(["AAA binance AAA/USDC"]);
  });

  test("stay within the maximum, including those of an exchange that did not answer", () => {
    const most = { ...CHOICE, maxTokens: 3 };
    const binance = listing("binance", { "AAA/USDT": 1_000, "BBB/USDT": 1_000 });
    const first = choosePairs([binance], NONE, most);
    const gate = listing("gate", { "CCC/USDT": 9_000, "DDD/USDT": 8_000, "BBB/USDT": 9_999 });
    expect(chosen([gate], first, most)).toEqual([
      "AAA binance AAA/USDT",
      "BBB binance BBB/USDT",
      "CCC gate CCC/USDT",
    ]);
    expect(chosen([gate], first, { ...CHOICE, maxTokens: 1 })).toHaveLength(2);
  });

  test("are at most the maximum, those with the most volume", () => {
    const many = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`T${index}/USDT`, 1_000 + index]),
    );
    const tokens = [...choosePairs([listing("kucoin", many)], NONE, { ...CHOICE, maxTokens: 3 }).keys()];
    expect(tokens).toEqual(["T47", "T48", "T49"]);
  });
});

const M0 = 1_800_000_000_000;
const candle = (minute: number, volume: number): MinuteCandle => ({
  openAt: M0 + minute * 60_000,
  open: "1",
  high: "3",
  low: "1",
  close: String(1 + volume / 1_000),
  volume: String(volume),
});

describe("the candles of a minute", () => {
  test("are emitted when it closes, unless without trades, and are amended once by a later version", () => {
    const buffer = new CandleBuffer();
    buffer.put("B", candle(0, 5));
    buffer.put("A", candle(0, 7));
    buffer.put("A", candle(0, 6));
    buffer.put("C", candle(0, 0));
    buffer.put("A", candle(1, 1));
    expect(buffer.close(M0).map(({ token, volume, at }) => [token, volume, at])).toEqual([
      ["A", "7", M0 + 60_000],
      ["B", "5", M0 + 60_000],
    ]);
    buffer.put("A", candle(0, 7));
    buffer.put("B", candle(0, 4));
    expect(buffer.amendments()).toEqual([]);
    buffer.put("B", candle(0, 9));
    buffer.put("C", candle(0, 2));
    expect(buffer.amendments().map(({ token, volume }) => [token, volume])).toEqual([
      ["B", "9"],
      ["C", "2"],
    ]);
    expect(buffer.amendments()).toEqual([]);
    buffer.close(M0 + 60_000);
    buffer.put("A", candle(0, 99));
    expect([buffer.amendments(), buffer.late]).toEqual([[], 1]);
  });

  test("are those of the later of two versions with the same volume", () => {
    const buffer = new CandleBuffer();
    for (const close of ["1", "2"]) buffer.put("A", { ...candle(0, 5), close });
    expect(buffer.close(M0)).toMatchObject([{ close: "2" }]);
    buffer.put("A", { ...candle(0, 5), close: "3" });
    expect(buffer.amendments()).toMatchObject([{ close: "3" }]);
  });

  test("are not emitted again after a later minute", () => {
    const buffer = new CandleBuffer();
    for (const minute of [0, 1, 2]) buffer.put("A", candle(minute, 1));
    buffer.close(M0);
    buffer.put("A", candle(0, 2));
    expect(buffer.close(M0 + 60_000)).toHaveLength(1);
    expect(buffer.amendments()).toEqual([]);
    buffer.put("A", candle(1, 3));
    expect(buffer.amendments().map(({ openAt, volume }) => [openAt - M0, volume])).toEqual([[60_000, "3"]]);
  });

  test("are stored for the latest day of minutes, and not for minutes before an emitted one", () => {
    const buffer = new CandleBuffer();
    for (let minute = 0; minute <= 1_440; minute++) buffer.put("A", candle(minute, 1));
    expect(buffer.close(M0)).toEqual([]);
    expect(buffer.close(M0 + 60_000)).toHaveLength(1);
    expect(buffer.close(M0 + 10 * 60_000)).toHaveLength(1);
    expect(buffer.close(M0 + 5 * 60_000)).toEqual([]);
    expect(buffer.close(M0 + 1_440 * 60_000)).toHaveLength(1);
  });

  test("do not depend on how and how often their versions arrive", () => {
    const version = fc.tuple(
      fc.constantFrom("A", "B"),
      fc.integer({ min: 0, max: 2 }),
      fc.integer({ min: 1, max: 50 }),
    );
    fc.assert(
      fc.property(fc.array(version), fc.integer({ min: 0, max: 100 }), (versions, seed) => {
        const reported = (order: typeof versions) => {
          const buffer = new CandleBuffer();
          for (const [token, minute, volume] of order) buffer.put(token, candle(minute, volume));
          return [0, 1, 2].map((minute) => buffer.close(M0 + minute * 60_000));
        };
        const shuffled = versions
          .map((one, index) => ({ one, key: (index * 7_919 + seed * 104_729) % 1_009 }))
          .toSorted((a, b) => a.key - b.key);
        expect(reported(shuffled.map(({ one }) => one).concat(versions))).toEqual(reported(versions));
      }),
    );
  });
});
