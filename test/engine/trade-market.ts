import type { MarketEvent, Trade } from "../../src/base/market/index.ts";
import { address, createRandom, decimal, listing, profile, START, trade } from "./trend-kit.ts";

/** One token's trades, at random moments. Each moves the price of a pool of constant product. */
export interface Script {
  readonly token: string;
  /** Returns the average number of trades in that minute. */
  readonly rate: (minute: number) => number;
  /** Returns the share of purchases in that minute. */
  readonly buyShare: (minute: number) => number;
  /** Returns a trader's name for a random number and the trade's number. */
  readonly trader?: (random: number, count: number) => string;
  /** Average dollars of a trade. Default 60. */
  readonly usd?: number;
}

/** Dollars in each pool at the start. */
const POOL_USD = 50_000;

/** Returns the name of one of a billion traders, so that few occur twice. */
const CROWD = (random: number) => `0x${Math.floor(random * 1e9).toString(16)}`;

/** Returns the profiles, listings and trades of the scripts over this many minutes. */
export function playScripts(scripts: readonly Script[], minutes: number, seed = 1): MarketEvent[] {
  return scripts.flatMap((script, index) => [
    profile(START - 2_000, script.token),
    listing(START - 1_000, script.token),
    ...tradesOf(script, minutes, createRandom(seed * 1_000 + index)),
  ]);
}

/** Returns quiet tokens, numbered from 100. */
export function crowdOf(count: number): Script[] {
  return Array.from({ length: count }, (_, n) => ({
    token: address(100 + n),
    rate: () => 2,
    buyShare: () => 0.5,
  }));
}

function tradesOf(script: Script, minutes: number, random: () => number): Trade[] {
  const trades: Trade[] = [];
  let quote = POOL_USD / 2;
  const product = quote * quote;
  for (let minute = 0; minute < minutes; minute++) {
    const rate = script.rate(minute);
    const count = Math.floor(rate) + (random() < rate % 1 ? 1 : 0);
    const moments = Array.from({ length: count }, () => Math.floor(random() * 60_000)).sort((a, b) => a - b);
    for (const moment of moments) {
      // Arbitrage brings a quiet pool's price back to 1.
      const drift = 0.5 - (quote / (POOL_USD / 2) - 1) * 4;
      const isQuiet = script.buyShare(minute) === 0.5;
      const isBuy = random() < (isQuiet ? drift : script.buyShare(minute));
      const usd = (script.usd ?? 60) * (0.5 + random());
      quote += isBuy ? usd : -Math.min(usd, quote / 2);
      trades.push(
        trade(START + minute * 60_000 + moment, script.token, {
          side: isBuy ? "buy" : "sell",
          price: decimal((quote * quote) / product),
          quoteUsd: decimal(usd),
          trader: (script.trader ?? CROWD)(random(), trades.length),
        }),
      );
    }
  }
  return trades;
}
