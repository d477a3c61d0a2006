import fc from "fast-check";
import { expect, test } from "vitest";
import { checkpointOf, restoreEngine } from "../../../src/app/data/engine-checkpoints.ts";
import { formatDecimal } from "../../../src/base/lib/text/figures.ts";
import type { MarketEvent, Trade } from "../../../src/base/market/index.ts";
import { type Candle, Candles, NO_CANDLES } from "../../../src/base/model/index.ts";
import { applyCandles, diffCandles } from "../../../src/base/protocol/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { IS_SOAK, lawRuns } from "../../support/law-runs.ts";
import { crowdOf, playScripts } from "../trade-market.ts";
import { address, candlePath, createRandom, MINUTE, SECOND, START, withClocks } from "../trend-kit.ts";

const MINUTES = 230;
const PUMPED = [address(1), address(2), address(3)];
/** Low thresholds and short pauses, so that a token flares several times. */
const OPTIONS = {
  settings: { tradeStartScore: 1, startActivity: 0, coolDownMs: 3 * MINUTE, fadeMs: 5 * MINUTE },
};

/** Pumped tokens beside a crowd; some of their trades are read late or by a later report. */
function marketOf(seed: number): MarketEvent[] {
  const random = createRandom(seed);
  const pumped = PUMPED.map((token) => {
    const from = 10 + Math.floor(random() * 90);
    const isHot = (minute: number) => minute >= from && minute < from + 6;
    const rate = (minute: number) => (isHot(minute) ? 15 : 0.8);
    return { token, usd: 300, rate, buyShare: (minute: number) => (isHot(minute) ? 0.9 : 0.5) };
  });
  const played = playScripts([...crowdOf(4), ...pumped], MINUTES, seed);
  const end = START + MINUTES * MINUTE;
  const delayed = played.map((event): MarketEvent => {
    if (event.kind !== "trade" || random() > 0.1) return event;
    const at = event.at + Math.floor(random() * 4 * MINUTE);
    return at < end - MINUTE ? { ...event, at, tradedAt: event.at } : event;
  });
  return swapNeighbors(withClocks(delayed, end, START - 3_000), random);
}

/** Swaps some neighboring events, within the lateness that the engine accepts. */
function swapNeighbors(events: MarketEvent[], random: () => number): MarketEvent[] {
  for (const [index, event] of events.entries()) {
    const next = events[index + 1];
    if (!next || event.kind !== "trade" || next.at - event.at > 2 * SECOND || random() > 0.1) continue;
    events[index] = next;
    events[index + 1] = event;
  }
  return events;
}

/** Computes the minute's candle by its definition, from all trades of its token. */
function slowCandle(minute: number, trades: readonly Trade[]): Candle {
  const timeOf = ({ at, tradedAt = at }: Trade) => tradedAt;
  const sorted = trades.toSorted((a, b) => timeOf(a) - timeOf(b));
  const prices = sorted.map(({ price }) => Number(price));
  const sum = trades.reduce((total, { quoteUsd }) => total + Number(quoteUsd), 0);
  const count = (side: string) => trades.filter((one) => one.side === side).length;
  return {
    open_at: new Date(minute * MINUTE).toISOString(),
    open: formatDecimal(prices.at(0) ?? 0),
    high: formatDecimal(Math.max(...prices)),
    low: formatDecimal(Math.min(...prices)),
    close: formatDecimal(prices.at(-1) ?? 0),
    volume: formatDecimal(sum),
    buys: count("buy"),
    sells: count("sell"),
  };
}

function slowCandles(trades: readonly Trade[], token: string, closedMs: number): readonly Candle[] {
  const minuteOf = ({ at, tradedAt = at }: Trade) => Math.floor(tradedAt / MINUTE);
  const own = trades.filter((trade) => trade.token === token && minuteOf(trade) < closedMs / MINUTE);
  const byMinute = Map.groupBy(own, minuteOf);
  return [...byMinute]
    .filter(([minute]) => minute >= closedMs / MINUTE - 60)
    .sort(([a], [b]) => a - b)
    .map(([minute, some]) => slowCandle(minute, some));
}

