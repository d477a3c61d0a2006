import { expect, test } from "vitest";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import { IS_SOAK } from "../../../support/law-runs.ts";
import { eventsOf } from "../market/collect.ts";
import { E18, Exchange } from "../market/exchange.ts";
import { divide, significant, swapped } from "../market/ledger.ts";
import { describeOnAnvil } from "../nodes/anvil.ts";
import { addressIn, batchOf, type Call, OWNER, type TestChain, wallet } from "../nodes/test-chain.ts";

const FOREVER = 4_000_000_000n;
const USERS = IS_SOAK ? 40 : 12;
const ALL = 2n ** 256n - 1n;

/** A pool of the token and coins, and its router. */
interface CoinPool {
  readonly pool: string;
  readonly router: string;
  tokens: bigint;
  coins: bigint;
}

/** A token with pools on several exchanges, and contracts that trade in them. */
class People implements AsyncDisposable {
  readonly exchange: Exchange;
  readonly chain: TestChain;
  readonly token: string;
  readonly pools: CoinPool[] = [];
  readonly #factories: string[] = [];

  private constructor(exchange: Exchange, token: string) {
    this.exchange = exchange;
    this.chain = exchange.chain;
    this.token = token;
  }

  /** Opens one pool for each amount of tokens, with as many coins as 10,000 of them cost one. */
  static async open(...amounts: readonly bigint[]): Promise<People> {
    const exchange = await Exchange.open();
    const people = new People(exchange, await exchange.token("Alpha", "ALPHA"));
    for (const tokens of amounts) await people.#list(tokens * E18, (tokens * E18) / 10_000n);
    return people;
  }

  async #list(tokens: bigint, coins: bigint): Promise<void> {
    const { chain, token } = this;
    const { coin, v2Factory, v2Router } = this.exchange;
    const isFirst = this.pools.length === 0;
    const factory = isFirst ? v2Factory : await chain.deploy("v2Factory", [OWNER]);
    const router = isFirst ? v2Router : await chain.deploy("v2Router", [factory, coin]);
    if (!isFirst) this.#factories.push(factory);
    for (const one of [token, coin]) await this.approve(OWNER, one, router);
    await chain.send(OWNER, router, "v2Router", "addLiquidity", [
      ...[token, coin, tokens, coins, 0n, 0n, OWNER, FOREVER],
    ]);
    await chain.mine();
    const pool = addressIn(await chain.read(factory, "v2Factory", "getPair", [token, coin]));
    this.pools.push({ pool, router, tokens, coins });
  }

  async approve(account: string, token: string, router: string): Promise<void> {
    await this.chain.send(account, token, "token", "approve", [router, ALL]);
  }

  /** Turns an account into a batch contract that can trade with 1,000 coins. */
  async contract(account: string): Promise<string> {
    const { chain, exchange, token } = this;
    for (const { router } of this.pools)
      for (const one of [token, exchange.coin]) await this.approve(account, one, router);
    await exchange.give(exchange.coin, account, 1_000n * E18);
    await chain.mine();
    const batch = await chain.deploy("batch");
    await chain.copy(batch, account);
    return account;
  }

  /** Returns the call that buys for `coins`, and the tokens that come out. */
  buy({ router, ...pool }: CoinPool, coins: bigint, to: string): readonly [Call, bigint] {
    const tokens = swapped(coins, pool.coins, pool.tokens);
    this.#move(pool.pool, -tokens, coins);
    return [this.#swap(router, coins, [this.exchange.coin, this.token], to), tokens];
  }

  /** Returns the call that sells `tokens`, and the coins that come out. */
  sell({ router, ...pool }: CoinPool, tokens: bigint, to: string): readonly [Call, bigint] {
    const coins = swapped(tokens, pool.tokens, pool.coins);
    this.#move(pool.pool, tokens, -coins);
    return [this.#swap(router, tokens, [this.token, this.exchange.coin], to), coins];
  }

  /** Returns the trades, and the liquidity reports of the last block that has any. */
  async settle(): Promise<{ trades: readonly MarketEvent[]; liquidity: readonly string[] }> {
    const { network } = this.exchange;
    const added = this.#factories.map((address) => ({ name: "V2", form: "v2" as const, address }));
    const factories = [...network.factories, ...added];
    const events = await eventsOf({ chain: this.chain, network: { ...network, factories } });
    const reports = events.flatMap((event) => (event.kind === "liquidity" ? [event] : []));
    const lastAt = reports.at(-1)?.at;
    return {
      trades: events.filter(({ kind }) => kind === "trade"),
      liquidity: reports.filter(({ at }) => at === lastAt).map(({ pool, usd }) => `${pool} ${usd}`),
    };
  }

  /** Returns the expected trade: at the price of its first part, and 600 dollars per coin. */
  trade(
    side: "buy" | "sell",
    trader: string,
    parts: readonly (readonly [pool: CoinPool, tokens: bigint, coins: bigint])[],
  ) {
    const [[{ pool }, tokens, coins] = [{ pool: "" }, 1n, 0n]] = parts;
    const sum = (index: 1 | 2) => parts.reduce((all, part) => all + part[index], 0n);
    return {
      kind: "trade",
      group: "bsc",
      pool,
      token: this.token,
      side,
      trader,
      price: significant(600n * coins, tokens, 18),
      amount: divide(sum(1), E18, 18),
      quoteUsd: divide(600n * sum(2), E18, 18),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.chain[Symbol.asyncDispose]();
  }

  #move(pool: string, tokens: bigint, coins: bigint): void {
    for (const one of this.pools) {
      if (one.pool !== pool) continue;
      one.tokens += tokens;
      one.coins += coins;
    }
  }

  #swap(router: string, units: bigint, path: readonly string[], to: string): Call {
    const name = "swapExactTokensForTokensSupportingFeeOnTransferTokens";
    return [router, "v2Router", name, [units, 0n, path, to, FOREVER]];
  }
}

