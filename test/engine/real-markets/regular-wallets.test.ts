import { expect, test } from "vitest";
import type { Trade } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { canaryOfRegulars, WALLETS } from "../../tools/evaluate/regular-wallets.ts";
import { playScripts } from "../trade-market.ts";
import { address, MINUTE, START, trade, withClocks } from "../trend-kit.ts";

const TOKEN = address(1);

test.each(WALLETS)(
  "tokens that %i regular wallets buy and sell now and then have no canary after their first hour",
  (wallets) => {
    for (const { later } of canaryOfRegulars(wallets, 1)) expect(later).toBeLessThanOrEqual(0.01);
  },
);

/** Returns purchases by 20 wallets, which sell a second later, six a minute all the time. */
function botTrades(minutes: number): readonly Trade[] {
  return Array.from({ length: 6 * minutes }, (_, n) => {
    const at = START + n * 10_000;
    const one = trade(at, TOKEN, { trader: `0xb07${n % 20}`, quoteUsd: "50" });
    return [one, { ...one, at: at + 1_000, side: "sell" } as const];
  }).flat();
}

/** Returns the minutes after `fromMinute` in which the warning is on, and the number of flares. */
function warnedMinutes(trades: readonly Trade[], minutes: number, fromMinute: number) {
  const engine = new TrendEngine();
  const flares = new Set<string>();
  let warned = 0;
  for (const event of withClocks([...trades], START + minutes * MINUTE, START - 3_000)) {
    engine.accept(event);
    if (event.kind !== "clock" || event.at % MINUTE !== 0 || event.at < START + fromMinute * MINUTE) continue;
    for (const { id } of engine.snapshot().flares.pro) flares.add(id);
    if (engine.readingOf("bsc", TOKEN)?.warnings.includes("quick-sellers")) warned += 1;
  }
  return { warned, flares: flares.size };
}

test("a crowd is not warned of because of a bot that has always bought and sold at once", () => {
  const crowd = {
    token: TOKEN,
    rate: (minute: number) => (minute >= 180 && minute < 195 ? 20 : 0.5),
    buyShare: (minute: number) => (minute >= 180 && minute < 195 ? 0.8 : 0.5),
  };
  const trades = [...playScripts([crowd], 200).filter((event) => event.kind === "trade"), ...botTrades(200)];
  const played = warnedMinutes(
    trades.toSorted((one, other) => one.at - other.at),
    200,
    180,
  );
  expect(played).toEqual({ warned: 0, flares: 1 });
});
