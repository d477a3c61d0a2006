import type { MarketEvent } from "../../../../src/base/market/index.ts";
import { E18 } from "./exchange.ts";

/** A pool and its reserves. */
interface Book {
  readonly pool: string;
  readonly token: string;
  readonly decimals: number;
  tokens: bigint;
  coins: bigint;
}

/**
 * Computes the expected events of V2 pools between a token and the coin, independently of the chain
 * and the code under test. Reserves follow the constant product with a fee of 0.3 %. Dollars follow
 * the coin's median price of the last sixty seconds. Decimals come from long division.
 */
export class Ledger {
  readonly events: MarketEvent[] = [];
  readonly #books = new Map<string, Book>();
  /** Reserves of the pool that prices the coin. */
  #usd = 600_000n * E18;
  #coins = 1_000n * E18;
  /** The coin's prices, each from the block at `fromMs` until the next. */
  readonly #prices: { readonly fromMs: number; readonly one: bigint }[] = [{ fromMs: 0, one: 600n * E18 }];

  /** Lists a token. */
  list(atMs: number, book: Book, names: { readonly symbol: string; readonly name: string }): void {
    const { pool, token } = book;
    this.#books.set(token, { ...book });
    this.events.push({ kind: "profile", at: atMs, group: "bsc", token, ...names });
    this.events.push({
      kind: "listing",
      at: atMs,
      group: "bsc",
      pool,
      token,
      liquidity: this.#liquidity(atMs, book),
    });
  }

  /** Returns the pool of a token. */
  book(token: string): Book {
    const book = this.#books.get(token);
    if (!book) throw new Error(`${token} is not listed`);
    return book;
  }

  /** Buys for `coins`. Returns the tokens that come out. */
  buy(atMs: number, token: string, coins: bigint, trader: string): bigint {
    const book = this.book(token);
    const out = swapped(coins, book.coins, book.tokens);
    book.coins += coins;
    book.tokens -= out;
    this.#addTrade(atMs, book, "buy", out, coins, trader);
    return out;
  }

  /** Sells the `tokens` that the pool receives. Returns the coins that come out. */
  sell(atMs: number, token: string, tokens: bigint, trader: string): bigint {
    const book = this.book(token);
    const out = swapped(tokens, book.tokens, book.coins);
    book.tokens += tokens;
    book.coins -= out;
    this.#addTrade(atMs, book, "sell", tokens, out, trader);
    return out;
  }

  /** Runs actions as one transaction: its trades follow its other events. */
  inOneTransaction(actions: () => void): void {
    const before = this.events.length;
    actions();
    const added = this.events.splice(before);
    this.events.push(...added.filter(({ kind }) => kind !== "trade"));
    this.events.push(...added.filter(({ kind }) => kind === "trade"));
  }

  /** Adds liquidity. Negative amounts remove it. */
  move(atMs: number, token: string, tokens: bigint, coins: bigint): void {
    const book = this.book(token);
    book.tokens += tokens;
    book.coins += coins;
    this.#addLiquidity(atMs, book, coins > 0n ? "add" : "remove");
  }

  /** Buys coins for dollars, which moves the coin's price without an event. */
  buyCoins(atMs: number, usd: bigint): bigint {
    const out = swapped(usd, this.#usd, this.#coins);
    this.#usd += usd;
    this.#coins -= out;
    this.#prices.push({ fromMs: atMs, one: (this.#usd * E18) / this.#coins });
    return out;
  }

  /** Sells coins for dollars. */
  sellCoins(atMs: number, coins: bigint): bigint {
    const out = swapped(coins, this.#coins, this.#usd);
    this.#coins += coins;
    this.#usd -= out;
    this.#prices.push({ fromMs: atMs, one: (this.#usd * E18) / this.#coins });
    return out;
  }

  /** Returns this many of the coin's units in 10^−18 dollars, truncated. */
  #worth(atMs: number, coins: bigint): bigint {
    return (coins * this.#one(atMs)) / E18;
  }

  /** Returns the thirtieth lowest of the prices in the sixty previous seconds. */
  #one(atMs: number): bigint {
    const seconds = Array.from({ length: 60 }, (_, second) => atMs - (second + 1) * 1_000);
    const prices = seconds.map((ms) => this.#prices.findLast(({ fromMs }) => fromMs <= ms)?.one ?? 0n);
    return prices.toSorted((a, b) => (a < b ? -1 : Number(a > b)))[29] ?? 0n;
  }

  #liquidity(atMs: number, { coins }: Book): string {
    return divide(2n * this.#worth(atMs, coins), E18, 18);
  }

  #addLiquidity(at: number, book: Book, cause: "sync" | "add" | "remove"): void {
    const { pool, token } = book;
    this.events.push({
      kind: "liquidity",
      at,
      group: "bsc",
      pool,
      token,
      usd: this.#liquidity(at, book),
      cause,
    });
  }

  #addTrade(
    at: number,
    book: Book,
    side: "buy" | "sell",
    tokens: bigint,
    coins: bigint,
    trader: string,
  ): void {
    const { pool, token, decimals } = book;
    this.#addLiquidity(at, book, "sync");
    const price = significant(coins * this.#one(at) * 10n ** BigInt(decimals), tokens * E18 * E18, 18);
    const amount = divide(tokens, 10n ** BigInt(decimals), decimals);
    const quoteUsd = divide(this.#worth(at, coins), E18, 18);
    this.events.push({ kind: "trade", at, group: "bsc", pool, token, side, price, amount, quoteUsd, trader });
  }
}

/** Returns the output of a swap: x·y = k with the fee of Uniswap V2. */
export function swapped(units: bigint, into: bigint, from: bigint): bigint {
  return (units * 997n * from) / (into * 1_000n + units * 997n);
}

/** Divides digit by digit, to at most this many decimals, without trailing zeros. */
export function divide(numerator: bigint, denominator: bigint, decimals: number): string {
  let text = `${numerator / denominator}.`;
  let rest = numerator % denominator;
  for (let figure = 0; figure < decimals && rest > 0n; figure++) {
    rest *= 10n;
    text += `${rest / denominator}`;
    rest %= denominator;
  }
  return text.replace(/(?<=\..*)0+$/, "").replace(/\.$/, "");
}

/** Divides to at most this many significant digits. */
export function significant(numerator: bigint, denominator: bigint, figures: number): string {
  const whole = numerator / denominator;
  if (whole > 0n) return divide(numerator, denominator, figures - `${whole}`.length);
  let zeros = 0;
  for (let scaled = numerator * 10n; scaled < denominator; scaled *= 10n) zeros += 1;
  return divide(numerator, denominator, zeros + figures);
}
