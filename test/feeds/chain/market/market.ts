import type { MarketEvent } from "../../../../src/base/market/index.ts";
import { wallet } from "../nodes/test-chain.ts";
import { E18, Exchange } from "./exchange.ts";
import { Ledger } from "./ledger.ts";

/** A listed token that wallets trade, and the ledger of its expected events. */
export class Market implements AsyncDisposable {
  readonly exchange: Exchange;
  readonly ledger = new Ledger();
  readonly token: string;
  #turn = 0;

  private constructor(exchange: Exchange, token: string) {
    this.exchange = exchange;
    this.token = token;
  }

  /** Opens an exchange, and lists a token. */
  static async open(): Promise<Market> {
    const exchange = await Exchange.open();
    const { chain, coin } = exchange;
    const token = await exchange.token("Alpha", "ALPHA");
    for (const account of [0, 1, 2, 3].map(wallet)) {
      await exchange.approve(account, coin);
      await exchange.approve(account, token);
      await exchange.give(coin, account, 10_000n * E18);
      await exchange.give(token, account, 10_000n * E18);
    }
    await chain.mine();
    const market = new Market(exchange, token);
    const atMs = chain.nextAt * 1_000;
    await exchange.addV2(token, 1_000_000n * E18, coin, 100n * E18);
    await chain.mine();
    const pool = await exchange.pairOf(token, coin);
    const book = { pool, token, decimals: 18, tokens: 1_000_000n * E18, coins: 100n * E18 };
    market.ledger.list(atMs, book, { symbol: "ALPHA", name: "Alpha" });
    return market;
  }

  /** The expected events. */
  get events(): readonly MarketEvent[] {
    return this.ledger.events;
  }

  /** Event time up to which everything is final, once {@link settle} has mined blocks above it. */
  get untilMs(): number {
    return this.exchange.chain.nextAt * 1_000;
  }

  /**
   * Makes the next wallet buy or sell, in its own block. If `entered` is false, the ledger ignores
   * the trade, because its block will be replaced.
   */
  async trade(entered = true): Promise<void> {
    const { exchange, ledger, token } = this;
    const { chain, coin } = exchange;
    const turn = this.#turn++;
    const trader = wallet(turn % 4);
    const atMs = chain.nextAt * 1_000;
    const units = E18 / 10n + BigInt(turn) * 1_000_003n;
    const isBuy = turn % 3 !== 2;
    await exchange.swapV2(trader, isBuy ? units : units * 100n, isBuy ? [coin, token] : [token, coin]);
    await chain.mine();
    if (!entered) return;
    if (isBuy) ledger.buy(atMs, token, units, trader);
    else ledger.sell(atMs, token, units * 100n, trader);
  }

  /** Mines until all trades are final. Returns the event time that is then reached. */
  async settle(): Promise<number> {
    const { chain, network } = this.exchange;
    const untilMs = this.untilMs;
    for (let block = 0; block <= network.finalityBlocks; block++) await chain.mine();
    return untilMs;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.exchange.chain[Symbol.asyncDispose]();
  }
}
