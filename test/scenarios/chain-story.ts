import { expect } from "vitest";
import type { MarketEvent } from "../../src/base/market/index.ts";
import type { Snapshot } from "../../src/base/model/index.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { openOdds } from "../../src/extensions/odds/index.ts";
import type { Exchange } from "../feeds/chain/market/exchange.ts";
import { Ledger } from "../feeds/chain/market/ledger.ts";
import { wallet } from "../feeds/chain/nodes/test-chain.ts";

const FACTS = { trades: true, liquidity: true, listings: true, profiles: false };

/** A token's trades on a chain, also recorded in a ledger. */
export class Story {
  readonly ledger = new Ledger();
  readonly exchange: Exchange;
  readonly token: string;

  constructor(exchange: Exchange, token: string) {
    this.exchange = exchange;
    this.token = token;
  }

  get atMs(): number {
    return this.exchange.chain.nextAt * 1_000;
  }

  async list(token: string, symbol: string, tokens: bigint, coins: bigint): Promise<void> {
    const { exchange, ledger, atMs } = this;
    await exchange.addV2(token, tokens, exchange.coin, coins);
    await exchange.chain.mine(10);
    const pool = await exchange.pairOf(token, exchange.coin);
    ledger.list(atMs, { pool, token, decimals: 18, tokens, coins }, { symbol, name: `${symbol} coin` });
    // The owner holds all LP tokens.
    ledger.events.push({ kind: "locks", at: atMs, group: "bsc", pool, token, burned: 0, held: [] });
  }

  /** Mines a block of trades. Positive units buy with coins, negative units sell tokens. */
  async trade(
    orders: readonly { readonly by: number; readonly units: bigint }[],
    seconds: number,
  ): Promise<void> {
    const { exchange, ledger, token, atMs } = this;
    const { coin, chain } = exchange;
    for (const { by, units } of orders) {
      const path = units > 0n ? [coin, token] : [token, coin];
      await exchange.swapV2(wallet(by), units > 0n ? units : -units, path);
    }
    await chain.mine(seconds);
    for (const { by, units } of orders) {
      if (units > 0n) ledger.buy(atMs, token, units, wallet(by));
      else ledger.sell(atMs, token, -units, wallet(by));
    }
  }

  /** Removes 95 % of the pool's liquidity. */
  async rug(): Promise<void> {
    const { exchange, ledger, token, atMs } = this;
    const { chain, coin } = exchange;
    const pool = await exchange.pairOf(token, coin);
    const balances = async () => {
      const of = async (one: string) => BigInt(await chain.read(one, "token", "balanceOf", [pool]));
      return [await of(token), await of(coin)] as const;
    };
    const before = await balances();
    await exchange.removeV2(token, coin, 9_500n);
    await chain.mine(5);
    const after = await balances();
    ledger.move(atMs, token, after[0] - before[0], after[1] - before[1]);
  }
}

/**
 * Returns an engine's snapshot of the ledger at each second of event time, as the expected state.
 */
export function truthOf(
  events: readonly MarketEvent[],
  beginMs: number,
  untilMs: number,
): ReadonlyMap<number, Snapshot> {
  const engine = new TrendEngine({ facts: FACTS, openOdds: openOdds("live") });
  const snapshots = new Map<number, Snapshot>();
  let next = 0;
  for (let clock = beginMs; clock <= untilMs; clock += 1_000) {
    engine.accept({ kind: "clock", at: clock });
    snapshots.set(clock, engine.snapshot());
    for (; (events[next]?.at ?? Number.POSITIVE_INFINITY) <= clock; next++) {
      const event = events[next];
      if (event) expect(engine.accept(event)).toBeUndefined();
    }
  }
  return snapshots;
}
