import fc from "fast-check";
import { expect, test } from "vitest";
import type { MarketEvent, Trade } from "../../../../src/base/market/index.ts";
import type { Explanation, Snapshot } from "../../../../src/base/model/index.ts";
import {
  addQuickTrade,
  createSecondsState,
  type SecondsSums,
  sumSeconds,
  usualBought,
} from "../../../../src/engine/detect/measures/seconds-detector.ts";
import { DEFAULT_SETTINGS, TrendEngine } from "../../../../src/engine/index.ts";
import { lawRuns } from "../../../support/law-runs.ts";
import { decimal, drive, MINUTE, SECOND, START, withClocks } from "../../trend-kit.ts";

const PAIR = "ABC";
const QUIET_MINUTES = 45;
const PUMP_MS = START + QUIET_MINUTES * MINUTE + 10 * SECOND;

function quick(at: number, side: Trade["side"], price: number, money: number): Trade {
  const amount = decimal(money / price);
  const quoteUsd = decimal(money);
  return {
    kind: "trade",
    at,
    group: "exchange",
    pool: PAIR,
    token: PAIR,
    side,
    price: decimal(price),
    amount,
    quoteUsd,
  };
}

/** Returns a trade of ten dollars every three seconds, bought and sold in turn. */
function quietTrades(fromMs: number, untilMs: number, price = 1): readonly Trade[] {
  const count = Math.max(0, Math.ceil((untilMs - fromMs) / (3 * SECOND)));
  return Array.from({ length: count }, (_, n) =>
    quick(fromMs + n * 3 * SECOND, n % 2 === 0 ? "buy" : "sell", price, 10),
  );
}

/** Returns ten purchases a second, each in four fills, that move the price within four seconds. */
function pump(atMs: number, from: number, to: number): readonly Trade[] {
  return Array.from({ length: 40 }, (_, n) => {
    const price = from + ((to - from) * (n + 1)) / 40;
    return Array.from({ length: 4 }, () => quick(atMs + n * 100, "buy", price, 100));
  }).flat();
}

interface Told {
  readonly atMs: number;
  readonly what: "start" | "end" | "surge";
  readonly why: Explanation | undefined;
}

/** Plays the events and tells what the pair's flares did. */
function play(events: readonly MarketEvent[], minutes = QUIET_MINUTES + 20) {
  const engine = new TrendEngine();
  const told: Told[] = [];
  const surges = new Map<string, number>();
  const running = new Set<string>();
  const note = ({ "flares.exchange": flares, explanations }: Snapshot, atMs: number) => {
    for (const { id } of flares.pro) {
      const why = explanations[id];
      if (!running.has(id)) told.push({ atMs, what: "start", why });
      running.add(id);
      const number = why?.surge?.number ?? 0;
      if (number > (surges.get(id) ?? 0)) told.push({ atMs, what: "surge", why });
      surges.set(id, number);
    }
    for (const { id } of flares.finished_trending)
      if (running.delete(id)) told.push({ atMs, what: "end", why: explanations[id] });
  };
  const last = drive(engine, withClocks(events, START + minutes * MINUTE, START - 3 * SECOND), note);
  return { told, last, engine };
}

const before = quietTrades(START, PUMP_MS);

test("a pump on an exchange starts a flare within two seconds, explained by its seconds", () => {
  const { told, engine } = play([
    ...before,
    ...pump(PUMP_MS, 1, 1.2),
    ...quietTrades(PUMP_MS + 5_000, PUMP_MS + 2 * MINUTE, 1.2),
  ]);
  const [start] = told;
  expect(start).toMatchObject({ what: "start" });
  expect((start?.atMs ?? 0) - PUMP_MS).toBeLessThanOrEqual(2 * SECOND);
  expect(start?.why).toMatchObject({ form: "seconds", threshold: DEFAULT_SETTINGS.secondsStartScore });
  expect(start?.why?.terms.map(({ name }) => name)).toEqual(["imbalance", "price", "volume", "rush"]);
  expect(start?.why?.terms.find(({ name }) => name === "rush")?.raw).toBe(4);
  expect(start?.why?.text).toMatch(/4 buys at once/);
  expect(engine.rejected.mixed).toBe(0);
});

test("fills of one millisecond and side count as one order", () => {
  const { last } = play([...before, ...pump(PUMP_MS, 1, 1.2)], QUIET_MINUTES + 1);
  const [flare] = last["flares.exchange"].pro;
  // Forty orders of four fills, and the quiet trades of the rest of five minutes.
  expect(flare?.latest_buy_count).toBeGreaterThan(40);
  expect(flare?.latest_buy_count).toBeLessThan(40 + 5 * 20);
});

