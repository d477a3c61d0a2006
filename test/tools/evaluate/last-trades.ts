import type { Candle, MarketGroup, Trade } from "../../../src/base/market/index.ts";

/** Smaller trades are dust. They count neither as activity nor for the price. */
const DUST_USD = 0.01;

/** Returns a token's name that is unique among all groups. */
export function nameOf(group: MarketGroup | null, token: string | null): string {
  return `${group} ${token?.toLowerCase()}`;
}

interface Last {
  /** Event times of the last three trades, the latest first. */
  first: number;
  second: number;
  third: number;
  price: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * Stores each token's latest trades without dust, as the truth with which a detector is compared. A
 * candle counts as its trades.
 */
export class LastTrades {
  readonly #last = new Map<string, Last>();

  /** Records a trade or candle. Returns false for dust. */
  note(pair: string, event: Trade | Candle): boolean {
    if (event.kind === "trade" && Number(event.quoteUsd) < DUST_USD) return false;
    const last = this.#last.get(pair) ?? { first: NEVER, second: NEVER, third: NEVER, price: Number.NaN };
    this.#last.set(pair, last);
    const trades = event.kind === "trade" ? 1 : Math.min(3, event.trades ?? 1);
    for (let trade = 0; trade < trades; trade += 1) {
      last.third = last.second;
      last.second = last.first;
      last.first = event.at;
    }
    last.price = Number(event.kind === "trade" ? event.price : event.close);
    return true;
  }

  /** Returns the token's latest price; NaN before the first trade. */
  priceOf(pair: string): number {
    return this.#last.get(pair)?.price ?? Number.NaN;
  }

  /** Returns the time of the last trade; -Infinity if there was none. */
  silentSince(pair: string): number {
    return this.#last.get(pair)?.first ?? NEVER;
  }

  /** Returns since when the token has had at most two trades. */
  quietSince(pair: string): number {
    return this.#last.get(pair)?.third ?? NEVER;
  }
}
