import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/market/index.ts";
import { describeOnAnvil } from "./anvil.ts";
import { Collector, eventsOf } from "./collect.ts";
import { E18, Exchange, VAULT } from "./exchange.ts";
import { FaultyNode } from "./faulty-node.ts";
import { divide, significant } from "./ledger.ts";
import { addressIn, OWNER, wallet } from "./test-chain.ts";

const FULL = 887_200;
const MAX_SQRT = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n;
const MIN_SQRT = 4_295_128_740n;

/** By the factory: what its pools are, and how they are asked for and filled. */
const FORMS = {
  v3Factory: { kind: "v3Pool", lookUp: "getPool", fee: [3_000], mint: "mint", step: 60 },
  cakeFactory: { kind: "cakePool", lookUp: "getPool", fee: [2_500], mint: "mint", step: 50 },
  algebraFactory: { kind: "algebraPool", lookUp: "poolByPair", fee: [], mint: "mintAlgebra", step: 60 },
} as const;

/** A V3 pool that the test acts on, with expected balances read from the tokens themselves. */
class RangePool {
  readonly events: MarketEvent[] = [];
  readonly #exchange: Exchange;
  readonly #token: string;
  readonly #pool: string;
  readonly #isFirst: boolean;
  readonly #form: (typeof FORMS)[keyof typeof FORMS];
  #owed = 0n;

  constructor(exchange: Exchange, token: string, pool: string, form: (typeof FORMS)[keyof typeof FORMS]) {
    this.#form = form;
    this.#exchange = exchange;
    this.#token = token;
    this.#pool = pool;
    this.#isFirst = BigInt(token) < BigInt(exchange.coin);
  }

  static async open(exchange: Exchange, factory: keyof typeof FORMS, token: string): Promise<RangePool> {
    const { chain, coin } = exchange;
    const { kind, lookUp, fee } = FORMS[factory];
    const pair = [token, coin, ...fee];
    await chain.send(OWNER, exchange[factory], factory, "createPool", pair);
    await chain.mine();
    const pool = addressIn(await chain.read(exchange[factory], factory, lookUp, pair));
    await chain.send(OWNER, pool, kind, "initialize", [1n << 96n]);
    // A quarter of the fees leaves the pool with each swap, and the pool does not say so.
    if (kind === "algebraPool") await chain.send(OWNER, pool, kind, "setCommunityFee", [250, 250]);
    await chain.mine();
    return new RangePool(exchange, token, pool, FORMS[factory]);
  }