describeOnAnvil("people behind the swaps of real pools", () => {
  test("[people] arbitrage through three pools is no trade, and the pools report their liquidity after it", async () => {
    await using people = await People.open(1_000_000n, 500_000n);
    const { chain, exchange, token, pools } = people;
    const [first, second] = pools;
    if (!first || !second) throw new Error("no pools");
    const { coin, usd, v2Router } = exchange;
    // The third pool sells the token for dollars, at a price ten percent higher.
    await exchange.addV2(token, 100_000n * E18, usd, 6_600n * E18);
    await chain.mine();
    const bot = await people.contract(wallet(1));
    const [buy, bought] = people.buy(first, 2n * E18, bot);
    const [sell] = people.sell(second, bought / 2n, bot);
    const path = [token, usd, coin];
    const name = "swapExactTokensForTokensSupportingFeeOnTransferTokens";
    const last: Call = [v2Router, "v2Router", name, [bought - bought / 2n, 0n, path, bot, FOREVER]];
    await chain.run(wallet(9), bot, [buy, sell, last]);
    await chain.mine();
    const { trades, liquidity } = await people.settle();
    expect(trades).toEqual([]);
    expect(liquidity).toHaveLength(3);
    for (const { pool, coins } of [first, second])
      expect(liquidity).toContain(`${pool} ${divide(1_200n * coins, E18, 18)}`);
  });

  test("[people] a sale that is bought back at the same price, in a pool which the seller fills in that transaction, is a sale", async () => {
    await using people = await People.open(1_000_000n, 10n);
    const { chain, exchange, token, pools } = people;
    const [market, own] = pools;
    if (!market || !own) throw new Error("no pools");
    const seller = await people.contract(wallet(1));
    await exchange.give(token, seller, 1_000_000n * E18);
    await chain.mine();
    const filled = [500_000n * E18, 50n * E18] as const;
    const fill: Call = [
      ...[own.router, "v2Router", "addLiquidity"],
      [token, exchange.coin, ...filled, 0n, 0n, seller, FOREVER],
    ] as const;
    own.tokens += filled[0];
    own.coins += filled[1];
    const [sell, coins] = people.sell(market, 20_000n * E18, seller);
    const [back, bought] = people.buy(own, 2n * E18, seller);
    expect(bought).toBeGreaterThan(19_000n * E18);
    await chain.run(wallet(9), seller, [fill, sell, back]);
    await chain.mine();
    const { trades } = await people.settle();
    expect(trades).toMatchObject([people.trade("sell", seller, [[market, 20_000n * E18, coins]])]);
  });

  test("[people] a purchase that an aggregator splits over five pools is one trade of the sum, at the price in the largest pool", async () => {
    await using people = await People.open(1_000_000n, 800_000n, 600_000n, 400_000n, 2_000_000n);
    const { chain } = people;
    const aggregator = await people.contract(wallet(1));
    const user = wallet(2);
    const parts = people.pools.map((pool, index) => {
      const coins = BigInt(index + 1) * (E18 / 10n);
      const [call, tokens] = people.buy(pool, coins, aggregator);
      return { call, part: [pool, tokens, coins] as const };
    });
    const sum = parts.reduce((all, { part }) => all + part[1], 0n);
    // The aggregator keeps a hundredth as its fee.
    const fee = sum / 100n;
    const pay = (to: string, units: bigint): Call => [people.token, "token", "transfer", [to, units]];
    const calls = [...parts.map(({ call }) => call), pay(user, sum - fee), pay(wallet(3), fee)];
    await chain.run(user, aggregator, calls);
    await chain.mine();
    // The same for a user whose wallet has its transactions sent by a relayer.
    const again = people.pools.map((pool, index) => {
      const coins = BigInt(index + 1) * (E18 / 10n);
      const [call, tokens] = people.buy(pool, coins, user);
      return { call, part: [pool, tokens, coins] as const };
    });
    await chain.run(
      wallet(9),
      aggregator,
      again.map(({ call }) => call),
    );
    await chain.mine();
    const { trades } = await people.settle();
    expect(trades).toHaveLength(2);
    for (const [index, all] of [parts, again].entries()) {
      const largestFirst = all.map(({ part }) => part).toReversed();
      expect(trades[index]).toMatchObject(people.trade("buy", user, largestFirst));
    }
  });

  test("[people] only the victim of a sandwich counts, in three transactions or in one", async () => {
    await using people = await People.open(1_000_000n);
    const { chain, exchange, pools } = people;
    const [pool] = pools;
    if (!pool) throw new Error("no pool");
    const bot = await people.contract(wallet(1));
    const victim = wallet(2);
    await exchange.approve(victim, exchange.coin);
    await exchange.give(exchange.coin, victim, 10n * E18);
    await chain.mine();
    const [front, held] = people.buy(pool, 5n * E18, bot);
    const [swap, bought] = people.buy(pool, 2n * E18, victim);
    const [back] = people.sell(pool, held, bot);
    // The bot is one contract, which two accounts use.
    await chain.run(wallet(8), bot, [front]);
    await chain.send(victim, ...swap);
    await chain.run(wallet(9), bot, [back]);
    await chain.mine();

    const user = await people.contract(wallet(3));
    const [front2, held2] = people.buy(pool, 5n * E18, bot);
    const [swap2, bought2] = people.buy(pool, 3n * E18, user);
    const [back2] = people.sell(pool, held2, bot);
    const bundler = await people.contract(wallet(4));
    const calls = [batchOf(bot, [front2]), batchOf(user, [swap2]), batchOf(bot, [back2])];
    await chain.run(wallet(9), bundler, calls);
    await chain.mine();
    const { trades, liquidity } = await people.settle();
    expect(trades).toMatchObject([
      people.trade("buy", victim, [[pool, bought, 2n * E18]]),
      people.trade("buy", user, [[pool, bought2, 3n * E18]]),
    ]);
    expect(liquidity.at(-1)).toBe(`${pool.pool} ${divide(1_200n * pool.coins, E18, 18)}`);
  });

  test(`[people] ${USERS} users of one bundler, who buy and sell, count as ${USERS} traders`, async () => {
    await using people = await People.open(1_000_000n);
    const { chain, exchange, token, pools } = people;
    const [pool] = pools;
    if (!pool) throw new Error("no pool");
    const users = Array.from({ length: USERS }, (_, index) => wallet(100 + index));
    const bundler = await chain.deploy("batch");
    for (const user of users) {
      await exchange.approve(user, exchange.coin);
      await exchange.approve(user, token);
      await exchange.give(exchange.coin, user, E18);
      await exchange.give(token, user, 1_000n * E18);
    }
    await chain.mine();
    for (const user of users) await chain.copy(bundler, user);
    const expected = users.map((user, index) => {
      const isBuy = index % 4 > 0;
      const units = isBuy ? E18 / 10n + BigInt(index) : E18 * BigInt(100 + index);
      const [call, out] = isBuy ? people.buy(pool, units, user) : people.sell(pool, units, user);
      const [tokens, coins] = isBuy ? [out, units] : [units, out];
      const trade = people.trade(isBuy ? "buy" : "sell", user, [[pool, tokens, coins]]);
      return { call: batchOf(user, [call]), trade };
    });
    await chain.run(
      wallet(9),
      bundler,
      expected.map(({ call }) => call),
    );
    await chain.mine();
    const { trades } = await people.settle();
    expect(trades).toHaveLength(USERS);
    expect(trades).toMatchObject(expected.map(({ trade }) => trade));
  });
});
