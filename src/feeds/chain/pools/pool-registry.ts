import type { QuoteToken } from "../../quote-tokens.ts";
import { type FactoryForm, type Network, type PoolFormName, quotesByAddress } from "../network.ts";
import { FORMS, formOf } from "./forms/forms.ts";
import type { PoolFacts, PoolState } from "./forms/pool-form.ts";
import type { PoolCreated, PoolLog } from "./forms/pool-log.ts";
import type { Pool, PoolSide, TokenFacts, TrackedToken } from "./pool.ts";
import type { UsdPrices } from "./usd-prices.ts";

/**
 * Memory bounds. The least recently used pools, and the other entries that were added first, are
 * forgotten first. They are looked up again when needed.
 */
const MAX_POOLS = 200_000;
const MAX_IGNORED = 400_000;
const MAX_TOKENS = 200_000;

/** Forms whose logs report the whole state, so that it cannot stay wrong. The others add up. */
const WHOLE_FORMS: ReadonlySet<PoolFormName> = new Set(["v2", "curve"]);

/**
 * Stores the pools that matter. A factory of the network created them. One side is a quote token,
 * the other a quote token or a token of known decimals.
 */
export class PoolRegistry {
  readonly #factories: ReadonlyMap<string, FactoryForm>;
  readonly #quotes: ReadonlyMap<string, QuoteToken>;
  readonly #usd: UsdPrices;
  /** Most recently used last. */
  readonly #pools = new Map<string, Pool>();
  /** The pools that were added since the chain last replaced blocks. */
  #current = new WeakSet<Pool>();
  readonly #ignored = new Set<string>();
  /** `undefined`: the contract is no valid token, or endpoints disagree about it. */
  readonly #tokens = new Map<string, TrackedToken | undefined>();
  /** The tokens and pools that are ignored because endpoints disagree about them. */
  readonly #undecided = new Set<string>();

  constructor(network: Network, usd: UsdPrices) {
    this.#factories = new Map(network.factories.map(({ address, form }) => [address, form]));
    this.#quotes = quotesByAddress(network);
    this.#usd = usd;
  }

  /** Returns the pool at that address, if it matters, and marks it as recently used. */
  find(address: string): Pool | undefined {
    const pool = this.#pools.get(address);
    if (!pool) return undefined;
    this.#pools.delete(address);
    this.#pools.set(address, pool);
    return pool;
  }

  /** Returns the pool at that address without marking it as recently used. */
  peek(address: string): Pool | undefined {
    return this.#pools.get(address);
  }

  isQuote(address: string): boolean {
    return this.#quotes.has(address);
  }

  /** Returns whether the pool has never been looked up, or must be looked up again. */
  isUnknown(address: string): boolean {
    const pool = this.#pools.get(address);
    if (!pool) return !this.#ignored.has(address);
    return pool.state.isOutdated === true || !(WHOLE_FORMS.has(pool.form) || this.#current.has(pool));
  }

  /**
   * Returns whether the emitter is entitled to the log: only a factory of the network can create a
   * pool, and only a singleton can report on its pools.
   */
  isGenuine({ kind, form }: PoolLog, emitter: string): boolean {
    const factory = this.#factories.get(emitter);
    const isAnyones = kind !== "created" && !FORMS[form].isSingleton;
    return isAnyones || (factory !== undefined && formOf(factory) === form);
  }

  /** Returns the tokens to look up before a pool of these two can be added; none if irrelevant. */
  unknownTokens(token0: string, token1: string): readonly string[] {
    if (!this.#quotes.has(token0) && !this.#quotes.has(token1)) return [];
    return [token0, token1].filter((token) => !this.#quotes.has(token) && !this.#tokens.has(token));
  }

  /** Stores a token's facts; `undefined` if none can be trusted. */
  learnToken(address: string, facts: TokenFacts | undefined): void {
    this.#tokens.set(
      address,
      facts && { ...facts, introducedAtMs: Number.NEGATIVE_INFINITY, isLaunched: false },
    );
    trim(this.#tokens, MAX_TOKENS);
  }

  /** Records that a token or pool is ignored only because endpoints disagree about it. */
  markUndecided(address: string): void {
    this.#undecided.add(address);
    trim(this.#undecided, MAX_IGNORED);
  }

  /** Forgets the undecided tokens and pools, so that they are looked up again when needed. */
  forgetUndecided(): void {
    for (const address of this.#undecided) {
      this.#ignored.delete(address);
      if (!this.#tokens.get(address)) this.#tokens.delete(address);
    }
    this.#undecided.clear();
  }

  /** Causes states to be looked up again, because they may include blocks that were replaced. */
  forgetStates(): void {
    this.#current = new WeakSet();
  }

  /** Causes the token's next event to publish its profile again. */
  forgetIntroduction(address: string): void {
    const token = this.#tokens.get(address);
    if (token) token.introducedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Adds a newly created pool, unless it is known. */
  create(created: PoolCreated): void {
    const { pool, form } = created;
    if (!this.#pools.has(pool)) this.#add(created, form, FORMS[form].create(created));
  }

  /** Adds a pool that was looked up, or replaces its state. */
  learnPool(facts: PoolFacts): void {
    this.#add(facts, facts.form, facts.state);
  }

  /** Records that the address has no pool that matters. */
  dismiss(address: string): void {
    this.#ignored.add(address);
    trim(this.#ignored, MAX_IGNORED);
  }

  #add(
    { pool: address, token0, token1 }: Pick<PoolCreated, "pool" | "token0" | "token1">,
    form: PoolFormName,
    state: PoolState,
  ): void {
    const first = this.#sideOf(token0);
    const second = this.#sideOf(token1);
    if (!first || !second || (first.kind === "token" && second.kind === "token")) {
      this.dismiss(address);
      if ([token0, token1].some((token) => this.#undecided.has(token))) this.markUndecided(address);
      return;
    }
    // A curve is published by its token's address, even if its launchpad numbers its curves.
    const published = form === "curve" ? token0 : address;
    const pool: Pool = { address: published, form, sides: [first, second], state };
    if (form === "curve" && first.kind === "token") first.token.isLaunched = true;
    this.#ignored.delete(address);
    this.#pools.set(address, pool);
    this.#current.add(pool);
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

function trim(entries: Map<string, unknown> | Set<string>, max: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= max) return;
    entries.delete(key);
  }
}
