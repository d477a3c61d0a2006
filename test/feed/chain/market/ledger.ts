import type { MarketEvent } from "../../../../src/market/index.ts";
import { E18 } from "./exchange.ts";

/** What a pool of the ledger has. */
interface Book {
  readonly pool: string;
  readonly token: string;
  readonly decimals: number;
  tokens: bigint;
  coins: bigint;
}

/**
 * Records what a test did on V2 pools between a token and the coin, independently of the chain and
 * the code under test. Reserves follow the constant product with the fee of 0.3 %, dollars the
 * coin's median price of the last sixty seconds, and decimals long division.
 */
export class Ledger {
  readonly events: MarketEvent[] = [];
  readonly #books = new Map<string, Book>();
  /** Reserves of the pool that prices the coin. */
  #usd = 600_000n * E18;
  #coins = 1_000n * E18;
  /** The coin's price after the block of a second, and up to the next. */
  readonly #prices: { readonly fromMs: number; readonly one: bigint }[] = [{ fromMs: 0, one: 600n * E18 }];

  /** Somebody lists a token. */
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

  /** Reserves of a token's pool. */
  book(token: string): Book {
    const book = this.#books.get(token);
    if (!book) throw new Error(`${token} is not listed`);
    return book;
  }

  /** So many coins go in; yields the tokens that come out. */
  buy(atMs: number, token: string, coins: bigint, trader: string): bigint {
    const book = this.book(token);
    const out = swapped(coins, book.coins, book.tokens);
    book.coins += coins;
    book.tokens -= out;
    this.#tell(atMs, book, "buy", out, coins, trader);
    return out;
  }

  /** So many tokens really arrive in the pool; yields the coins that come out. */
  sell(atMs: number, token: string, tokens: bigint, trader: string): bigint {
    const book = this.book(token);
    const out = swapped(tokens, book.tokens, book.coins);
    book.tokens += tokens;
    book.coins -= out;
    this.#tell(atMs, book, "sell", tokens, out, trader);
    return out;
  }

  /** What happens in one transaction: trades count when it is over. */
  inOneTransaction(actions: () => void): void {
    const before = this.events.length;
    actions();
    const added = this.events.splice(before);
    this.events.push(...added.filter(({ kind }) => kind !== "trade"));
    this.events.push(...added.filter(({ kind }) => kind === "trade"));
  }

  /** Somebody brings liquidity, or takes it back: amounts below zero. */
  move(atMs: number, token: string, tokens: bigint, coins: bigint): void {
    const book = this.book(token);
    book.tokens += tokens;
    book.coins += coins;
    this.#tellLiquidity(atMs, book, coins > 0n ? "add" : "remove");
  }

  /** Someone buys coins for dollars: the coin's price moves without an event. */
  buyCoins(atMs: number, usd: bigint): bigint {
    const out = swapped(usd, this.#usd, this.#coins);
    this.#usd += usd;
    this.#coins -= out;
    this.#prices.push({ fromMs: atMs, one: (this.#usd * E18) / this.#coins });
    return out;
  }

  /** Somebody sells coins for dollars. */
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

  /** Of the prices in each of the sixty seconds before, the thirtieth from below. */
  #one(atMs: number): bigint {
    const seconds = Array.from({ length: 60 }, (_, second) => atMs - (second + 1) * 1_000);
    const prices = seconds.map((ms) => this.#prices.findLast(({ fromMs }) => fromMs <= ms)?.one ?? 0n);
    return prices.toSorted((a, b) => (a < b ? -1 : Number(a > b)))[29] ?? 0n;
  }

  #liquidity(atMs: number, { coins }: Book): string {
    return divide(2n * this.#worth(atMs, coins), E18, 18);
  }

  #tellLiquidity(at: number, book: Book, cause: "sync" | "add" | "remove"): void {
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

  #tell(at: number, book: Book, side: "buy" | "sell", tokens: bigint, coins: bigint, trader: string): void {
    const { pool, token, decimals } = book;
    this.#tellLiquidity(at, book, "sync");
    const price = significant(coins * this.#one(at) * 10n ** BigInt(decimals), tokens * E18 * E18, 18);
    const amount = divide(tokens, 10n ** BigInt(decimals), decimals);
    const quoteUsd = divide(this.#worth(at, coins), E18, 18);
    this.events.push({ kind: "trade", at, group: "bsc", pool, token, side, price, amount, quoteUsd, trader });
  }
}

/** x·y = k with the fee of Uniswap V2. */
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

/** The same with at most this many significant digits. */
export function significant(numerator: bigint, denominator: bigint, figures: number): string {
  const whole = numerator / denominator;
  if (whole > 0n) return divide(numerator, denominator, figures - `${whole}`.length);
  let zeros = 0;
  for (let scaled = numerator * 10n; scaled < denominator; scaled *= 10n) zeros += 1;
  return divide(numerator, denominator, zeros + figures);
}
