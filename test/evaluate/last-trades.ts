import type { Candle, MarketGroup, Trade } from "../../src/market/index.ts";

/** Smaller trades are dust: nobody's activity, and nobody's price. */
const DUST_USD = 0.01;

/** The name of a token within all groups. */
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
 * What each token's latest trades were, dust left out: the truth that a detector is compared with.
 * A candle counts as its trades.
 */
export class LastTrades {
  readonly #last = new Map<string, Last>();

  /** False for dust. */
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

  /** Its latest price; NaN before the first trade. */
  priceOf(pair: string): number {
    return this.#last.get(pair)?.price ?? Number.NaN;
  }

  /** Since when it has not traded; -Infinity when it never did. */
  silentSince(pair: string): number {
    return this.#last.get(pair)?.first ?? NEVER;
  }

  /** Since when it has had at most two trades. */
  quietSince(pair: string): number {
    return this.#last.get(pair)?.third ?? NEVER;
  }
}
