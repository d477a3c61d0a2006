import { MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { playScripts } from "../../engine/trade-market.ts";
import { address, createRandom, MINUTE, START, withClocks } from "../../engine/trend-kit.ts";

/*
 * Ordinary tokens whose traders are the same few wallets, each of which buys and sells now and
 * then. None of them deserves a warning.
 */

/** Numbers of wallets that are measured. */
export const WALLETS = [40, 60, 80, 120] as const;
const HOURS = 6;
/** Trades a minute. */
const RATES = [1, 2, 4, 8] as const;

export interface RegularsFigures {
  readonly wallets: number;
  /** Trades a minute. */
  readonly rate: number;
  /** Share of the minutes with the canary on: of the token's first hour, and of all later ones. */
  readonly firstHour: number;
  readonly later: number;
}

export function canaryOfRegulars(wallets: number, seed: number): readonly RegularsFigures[] {
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
    const on = { firstHour: 0, later: 0 };
    let seen = -1;
    for (const event of withClocks(
      playScripts([script], minutes, seed),
      START + minutes * MINUTE,
      START - 3_000,
    )) {
      engine.accept(event);
      const minute = Math.floor(event.at / MINUTE_MS);
      if (minute === seen) continue;
      seen = minute;
      const part = event.at < START + 60 * MINUTE ? "firstHour" : "later";
      if (engine.trendOf("bsc", token)?.canarySinceMs != null) on[part] += 1;
    }
    return { wallets, rate, firstHour: on.firstHour / 60, later: on.later / (minutes - 60) };
  });
}
