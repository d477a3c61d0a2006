import { MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { playScripts } from "../../engine/trade-market.ts";
import { address, createRandom, drive, MINUTE, START, withClocks } from "../../engine/trend-kit.ts";

/*
 * Ordinary tokens whose traders are the same few wallets, each of which buys and sells now and
 * then. None of them deserves a warning.
 */

/** Numbers of wallets that are measured. */
export const WALLETS = [40, 60, 80, 120] as const;
const HOURS = 6;
/** Trades a minute. */
const RATES = [1, 2, 4, 8] as const;

/** Returns, by the trades a minute, the share of a token's minutes in which the canary is on. */
export function canaryOfRegulars(wallets: number, seed: number): readonly { rate: number; share: number }[] {
  return RATES.map((rate) => {
    const token = address(1);
    const minutes = HOURS * 60;
    const random = createRandom(seed);
    const script = {
      token,
      rate: () => rate,
      buyShare: () => 0.5,
      trader: () => `0x${Math.floor(random() * wallets).toString(16)}`,
    };
    const engine = new TrendEngine();
    let on = 0;
    let seen = -1;
    for (const event of withClocks(playScripts([script], minutes, seed), START + minutes * MINUTE, START - 3_000)) {
      engine.accept(event);
      const minute = Math.floor(event.at / MINUTE_MS);
      if (minute === seen) continue;
      seen = minute;
      if (engine.trendOf("bsc", token)?.canarySinceMs != null) on += 1;
    }
    return { rate, share: on / minutes };
  });
}