test("the same buying starts nothing without a rise, without buys, or before the pair is known", () => {
  const flat = pump(PUMP_MS, 1, 1.001);
  const sold = pump(PUMP_MS, 1, 1.2).map((trade) => ({ ...trade, side: "sell" as const }));
  const ofSeconds = ({ why }: Told) => why?.form === "seconds";
  expect(play([...before, ...flat]).told.filter(ofSeconds)).toEqual([]);
  expect(play([...before, ...sold]).told.filter(ofSeconds)).toEqual([]);
  const recent = quietTrades(PUMP_MS - 20 * MINUTE, PUMP_MS);
  expect(
    play([...recent, ...pump(PUMP_MS, 1, 1.2)]).told.filter(({ why }) => why?.form === "seconds"),
  ).toEqual([]);
});

test("a second pump while the flare runs is a surge; a third, after the reversal, starts another flare", () => {
  const [second, third] = [PUMP_MS + 4 * MINUTE, PUMP_MS + 9 * MINUTE];
  const crash = Array.from({ length: 30 }, (_, n) => quick(second + 30_000 + n * SECOND, "sell", 1.21, 100));
  const { told } = play([
    ...before,
    ...pump(PUMP_MS, 1, 1.2),
    ...quietTrades(PUMP_MS + 5_000, second, 1.2),
    ...pump(second, 1.2, 1.5),
    ...quietTrades(second + 5_000, second + 30_000, 1.5),
    ...crash,
    ...quietTrades(second + 65_000, third, 1.21),
    ...pump(third, 1.21, 1.5),
  ]);
  expect(told.map(({ what }) => what)).toEqual(["start", "surge", "end", "start"]);
  const [, surge, end] = told;
  expect(surge?.why).toMatchObject({ form: "seconds", surge: { number: 1 } });
  expect(surge?.why?.surge?.at).toBe(surge?.why?.at);
  expect(surge?.why?.surge?.score).toBe(surge?.why?.score);
  expect(end?.why).toMatchObject({ finish_cause: "reversed", surge: { number: 1 } });
  // More than half of the surge's rise is lost from the crash on, and stays so for 15 seconds.
  expect((end?.atMs ?? 0) - (second + 30_000)).toBeLessThanOrEqual(17 * SECOND);
});

test("until half an hour of trades is known, past candles tell the usual volume", () => {
  const since = PUMP_MS - 5 * MINUTE;
  const firstOpenAt = START - 60 * MINUTE;
  const candles = Array.from({ length: 100 }, (_, n): MarketEvent => {
    const openAt = firstOpenAt + n * MINUTE;
    const prices = { open: "1", high: "1", low: "1", close: "1" };
    return {
      kind: "candle",
      at: Math.max(START, openAt + MINUTE),
      group: "exchange",
      token: PAIR,
      openAt,
      ...prices,
      volume: "200",
    };
  });
  const { told } = play(
    [...candles, ...quietTrades(since, PUMP_MS), ...pump(PUMP_MS, 1, 1.2)].toSorted((a, b) => a.at - b.at),
  );
  expect(told[0]).toMatchObject({ what: "start", why: { form: "seconds" } });
});

test("a candle that arrives after the next minute's trades does not set the price back", () => {
  const closeMs = START + MINUTE;
  const prices = { open: "1", high: "1", low: "1", close: "1" };
  const late: MarketEvent = {
    ...{ kind: "candle", at: closeMs, group: "exchange", token: PAIR, openAt: START, volume: "10" },
    ...prices,
  };
  const engine = new TrendEngine();
  const clocks = [START, closeMs, closeMs + SECOND].map((at): MarketEvent => ({ kind: "clock", at }));
  const [first, second, third] = clocks;
  const trades = [quick(START + 500, "buy", 1, 10), quick(closeMs + 500, "buy", 1.2, 10)] as const;
  for (const event of [first, trades[0], second, trades[1], third, late]) if (event) engine.accept(event);
  engine.accept({ kind: "clock", at: closeMs + 2 * SECOND });
  expect(engine.trendOf("exchange", PAIR)?.price?.value).toBe(1.2);
  expect(engine.rejected.late).toBe(0);
});

test("past candles that arrive after the first trades are known from then on, and leave later prices as they are", () => {
  const engine = new TrendEngine();
  const past = Array.from({ length: 60 }, (_, n): MarketEvent => {
    const openAt = START - (60 - n) * MINUTE;
    const prices = { open: "2", high: "2", low: "2", close: "2" };
    return {
      kind: "candle",
      at: START + 2 * SECOND,
      group: "exchange",
      token: PAIR,
      openAt,
      ...prices,
      volume: "200",
    };
  });
  const events: MarketEvent[] = [
    { kind: "clock", at: START },
    quick(START + 500, "buy", 1, 10),
    { kind: "clock", at: START + SECOND },
    ...past,
    { kind: "clock", at: START + 3 * SECOND },
  ];
  for (const event of events) engine.accept(event);
  expect(engine.rejected.late).toBe(0);
  expect(engine.trendOf("exchange", PAIR)?.price?.value).toBe(1);
  expect(engine.readingOf("exchange", PAIR)?.form).toBe("candles");
  expect(engine.readingOf("exchange", PAIR)?.terms.map(({ name }) => name)).toEqual([
    "price",
    "volume",
    "flow",
  ]);
});

