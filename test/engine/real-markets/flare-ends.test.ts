import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { crowdOf, playScripts, type Script } from "../trade-market.ts";
import { address, drive, HOUR, MINUTE, START, trade, withClocks } from "../trend-kit.ts";

const TOKEN = address(1);
const BURST_FROM = 90;
const BURST_UNTIL = 102;

/** Returns a burst after which the price stays high, followed by `rateAfter` trades a minute. */
const burst = (rateAfter: number): Script => ({
  token: TOKEN,
  rate: (minute) =>
    minute < BURST_FROM ? 2 : minute < BURST_UNTIL ? 25 : Math.min(2, rateAfter * Number(minute < 700)),
  buyShare: (minute) => (minute >= BURST_FROM && minute < BURST_UNTIL ? 0.8 : 0.55),
});

/** Returns when the token's flare ended, in minutes after its burst; Infinity if it still runs. */
function play(script: Script, minutes: number, extra: readonly MarketEvent[] = []) {
  const engine = new TrendEngine();
  const events = [...playScripts([...crowdOf(8), script], minutes), ...extra];
  const last = drive(engine, withClocks(events, START + minutes * MINUTE, START - 3_000));
  const [flare] = last.flares.finished_trending.filter(({ token }) => token.address === TOKEN);
  const endMs = Date.parse(flare?.finished_trending_at ?? "");
  const isRunning = last.flares.pro.some(({ token }) => token.address === TOKEN);
  const cause = flare && last.explanations[flare.id]?.finish_cause;
  return { endMinute: isRunning ? Number.POSITIVE_INFINITY : (endMs - START) / MINUTE, cause, engine };
}

test("a flare ends within twenty minutes of its burst even if the price stays high", () => {
  const { endMinute, cause } = play(burst(2), IS_SOAK ? 240 : BURST_UNTIL + 25);
  expect(endMinute).toBeGreaterThan(BURST_UNTIL - 2);
  expect(endMinute).toBeLessThanOrEqual(BURST_UNTIL + 20);
  expect(cause).toBe("faded");
});

test("a flare whose last trade was five minutes ago ends as silent", () => {
  const { endMinute, cause } = play(burst(0), IS_SOAK ? 240 : BURST_UNTIL + 15);
  expect(endMinute).toBeLessThanOrEqual(BURST_UNTIL + 7);
  expect(cause).toBe("silent");
});

test("a token whose trading stopped in the middle of a flare is forgotten like any other", () => {
  const { endMinute, engine } = play(burst(0), BURST_UNTIL);
  expect(endMinute).toBe(Number.POSITIVE_INFINITY);
  for (let at = START + BURST_UNTIL * MINUTE; at <= START + 9 * HOUR; at += 1_000)
    engine.accept({ kind: "clock", at });
  expect(engine.snapshot().flares.pro).toEqual([]);
  expect(engine.trendOf("bsc", TOKEN)).toBeUndefined();
});

test("wallets that occasionally spend cents do not sustain a flare", () => {
  const from = BURST_UNTIL + 2;
  const minutes = from + 60;
  const cents: MarketEvent[] = [];
  // In each round, 45 other wallets of 300 buy, and five sell.
  for (let round = 0; round < 12; round += 1) {
    const at = START + from * MINUTE + round * 288_000;
    for (let n = 0; n < 50; n += 1) {
      const part = { quoteUsd: "0.26", price: "2.8", trader: `0xw${(round * 45 + n) % 300}` };
      cents.push(trade(at, TOKEN, { ...part, side: n < 45 ? "buy" : "sell" }));
    }
  }
  const { endMinute, cause } = play(burst(0), minutes, cents);
  expect(endMinute).toBeLessThanOrEqual(BURST_UNTIL + 20);
  expect(cause).toBe("faded");
});

test("flares of a silent group continue for a quarter of an hour, then end and may restart at once", () => {
  const cutMs = START + (BURST_FROM + 6) * MINUTE;
  const long: Script = { ...burst(0), rate: (minute) => (minute < BURST_FROM ? 2 : 25) };
  const rising: Script = { ...long, buyShare: (minute) => (minute < BURST_FROM ? 0.5 : 0.62) };
  const flaresOf = (cutMinutes: number) => {
    const engine = new TrendEngine();
    const minutes = BURST_FROM + 40;
    const events = playScripts([...crowdOf(8), rising], minutes).filter(
      ({ at }) => at < cutMs || at >= cutMs + cutMinutes * MINUTE,
    );
    const { flares } = drive(engine, withClocks(events, START + minutes * MINUTE, START - 3_000));
    const isToken = (flare: { token: { address: string } }) => flare.token.address === TOKEN;
    return [flares.pro.filter(isToken).length, flares.finished_trending.filter(isToken).length];
  };
  for (const cutMinutes of IS_SOAK ? [0, 5, 10] : [10]) expect(flaresOf(cutMinutes)).toEqual([1, 0]);
  expect(flaresOf(17)).toEqual([1, 1]);
});
