import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { QuoteToken } from "../../quote-tokens.ts";
import { powerOfTen, USD_DECIMALS } from "./exact-decimal.ts";
import type { Pool } from "./pool.ts";

const ONE_DOLLAR = powerOfTen(USD_DECIMALS);

/** Window of event time for the median. A false price must hold for half of it to count. */
export const WORTH_WINDOW_MS = MINUTE_MS;

interface Anchor {
  readonly pool: Pool;
  readonly quotes: readonly [QuoteToken, QuoteToken];
}

/** A token's price by the anchors from a moment on; `undefined` if there was none. */
interface PriceChange {
  readonly fromMs: number;
  readonly one: bigint | undefined;
}

/**
 * Values quote tokens in US dollars. A stablecoin is worth one dollar. Any other token is worth the
 * median of the last minute's prices at the ends of blocks. The price comes from the deepest pool
 * between it and a quote token of known value. That other side must have at least `minUsd`,
 * available to traders and, for V3 forms, in range. Anyone could move the price of a smaller pool,
 * and without liquidity in range any price is possible.
 *
 * So a price made by a huge swap, or by a loan repaid in its own transaction, changes no dollar
 * value unless it is held for half a minute. Meanwhile anyone can profit by trading it back. In
 * return, real changes count half a minute late.
 */
export class UsdPrices {
  readonly #quotes: readonly QuoteToken[];
  readonly #minUsd: bigint;
  readonly #anchors = new Map<string, Anchor>();
  /** By address, oldest first. The first price also counts for all time before it. */
  readonly #history = new Map<string, PriceChange[]>();
  readonly #worth = new Map<string, bigint>();
  #isStale = true;
  #settledAtMs = Number.NEGATIVE_INFINITY;

  constructor(quotes: readonly QuoteToken[], minUsd: number) {
    this.#quotes = quotes;
    this.#minUsd = BigInt(Math.round(minUsd)) * ONE_DOLLAR;
  }

  /** Adds a pool between two quote tokens. Ignores others. */
  add(pool: Pool): void {
    const [first, second] = pool.sides;
    if (first.kind !== "quote" || second.kind !== "quote") return;
    this.#anchors.set(pool.address, { pool, quotes: [first.quote, second.quote] });
    this.#isStale = true;
  }

  /** Records that a pool has changed. */
  touch(pool: Pool): void {
    const [first, second] = pool.sides;
    if (first.kind === "quote" && second.kind === "quote") this.#isStale = true;
  }

  /**
   * Fixes all values for the next block, at the time `atMs`, by the pools before it. Call it before
   * each block.
   */
  settle(atMs: number): void {
    if (this.#isStale) this.#update();
    this.#isStale = false;
    this.#settledAtMs = atMs;
    for (const [address, changes] of this.#history) {
      while ((changes[1]?.fromMs ?? Number.POSITIVE_INFINITY) <= atMs - WORTH_WINDOW_MS) changes.shift();
      const one = medianOf(changes, atMs);
      if (one === undefined) this.#worth.delete(address);
      else this.#worth.set(address, one);
    }
  }

  /** Returns the value of `units` in the smallest unit, in 10^−18 dollars, truncated, if known. */
  worthOf(quote: QuoteToken, units: bigint): bigint | undefined {
    const one = this.wholeWorth(quote);
    return one === undefined ? undefined : (units * one) / powerOfTen(quote.decimals);
  }

  /** Returns the value of one whole token in 10^−18 dollars, if known. */
  wholeWorth(quote: QuoteToken): bigint | undefined {
    return quote.isStable ? ONE_DOLLAR : this.#worth.get(quote.address);
  }

  /** Records the anchors' current prices, which hold from the last settled block on. */
  #update(): void {
    const prices = this.#compute();
    for (const { address, isStable } of this.#quotes) {
      if (isStable) continue;
      const one = prices.get(address);
      const changes = this.#history.get(address);
      if (!changes) {
        // A token without earlier prices has no history.
        if (one !== undefined) this.#history.set(address, [{ fromMs: this.#settledAtMs, one }]);
      } else if (changes.at(-1)?.one !== one) {
        // Of several blocks with the same time, the last one counts.
        if (changes.length > 1 && changes.at(-1)?.fromMs === this.#settledAtMs) changes.pop();
        changes.push({ fromMs: this.#settledAtMs, one });
      }
    }
  }

  /** Values tokens in rounds, from the stablecoins on: each round's tokens can value others. */
  #compute(): Map<string, bigint> {
    const worth = new Map(
      this.#quotes.filter(({ isStable }) => isStable).map(({ address }) => [address, ONE_DOLLAR]),
    );
    for (let hop = 0; hop < this.#quotes.length; hop++) {
      const found = new Map<string, { readonly depth: bigint; readonly one: bigint }>();
      for (const anchor of this.#anchors.values()) {
        for (const side of [0, 1] as const) {
          const quote = anchor.quotes[side];
          if (worth.has(quote.address)) continue;
          const price = this.#priceOf(anchor, side, worth);
          const best = found.get(quote.address);
          if (price && price.depth >= this.#minUsd && (!best || price.depth > best.depth))
            found.set(quote.address, price);
        }
      }
      if (found.size === 0) break;
      for (const [address, { one }] of found) worth.set(address, one);
    }
    return worth;
  }

  /**
   * Returns the price of the pool's token on that side, and the 10^−18 dollars on the other side.
   */
  #priceOf({ pool, quotes }: Anchor, side: 0 | 1, worth: ReadonlyMap<string, bigint>) {
    const other = side === 0 ? 1 : 0;
    const otherPrice = worth.get(quotes[other].address);
    const ratio = pool.state.ratio();
    if (otherPrice === undefined || !ratio) return undefined;
    // ratio: units of token 1 per units of token 0.
    const [up, down] = side === 0 ? ratio : [ratio[1], ratio[0]];
    const depth = ((pool.state.depth(other) ?? 0n) * otherPrice) / powerOfTen(quotes[other].decimals);
    const one =
      (up * otherPrice * powerOfTen(quotes[side].decimals)) / (down * powerOfTen(quotes[other].decimals));
    return one > 0n ? { depth, one } : undefined;
  }
}

/**
 * Returns the median of the prices within the window that ends at a moment, weighted by time. Times
 * without a price do not count.
 */
function medianOf(changes: readonly PriceChange[], atMs: number): bigint | undefined {
  const beginMs = atMs - WORTH_WINDOW_MS;
  const spans = changes.flatMap(({ fromMs, one }, index) => {
    const startMs = index === 0 ? beginMs : Math.max(beginMs, fromMs);
    const endMs = Math.min(atMs, changes[index + 1]?.fromMs ?? atMs);
    return one === undefined || endMs <= startMs ? [] : [{ one, ms: endMs - startMs }];
  });
  const total = spans.reduce((sum, { ms }) => sum + ms, 0);
  let passed = 0;
  for (const { one, ms } of spans.toSorted((a, b) => (a.one < b.one ? -1 : Number(a.one > b.one)))) {
    passed += ms;
    if (2 * passed >= total) return one;
  }
  return undefined;
}
