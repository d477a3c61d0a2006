import { powerOfTen, USD_DECIMALS } from "./exact-decimal.ts";
import type { QuoteToken } from "./network.ts";
import type { Pool } from "./pool.ts";

const ONE_DOLLAR = powerOfTen(USD_DECIMALS);

interface Anchor {
  readonly pool: Pool;
  readonly quotes: readonly [QuoteToken, QuoteToken];
}

/**
 * What a quote token is worth in US dollars. A stablecoin is worth one. Any other is worth what the deepest pool between it and a quote token of known
 * worth says, where that side of the pool holds at least `leastUsd`; a shallow pool says nothing, for it could be bent by anyone.
 */
export class UsdBook {
  readonly #quotes: readonly QuoteToken[];
  readonly #leastUsd: bigint;
  readonly #anchors = new Map<string, Anchor>();
  #worth: ReadonlyMap<string, bigint> = new Map();
  #isStale = true;

  constructor(quotes: readonly QuoteToken[], leastUsd: number) {
    this.#quotes = quotes;
    this.#leastUsd = BigInt(Math.round(leastUsd)) * ONE_DOLLAR;
  }

  /** Takes in a pool between two quote tokens. Others are left alone. */
  add(pool: Pool): void {
    const [first, second] = pool.sides;
    if (first.kind !== "quote" || second.kind !== "quote") return;
    this.#anchors.set(pool.address, { pool, quotes: [first.quote, second.quote] });
    this.#isStale = true;
  }

  /** To be called when a pool has changed. */
  touch(pool: Pool): void {
    const [first, second] = pool.sides;
    if (first.kind === "quote" && second.kind === "quote") this.#isStale = true;
  }

  /** What `units` of the token's smallest unit are worth, in 10^−18 dollars, cut off behind; `undefined` while no pool tells it. */
  worthOf(quote: QuoteToken, units: bigint): bigint | undefined {
    const one = this.wholeWorth(quote);
    return one === undefined ? undefined : (units * one) / powerOfTen(quote.decimals);
  }

  /** What one whole token is worth, in 10^−18 dollars. */
  wholeWorth(quote: QuoteToken): bigint | undefined {
    if (quote.isStable) return ONE_DOLLAR;
    if (this.#isStale) this.#worth = this.#compute();
    this.#isStale = false;
    return this.#worth.get(quote.address);
  }

  /** From the stablecoins outwards: whoever gets a worth in one round may lend it in the next. */
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
          const said = this.#ask(anchor, side, worth);
          const best = found.get(quote.address);
          if (said && said.depth >= this.#leastUsd && (!best || said.depth > best.depth))
            found.set(quote.address, said);
        }
      }
      if (found.size === 0) break;
      for (const [address, { one }] of found) worth.set(address, one);
    }
    return worth;
  }

  /** What the pool says of its token of that side, and how many 10^−18 dollars lie on the other one. */
  #ask({ pool, quotes }: Anchor, side: 0 | 1, worth: ReadonlyMap<string, bigint>) {
    const other = side === 0 ? 1 : 0;
    const lent = worth.get(quotes[other].address);
    if (lent === undefined || !pool.isCounted) return undefined;
    const ratio = ratioOf(pool);
    if (!ratio) return undefined;
    // ratio: units of token 1 for units of token 0.
    const [up, down] = side === 0 ? ratio : [ratio[1], ratio[0]];
    const depth = (pool.balances[other] * lent) / powerOfTen(quotes[other].decimals);
    const one = (up * lent * powerOfTen(quotes[side].decimals)) / (down * powerOfTen(quotes[other].decimals));
    return one > 0n ? { depth, one } : undefined;
  }
}

/** How many units of token 1 a pool gives for how many of token 0; `undefined` while it is empty. */
function ratioOf({
  form,
  balances: [first, second],
  sqrtPriceX96,
}: Pool): readonly [bigint, bigint] | undefined {
  if (form === "v2") return first > 0n && second > 0n ? [second, first] : undefined;
  return sqrtPriceX96 > 0n ? [sqrtPriceX96 * sqrtPriceX96, 1n << 192n] : undefined;
}
