import type { Network, QuoteToken } from "../network.ts";
import type { PoolCreated } from "./decode.ts";
import type { Pool, PoolSide, TrackedToken } from "./pool.ts";
import type { PoolFacts, TokenFacts } from "./token.ts";
import type { UsdPrices } from "./usd-prices.ts";

/** Bounds of memory: what was silent longest is forgotten first, and asked for again when it comes back. */
const MAX_POOLS = 200_000;
const MAX_STRANGERS = 400_000;
const MAX_TOKENS = 200_000;

/** The pools that matter: made by a factory of the network, with a quote token on one side at least, and a token whose decimals are known on the other. */
export class PoolRegistry {
  readonly #factories: ReadonlyMap<string, string>;
  readonly #quotes: ReadonlyMap<string, QuoteToken>;
  readonly #usd: UsdPrices;
  /** The latest used last. */
  readonly #pools = new Map<string, Pool>();
  readonly #strangers = new Set<string>();
  /** `undefined`: a contract that is no usable token. */
  readonly #tokens = new Map<string, TrackedToken | undefined>();

  constructor(network: Network, usd: UsdPrices) {
    this.#factories = new Map(network.factories.map(({ address, form }) => [address, form]));
    this.#quotes = new Map(network.quotes.map((quote) => [quote.address, quote]));
    this.#usd = usd;
  }

  /** The pool at that address, if it is one that matters. */
  find(address: string): Pool | undefined {
    const pool = this.#pools.get(address);
    if (!pool) return undefined;
    this.#pools.delete(address);
    this.#pools.set(address, pool);
    return pool;
  }

  /** The same, without counting it as used. */
  peek(address: string): Pool | undefined {
    return this.#pools.get(address);
  }

  /** It is one of the network's quote tokens. */
  isQuote(address: string): boolean {
    return this.#quotes.has(address);
  }

  /** Nothing was ever found out about that address. */
  isUnknown(address: string): boolean {
    return !this.#pools.has(address) && !this.#strangers.has(address);
  }

  /** The log was written by a factory of the network. */
  isGenuine({ factory, form }: PoolCreated): boolean {
    return this.#factories.get(factory) === form;
  }

  /** The tokens of which facts are needed before a pool between these two can be taken in: none where it does not matter. */
  unknownTokens(token0: string, token1: string): readonly string[] {
    if (!this.#quotes.has(token0) && !this.#quotes.has(token1)) return [];
    return [token0, token1].filter((token) => !this.#quotes.has(token) && !this.#tokens.has(token));
  }

  /** Takes in what a token says of itself; `undefined`: it is not usable. */
  learnToken(address: string, facts: TokenFacts | undefined): void {
    this.#tokens.set(address, facts && { ...facts, toldAtMs: Number.NEGATIVE_INFINITY });
    trim(this.#tokens, MAX_TOKENS);
  }

  /** The token is to be introduced anew with what happens next. */
  forgetIntroduction(address: string): void {
    const token = this.#tokens.get(address);
    if (token) token.toldAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Takes in a pool at its creation. */
  create({ pool, form, token0, token1 }: PoolCreated): void {
    if (this.#pools.has(pool)) return;
    const shape = form === "v2" ? "v2" : "v3";
    this.#add(
      {
        ...{ address: pool, form: shape, token0, token1, balances: [0n, 0n] },
        ...{ countedAtBlock: -1, range: undefined },
      },
      true,
    );
  }

  /** Takes in a pool that was there before. */
  learnPool(facts: PoolFacts): void {
    this.#add(facts, facts.balances?.every((units) => units === 0n) ?? false);
  }

  /** Takes in that the address is no pool that matters. */
  dismiss(address: string): void {
    this.#strangers.add(address);
    trim(this.#strangers, MAX_STRANGERS);
  }

  #add(facts: PoolFacts, isFresh: boolean): void {
    const { address, form, token0, token1, balances, countedAtBlock, range } = facts;
    const first = this.#sideOf(token0);
    const second = this.#sideOf(token1);
    if (!first || !second || (first.kind === "token" && second.kind === "token")) {
      this.dismiss(address);
      return;
    }
    const pool: Pool = {
      address,
      form,
      sides: [first, second],
      balances: balances ? [...balances] : [0n, 0n],
      owed: [0n, 0n],
      isCounted: balances !== undefined,
      countedAtBlock,
      isFresh,
      range,
      rangeAtBlock: countedAtBlock,
    };
    this.#strangers.delete(address);
    this.#pools.set(address, pool);
    trim(this.#pools, MAX_POOLS);
    this.#usd.add(pool);
  }

  #sideOf(address: string): PoolSide | undefined {
    const quote = this.#quotes.get(address);
    if (quote) return { kind: "quote", quote };
    const token = this.#tokens.get(address);
    return token && { kind: "token", token };
  }
}

function trim(held: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of held.keys()) {
    if (held.size <= most) return;
    held.delete(key);
  }
}
