import { expect, test } from "vitest";
import type { MarketEvent, Trade } from "../../../src/base/market/index.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { playScripts, type Script } from "../trade-market.ts";
import { MINUTE, START, trade } from "../trend-kit.ts";
import { playInSingleton, TOKEN } from "./singleton-pool.ts";

const RISE_AT = 90;
const MINUTES = 120;
const isRise = (minute: number) => minute >= RISE_AT && minute < RISE_AT + 12;

const wallet = (n: number) => `0x${(n + 10).toString(16).padStart(40, "0")}`;
const isTrade = (event: MarketEvent) => event.kind === "trade";

function scripted(part: Partial<Script>): readonly Trade[] {
  const script: Script = { token: TOKEN, rate: () => 2, buyShare: () => 0.5, ...part };
  return playScripts([script], MINUTES).filter(isTrade);
}

/** Returns purchases that the same wallet sells a second later, two hundred trades a minute. */
function farmed(wallets: number): readonly Trade[] {
  const quiet = scripted({});
  const rounds = Array.from({ length: 12 * 100 }, (_, n) => {
    const at = START + RISE_AT * MINUTE + n * 600;
    const { price } = quiet.findLast((trade) => trade.at <= at) ?? { price: "1" };
    const one = { ...trade(at, TOKEN), price, quoteUsd: "500", trader: wallet(n % wallets) };
    return [one, { ...one, at: at + 300, side: "sell" } as const];
  });
  return [...quiet, ...rounds.flat()].toSorted((one, other) => one.at - other.at);
}

/** Returns a hundred and twenty trades a minute with a small surplus of purchases. */
function pushed(wallets: number, usd: number): readonly Trade[] {
  return scripted({
    rate: (minute) => (isRise(minute) ? 120 : 2),
    buyShare: (minute) => (isRise(minute) ? 0.54 : 0.5),
    trader: (_, count) => wallet(count % wallets),
    usd,
  });
}

const FEW: readonly [string, () => readonly Trade[]][] = [
  ["5 wallets sell their purchases, two hundred times a minute", () => farmed(5)],
  ["10 wallets push the price up by trades back and forth", () => pushed(10, 60)],
];
/** With more wallets, trades look more like a rush of buyers. */
const MANY: typeof FEW = [
  ["40 wallets sell their purchases, two hundred times a minute", () => farmed(40)],
  ["30 wallets push the price up by trades back and forth", () => pushed(30, 30)],
];

test.each(IS_SOAK ? [...FEW, ...MANY] : MANY)(
  "%s in one V4 pool: the canary is on, and no flare enters the free list",
  (_, trades) => {
    const { free, canaryAt, canarySeconds } = playInSingleton(trades(), MINUTES);
    expect(free).toBe(0);
    expect(canaryAt).toBeLessThan(RISE_AT + 3);
    expect(canarySeconds).toBeGreaterThan(60);
  },
);

test("a rush of distinct buyers into one V4 pool starts a flare that enters the free list", () => {
  const rush = scripted({
    rate: (minute) => (isRise(minute) ? 25 : 2),
    buyShare: (minute) => (isRise(minute) ? 0.8 : 0.5),
  });
  expect(playInSingleton(rush, MINUTES)).toMatchObject({ flares: 1, free: 1, canarySeconds: 0 });
});