/** Positions of restarts, in thousandths of the events. */
const Cuts = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 4 });

test("[W43] each token that flares shows the closed minutes of the last hour as a slow computation from all trades gives them, from 60 minutes before its start to 120 after, also across restarts", () => {
  const seen = { minutes: 0, ends: 0, restarts: 0, late: 0 };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), Cuts, (seed, parts) => {
      const events = marketOf(seed);
      const cuts = new Set(parts.map((part) => Math.floor((part * events.length) / 1_000)));
      let engine = new TrendEngine(OPTIONS);
      let followed = NO_CANDLES;
      let before = NO_CANDLES;
      const taken: Trade[] = [];
      const started = new Map<string, number>();
      for (const [index, event] of events.entries()) {
        if (cuts.has(index)) {
          engine = restoreEngine(JSON.parse(JSON.stringify(checkpointOf(engine))), OPTIONS);
          seen.restarts += 1;
        }
        engine.accept(event);
        if (event.kind === "trade") taken.push(event);
        if (event.kind !== "clock") continue;
        const { candles, flares } = engine.snapshot();
        const change = diffCandles(followed, candles);
        if (change) followed = applyCandles(followed, change);
        if (change || candles !== before || event.at % MINUTE === 0) expect(followed).toEqual(candles);
        before = candles;
        for (const { token, started_trending_at } of flares.pro)
          started.set(token.address, Date.parse(started_trending_at));
        if (event.at % MINUTE !== 0) continue;
        expect(() => Candles.parse(candles)).not.toThrow();
        const isShown = (token: string) => {
          const since = started.get(token) ?? Number.NEGATIVE_INFINITY;
          const isRunning = flares.pro.some((flare) => flare.token.address === token);
          return isRunning || event.at - MINUTE <= since + 120 * MINUTE;
        };
        expect(Object.keys(candles.bsc)).toEqual(PUMPED.concat(crowdTokens).filter(isShown));
        for (const [token, shown] of Object.entries(candles.bsc)) {
          expect(candles.closed_at).toBe(new Date(event.at).toISOString());
          expect(shown).toEqual(slowCandles(taken, token, event.at));
          seen.minutes += shown.length;
          if (taken.some((one) => one.token === token && one.tradedAt !== undefined)) seen.late += 1;
        }
        if (Object.keys(candles.bsc).length < started.size) seen.ends += 1;
      }
      const { late, dust, ...others } = engine.rejected;
      expect([late, dust, others["unknown-pool"]]).toEqual([0, 0, 0]);
    }),
    { ...lawRuns(1, 2), unbiased: !IS_SOAK },
  );
  expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
});

const crowdTokens = crowdOf(4).map(({ token }) => token);

test("[W43] candles from a feed of candles are served unchanged, without counts of buys and sells", () => {
  const random = createRandom(4);
  const path = (minute: number) => (minute < 60 ? 1 : Math.min(1.6, 1 + (minute - 59) * 0.06));
  const volume = (minute: number) => (minute < 60 ? 1 : 20);
  const token = address(1);
  const own = candlePath(token, 80, random, path, volume);
  const crowd = Array.from({ length: 6 }, (_, n) => candlePath(address(100 + n), 80, random)).flat();
  const engine = new TrendEngine({
    facts: { trades: false, liquidity: false, listings: false, profiles: false },
  });
  for (const event of withClocks([...own, ...crowd], START + 80 * MINUTE)) engine.accept(event);
  const shown = engine.snapshot().candles.bsc[token] ?? [];
  expect(shown.length).toBe(60);
  const last = own.at(-1);
  const { open, high, low, close } = shown.at(-1) ?? {};
  const given = [last?.open, last?.high, last?.low, last?.close];
  expect([open, high, low, close]).toEqual(given.map((text) => formatDecimal(Number(text))));
  expect(shown.map(({ buys, sells }) => [buys, sells])).toEqual(shown.map(() => [null, null]));
});