test("within the minute of a pump, the explanation stays that of the seconds", () => {
  const { last } = play(
    [...before, ...pump(PUMP_MS, 1, 1.2), quick(PUMP_MS + 40_000, "buy", 1.2, 10)],
    QUIET_MINUTES + 1,
  );
  const [flare] = last["flares.exchange"].pro;
  expect(last.explanations[flare?.id ?? ""]).toMatchObject({ form: "seconds" });
});

test("a token without numbers has none of another token's in its explanation", () => {
  const engine = new TrendEngine();
  const other = before.map((trade) => ({ ...trade, token: "XYZ", pool: "XYZ" }));
  const until = START + 15 * MINUTE;
  const events = [...other.filter(({ at }) => at < until), quick(until - 10_000, "buy", 1, 10)];
  for (const event of withClocks(events, until, START - 3 * SECOND)) engine.accept(event);
  expect(engine.readingOf("exchange", "XYZ")?.terms).not.toEqual([]);
  expect(engine.readingOf("exchange", PAIR)?.terms).toEqual([]);
});

test("only the exchange's trades may come without their trader", () => {
  const engine = new TrendEngine();
  const anonymous = { ...quick(START, "buy", 1, 100), group: "bsc" as const, token: `0x${"1".repeat(40)}` };
  for (const event of withClocks(
    [anonymous, quick(START, "buy", 1, 100)],
    START + SECOND,
    START - 3 * SECOND,
  ))
    engine.accept(event);
  expect(engine.rejected.malformed).toBe(1);
  expect(engine.tokenCount).toBe(1);
});

const trades = fc.array(
  fc.record({
    gapMs: fc.constantFrom(0, 0, 1, 50, 900, 3_000, 20_000, 90_000, 400_000, 3_000_000),
    lateMs: fc.constantFrom(0, 0, 0, 700, 4_000),
    isBuy: fc.boolean(),
    price: fc.double({ min: 0.5, max: 2, noNaN: true }),
    money: fc.double({ min: 1, max: 1e4, noNaN: true }),
  }),
  { minLength: 1, maxLength: 60 },
);

test("for any trades, also late ones, the sums of ten seconds equal a slow computation, and the usual is the decayed average before the latest minutes", () => {
  let [late, usual] = [0, 0];
  fc.assert(
    fc.property(trades, (all) => {
      const state = createSecondsState(START);
      const added: { at: number; isBuy: boolean; price: number; money: number }[] = [];
      let nowMs = START;
      for (const { gapMs, lateMs, isBuy, price, money } of all) {
        nowMs += gapMs;
        const at = Math.max(START, nowMs - lateMs);
        if (at < nowMs) late += 1;
        const trade = { at, isBuy, price, money };
        added.push(trade);
        addQuickTrade(state, trade, DEFAULT_SETTINGS);
      }
      const endMs = (Math.floor(nowMs / SECOND) + 1) * SECOND;
      const sums: SecondsSums = { trades: 0, bought: 0, sold: 0, atOnce: 0, low: 0 };
      sumSeconds(state, sums, endMs, DEFAULT_SETTINGS);
      const recent = added.filter(({ at }) => at >= endMs - 10 * SECOND);
      const moneyOf = (isBuy: boolean) =>
        recent.filter((one) => one.isBuy === isBuy).reduce((sum, { money }) => sum + money, 0);
      expect(sums.trades).toBe(recent.length);
      expect(sums.bought).toBeCloseTo(moneyOf(true), 5);
      expect(sums.sold).toBeCloseTo(moneyOf(false), 5);
      const lows = added.filter(({ at }) => at >= endMs - MINUTE).map(({ price }) => price);
      expect(sums.low).toBe(Math.min(...lows));
      const { baselineMs } = DEFAULT_SETTINGS;
      const lastMinute = Math.floor((endMs - 1) / MINUTE);
      const edge = lastMinute - 5;
      const weightOf = (minute: number) => Math.exp((-(edge - 1 - minute) * MINUTE) / baselineMs);
      const old = added.filter(({ at, isBuy }) => isBuy && Math.floor(at / MINUTE) < edge);
      const bought = old.reduce((sum, { at, money }) => sum + money * weightOf(Math.floor(at / MINUTE)), 0);
      expect(state.slowBought / Math.max(1, bought)).toBeCloseTo(
        bought > 0 ? bought / Math.max(1, bought) : 0,
        6,
      );
      const knownMs = Math.max(0, (edge - Math.floor(START / MINUTE)) * MINUTE);
      expect(state.slowMs / baselineMs).toBeCloseTo(1 - Math.exp(-knownMs / baselineMs), 6);
      if (bought > 0 && state.slowMs > DEFAULT_SETTINGS.secondsWarmUpMs) {
        usual += 1;
        expect(usualBought(state, 0, DEFAULT_SETTINGS)).toBeCloseTo((bought / state.slowMs) * 10 * SECOND, 4);
      }
    }),
    lawRuns(200),
  );
  expect({ late: late > 50, usual: usual > 20 }).toEqual({ late: true, usual: true });
});
