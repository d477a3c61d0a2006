import { MINUTE_MS } from "../../../lib/time/time.ts";
import type { QuoteToken } from "../network.ts";
import { powerOfTen, USD_DECIMALS } from "./exact-decimal.ts";
import { depthOf, type Pool } from "./pool.ts";

const ONE_DOLLAR = powerOfTen(USD_DECIMALS);

/** Span of event time of which a worth is the median: half of it is the least for which somebody has to hold a price to be believed. */
export const WORTH_WINDOW_MS = MINUTE_MS;

interface Anchor {
  readonly pool: Pool;
  readonly quotes: readonly [QuoteToken, QuoteToken];
}

/** What the anchors said of a token from a moment on; `undefined`: nothing. */
interface Saying {
  readonly fromMs: number;
  readonly one: bigint | undefined;
}

/**
 * What a quote token is worth in US dollars. A stablecoin is worth one. Any other is worth the median over the last minute of what the deepest pool between it and a
 * quote token of known worth said at the end of each block. A pool says nothing where less than `leastUsd` lies on its other side, for traders and, of the V3
 * forms, in range of its price: it could be bent by anyone, and one without liquidity in range says whatever it is told.
 *
 * So a price that a huge swap makes, or a loan that is paid back in its own transaction, moves no dollar figure of any token, unless it is held for half
 * a minute, against everybody who would trade it back; what a token is really worth is told half a minute late.
 */
export class UsdPrices {
  readonly #quotes: readonly QuoteToken[];
  readonly #leastUsd: bigint;
  readonly #anchors = new Map<string, Anchor>();
  /** By address, the oldest first; the first one counts for all time before it. */
  readonly #sayings = new Map<string, Saying[]>();
  readonly #worth = new Map<string, bigint>();
  #isStale = true;
  #settledAtMs = Number.NEGATIVE_INFINITY;

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

  /** To be called before each block, with its time: the pools are as the block before left them, and what is worth what is settled for this one. */
  settle(atMs: number): void {
    if (this.#isStale) this.#ask();
    this.#isStale = false;
    this.#settledAtMs = atMs;
    for (const [address, sayings] of this.#sayings) {
      while ((sayings[1]?.fromMs ?? Number.POSITIVE_INFINITY) <= atMs - WORTH_WINDOW_MS) sayings.shift();
      const one = medianOf(sayings, atMs);
      if (one === undefined) this.#worth.delete(address);
      else this.#worth.set(address, one);
    }
  }

  /** What `units` of the token's smallest unit are worth, in 10^−18 dollars, cut off behind; `undefined` while no pool tells it. */
  worthOf(quote: QuoteToken, units: bigint): bigint | undefined {
    const one = this.wholeWorth(quote);
    return one === undefined ? undefined : (units * one) / powerOfTen(quote.decimals);
  }

  /** What one whole token is worth, in 10^−18 dollars. */
  wholeWorth(quote: QuoteToken): bigint | undefined {
    return quote.isStable ? ONE_DOLLAR : this.#worth.get(quote.address);
  }

  /** Notes what the anchors say now: it holds from the block on that was settled last. */
  #ask(): void {
    const said = this.#compute();
    for (const { address, isStable } of this.#quotes) {
      if (isStable) continue;
      const one = said.get(address);
      const sayings = this.#sayings.get(address);
      if (!sayings) {
        // What was never known has no past.
        if (one !== undefined) this.#sayings.set(address, [{ fromMs: this.#settledAtMs, one }]);
      } else if (sayings.at(-1)?.one !== one) {
        // Of blocks of one moment the last counts.
        if (sayings.length > 1 && sayings.at(-1)?.fromMs === this.#settledAtMs) sayings.pop();
        sayings.push({ fromMs: this.#settledAtMs, one });
      }
    }
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
          const said = this.#hear(anchor, side, worth);
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
  #hear({ pool, quotes }: Anchor, side: 0 | 1, worth: ReadonlyMap<string, bigint>) {
    const other = side === 0 ? 1 : 0;
    const lent = worth.get(quotes[other].address);
    if (lent === undefined || !pool.isCounted) return undefined;
    const ratio = ratioOf(pool);
    if (!ratio) return undefined;
    // ratio: units of token 1 for units of token 0.
    const [up, down] = side === 0 ? ratio : [ratio[1], ratio[0]];
    const depth = ((depthOf(pool, other) ?? 0n) * lent) / powerOfTen(quotes[other].decimals);
    const one = (up * lent * powerOfTen(quotes[side].decimals)) / (down * powerOfTen(quotes[other].decimals));
    return one > 0n ? { depth, one } : undefined;
  }
}

/** What was said for half of the window that ends at a moment, or less, in order of the worth: nothing said counts for nothing. */
function medianOf(sayings: readonly Saying[], atMs: number): bigint | undefined {
  const beginMs = atMs - WORTH_WINDOW_MS;
  const spans = sayings.flatMap(({ fromMs, one }, index) => {
    const startMs = index === 0 ? beginMs : Math.max(beginMs, fromMs);
    const endMs = Math.min(atMs, sayings[index + 1]?.fromMs ?? atMs);
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

/** How many units of token 1 a pool gives for how many of token 0; `undefined` while it is empty. */
function ratioOf({ form, balances: [first, second], range }: Pool): readonly [bigint, bigint] | undefined {
  if (form === "v2") return first > 0n && second > 0n ? [second, first] : undefined;
  return range && range.sqrtPriceX96 > 0n ? [range.sqrtPriceX96 * range.sqrtPriceX96, 1n << 192n] : undefined;
}