  /** Coins that lie in the pool; what makers did not collect is not subtracted. */
  #coins(): Promise<bigint> {
    return this.#held(this.#exchange.coin, this.#pool);
  }

  async #held(token: string, account: string): Promise<bigint> {
    return BigInt(await this.#exchange.chain.read(token, "token", "balanceOf", [account]));
  }

  /** By the contract's own liquidity in range, and by the coins that it holds. */
  async #usd(): Promise<string> {
    const { chain } = this.#exchange;
    const { kind } = this.#form;
    const state = await chain.read(this.#pool, kind, kind === "algebraPool" ? "globalState" : "slot0");
    const sqrtPrice = BigInt(state.slice(0, 66));
    const liquidity = BigInt(await chain.read(this.#pool, kind, "liquidity"));
    const near = this.#isFirst ? (liquidity * sqrtPrice) >> 96n : (liquidity << 96n) / sqrtPrice;
    const held = (await this.#coins()) - this.#owed;
    return divide(2n * (near < held ? near : held) * 600n, E18, 18);
  }

  async list(range: number, liquidity: bigint, names: { symbol: string; name: string }): Promise<void> {
    const at = this.#exchange.chain.nextAt * 1_000;
    await this.#act(OWNER, this.#form.mint, [this.#pool, -range, range, liquidity]);
    const [token, pool] = [this.#token, this.#pool];
    this.events.push({ kind: "profile", at, group: "bsc", token, ...names });
    this.events.push({ kind: "listing", at, group: "bsc", pool, token, liquidity: await this.#usd() });
  }

  /** Adds liquidity between two ticks. They count upwards where a token costs fewer coins. */
  async add(from: number, to: number, liquidity: bigint): Promise<void> {
    const at = this.#exchange.chain.nextAt * 1_000;
    const ticks = this.#isFirst ? [-to, -from] : [from, to];
    await this.#act(OWNER, this.#form.mint, [this.#pool, ...ticks, liquidity]);
    this.events.push({ ...this.#liquidityEvent(at), usd: await this.#usd(), cause: "add" });
  }

  async swap(trader: string, side: "buy" | "sell", units: bigint): Promise<void> {
    const { chain, coin } = this.#exchange;
    const at = chain.nextAt * 1_000;
    const of = async () => [await this.#held(this.#token, trader), await this.#held(coin, trader)] as const;
    const [tokensBefore, coinsBefore] = await of();
    const isUp = (side === "buy") === this.#isFirst;
    await this.#act(trader, "swap", [this.#pool, !isUp, units, isUp ? MAX_SQRT : MIN_SQRT]);
    const [tokensAfter, coinsAfter] = await of();
    const tokens = side === "buy" ? tokensAfter - tokensBefore : tokensBefore - tokensAfter;
    const coins = side === "buy" ? coinsBefore - coinsAfter : coinsAfter - coinsBefore;
    const common = { at, group: "bsc", pool: this.#pool, token: this.#token } as const;
    this.events.push({ kind: "liquidity", ...common, usd: await this.#usd(), cause: "sync" });
    const price = significant(600n * coins, tokens, 18);
    const [amount, quoteUsd] = [divide(tokens, E18, 18), divide(600n * coins, E18, 18)];
    this.events.push({ kind: "trade", ...common, side, price, amount, quoteUsd, trader });
  }

  /** Takes liquidity out of its range: it is owed, and no longer liquidity. */
  async burn(range: number, liquidity: bigint): Promise<void> {
    const { chain, v3Router } = this.#exchange;
    const at = chain.nextAt * 1_000;
    const said = await chain.read(this.#pool, "v3Pool", "burn", [-range, range, liquidity], v3Router);
    const [owed0 = 0n, owed1 = 0n] = [said.slice(2, 66), said.slice(66, 130)].map((word) =>
      BigInt(`0x${word}`),
    );
    await this.#act(OWNER, "burn", [this.#pool, -range, range, liquidity]);
    this.#owed += this.#isFirst ? owed1 : owed0;
    this.events.push({ ...this.#liquidityEvent(at), usd: await this.#usd(), cause: "remove" });
  }

  /** Collects what is owed and the fees: only these were liquidity still. */
  async collect(range: number): Promise<void> {
    const at = this.#exchange.chain.nextAt * 1_000;
    await this.#act(OWNER, "collect", [this.#pool, -range, range]);
    this.#owed = 0n;
    this.events.push({ ...this.#liquidityEvent(at), usd: await this.#usd(), cause: "sync" });
  }

  #liquidityEvent(at: number) {
    return { kind: "liquidity", at, group: "bsc", pool: this.#pool, token: this.#token } as const;
  }

  async #act(from: string, name: string, args: readonly unknown[]): Promise<void> {
    const { chain, v3Router } = this.#exchange;
    await chain.send(from, v3Router, "v3Router", name, args);
    await chain.mine();
  }
}

/** An exchange with a pool, and two wallets that can trade in it. */
async function openPool(factory: keyof typeof FORMS): Promise<{ exchange: Exchange; pool: RangePool }> {
  const exchange = await Exchange.open();
  const token = await exchange.token("Range", "RNG");
  for (const account of [wallet(1), wallet(2)]) {
    for (const one of [token, exchange.coin]) {
      await exchange.approve(account, one);
      await exchange.give(one, account, 1_000n * E18);
    }
  }
  return { exchange, pool: await RangePool.open(exchange, factory, token) };
}

describeOnAnvil("what happens in V3 pools on a real EVM", () => {
  test.each(["v3Factory", "cakeFactory", "algebraFactory"] as const)(
    "[exact] %s: listing, swaps both ways, liquidity burnt and collected, as the tokens' own balances have it",
    async (factory) => {
      const { exchange, pool } = await openPool(factory);
      await using chain = exchange.chain;
      const { step } = FORMS[factory];
      const width = Math.floor(FULL / 4 / step) * step;
      await pool.list(width, 5_000n * E18, { symbol: "RNG", name: "Range" });
      await pool.swap(wallet(1), "buy", 3n * E18 + 7n);
      await pool.swap(wallet(2), "sell", 123_456_789_012_345_678n);
      await pool.swap(wallet(2), "buy", 11n);
      await pool.burn(width, 2_000n * E18);
      await pool.collect(width);
      await pool.swap(wallet(1), "sell", 5n * E18);
      expect(await eventsOf(exchange)).toEqual(pool.events);
      const shared = BigInt(await chain.read(exchange.coin, "token", "balanceOf", [VAULT]));
      expect(shared > 0n).toBe(factory === "algebraFactory");
    },
  );

  test.each(["v3Factory", "cakeFactory", "algebraFactory"] as const)(
    "[depth] %s: coins that wait far from the price are no liquidity; what is added and burnt in range is, by the contract's own figure",
    async (factory) => {
      const { exchange, pool } = await openPool(factory);
      await using _ = exchange.chain;
      const { step } = FORMS[factory];
      await pool.list(4_000 * step, 500n * E18, { symbol: "RNG", name: "Range" });
      await pool.add(100 * step, 200 * step, 5_000n * E18);
      const [, listing, added] = pool.events;
      const before = listing?.kind === "listing" ? Number(listing.liquidity) : 0;
      const after = added?.kind === "liquidity" ? Number(added.usd) : Number.POSITIVE_INFINITY;
      expect(before).toBeGreaterThan(500_000);
      expect(after / before).toBeCloseTo(1, 3);
      await pool.add(-10 * step, 10 * step, 2_000n * E18);
      await pool.swap(wallet(1), "buy", 3n * E18);
      await pool.swap(wallet(2), "sell", 2n * E18);
      await pool.burn(10 * step, 2_000n * E18);
      await pool.swap(wallet(1), "buy", E18);
      expect(await eventsOf(exchange)).toEqual(pool.events);
    },
  );

  test.each([
    ["v3Factory", "remember", 1_000],
    ["algebraFactory", "remember", 1_000],
    ["cakeFactory", "have forgotten", 4],
    ["algebraFactory", "have forgotten", 4],
  ] as const)(
    "[before] %s: an existing pool is found by its factory, and its liquidity is exact if nodes %s its past",
    async (factory, memory, blocks) => {
      const { exchange, pool } = await openPool(factory);
      await using chain = exchange.chain;
      await using node = await new FaultyNode(chain.url).start();
      node.fault = { kind: "forgets", blocks };
      await pool.list(6_000, 5_000n * E18, { symbol: "RNG", name: "Range" });
      await chain.mine(300);
      const told = pool.events.length;
      await pool.swap(wallet(1), "buy", 3n * E18);
      await pool.swap(wallet(2), "sell", E18);
      for (let block = 0; block < 10; block++) await chain.mine();
      const beginMs = chain.nextAt * 1_000;
      const { network } = exchange;
      await using collector = new Collector({ network, urls: [node.url], backfillMs: 60_000 });
      for (let block = 0; block < 4; block++) await chain.mine();
      await collector.reached(beginMs);
      await pool.swap(wallet(1), "buy", 2n * E18);
      const untilMs = chain.nextAt * 1_000;
      for (let block = 0; block < 4; block++) await chain.mine();
      await collector.reached(untilMs);
      const events = collector.facts.filter(({ kind }) => kind !== "profile");
      const expected = pool.events.slice(told);
      // Before the block whose state was available, that state's liquidity counts.
      const known = expected.findLast((event) => event.kind === "liquidity" && event.at < beginMs);
      const usd = known?.kind === "liquidity" ? known.usd : "";
      const early = (event: MarketEvent) =>
        memory === "have forgotten" && event.kind === "liquidity" && event.at < beginMs;
      expect(events).toEqual(expected.map((event) => (early(event) ? { ...event, usd } : event)));
      expect(events.map(({ kind }) => kind)).toEqual([
        "liquidity",
        "trade",
        "liquidity",
        "trade",
        "liquidity",
        "trade",
      ]);
    },
  );
});
