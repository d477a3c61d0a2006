import { createSimulatedMarket } from "../../src/feed/simulated/index.ts";
import type { MarketEvent } from "../../src/market/index.ts";
import { toEvents } from "../../src/source/index.ts";
import { TrendEngine } from "../../src/trend/index.ts";
import { median, type Row } from "./report.ts";

const BEGIN_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const FACTS = { trades: true, liquidity: true, listings: true, profiles: true };
/** Makes the simulated market trade about a hundred times a second. */
const TOKENS = 2_500;

/**
 * How fast the trend engine is on the simulated market: trades a second into its tokens, the snapshot and the diff with everything
 * changed, and a whole day of it with a look at each changed second.
 */
export function benchEngine(hours = 24): Row[] {
  return [...throughput(), day(hours)];
}

function throughput(): Row[] {
  const market = createSimulatedMarket({ seed: 1, beginAtMs: BEGIN_MS, tokens: TOKENS, onLabel: () => {} });
  const engine = new TrendEngine({ facts: FACTS });
  const piece: MarketEvent[] = [];
  const feed = (toMs: number) => {
    piece.length = 0;
    market.advanceTo(toMs, piece);
    const began = performance.now();
    for (const event of piece) engine.accept(event);
    return { tookMs: performance.now() - began, trades: piece.filter(({ kind }) => kind === "trade").length };
  };
  feed(BEGIN_MS + HOUR_MS);
  const rates: number[] = [];
  const snapshots: number[] = [];
  const diffs: number[] = [];
  let before = engine.snapshot();
  for (let minute = 1; minute <= 60; minute += 1) {
    const { tookMs, trades } = feed(BEGIN_MS + HOUR_MS + minute * 60_000);
    rates.push((trades / tookMs) * 1_000);
    const began = performance.now();
    const after = engine.snapshot();
    const taken = performance.now();
    toEvents(before, after, engine.clockMs);
    snapshots.push(taken - began);
    diffs.push(performance.now() - taken);
    before = after;
  }
  return [
    {
      what: `trades into ${engine.tokenCount} tokens`,
      value: median(rates),
      unit: "trades/s",
      aim: "≥ 300,000",
    },
    { what: "snapshot after a minute of trades, median", value: median(snapshots), unit: "ms", aim: "< 5" },
    { what: "diff of it against the last, median", value: median(diffs), unit: "ms", aim: "< 2" },
  ];
}

function day(hours: number): Row {
  const market = createSimulatedMarket({ seed: 2, beginAtMs: BEGIN_MS, tokens: TOKENS, onLabel: () => {} });
  const engine = new TrendEngine({ facts: FACTS });
  const piece: MarketEvent[] = [];
  let before = engine.snapshot();
  let trades = 0;
  let looks = 0;
  const began = performance.now();
  for (let at = BEGIN_MS + 1_000; at <= BEGIN_MS + hours * HOUR_MS; at += 1_000) {
    piece.length = 0;
    market.advanceTo(at, piece);
    for (const event of piece) {
      engine.accept(event);
      if (event.kind === "trade") trades += 1;
    }
    if (engine.nextChangeAtMs > engine.clockMs) continue;
    const after = engine.snapshot();
    toEvents(before, after, engine.clockMs);
    before = after;
    looks += 1;
  }
  const seconds = (performance.now() - began) / 1_000;
  const rate = Math.round(trades / (hours * 3_600));
  const memory = Math.round(process.memoryUsage().rss / 2 ** 20);
  return {
    what: `${hours} h of ${rate} trades/s, ${looks} looks, its making included; RSS ${memory} MiB`,
    value: seconds,
    unit: "s",
    aim: "< 60, < 512 MiB",
  };
}
