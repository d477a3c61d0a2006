import { groupedKey } from "../../../base/model/token-key.ts";
import type { TokenName } from "./bot.ts";
import type { Price } from "./price-history.ts";

/** Costs of each purchase and each sale, as parts of the amount. */
export interface Costs {
  readonly fee: number;
  /** How much worse than the market's price an order fills. */
  readonly slippage: number;
}

/** A purchase and its sale. Times are event time in milliseconds since 1970 UTC. */
export interface PaperTrade {
  readonly token: TokenName;
  readonly orderedAtMs: number;
  readonly bought: Price;
  /** The last known price if the position was still open at the end. */
  readonly sold: Price;
  readonly isOpen: boolean;
  readonly reason: string;
  /** Gain as a part of the stake, after costs. */
  readonly result: number;
  /** The same before costs. */
  readonly gross: number;
}

interface Position {
  readonly token: TokenName;
  readonly orderedAtMs: number;
  bought: Price | undefined;
  last: Price | undefined;
  sale: { readonly reason: string; readonly orderedAtMs: number } | undefined;
}

/** Returns the gain of buying at one price and selling at another, as a part of the stake. */
export function gainOf(bought: number, sold: number, { fee, slippage }: Costs): number {
  return (sold * (1 - slippage) * (1 - fee)) / (bought * (1 + slippage) * (1 + fee)) - 1;
}

/** Fills an order at the token's next price in the engine. No order fills at a known price. */
export class PaperBroker {
  readonly #costs: Costs;
  readonly #positions = new Map<string, Position>();
  readonly #trades: PaperTrade[] = [];

  constructor(costs: Costs) {
    this.#costs = costs;
  }

  buy(token: TokenName, atMs: number): void {
    const key = groupedKey(token);
    if (this.#positions.has(key)) return;
    this.#positions.set(key, {
      token,
      orderedAtMs: atMs,
      bought: undefined,
      last: undefined,
      sale: undefined,
    });
  }

  sell(token: TokenName, atMs: number, reason: string): void {
    const position = this.#positions.get(groupedKey(token));
    if (position) position.sale ??= { reason, orderedAtMs: atMs };
  }

  /** Fills the orders for a token at its new price. */
  fill(key: string, price: Price): void {
    const position = this.#positions.get(key);
    if (!position || price.atMs <= position.orderedAtMs) return;
    position.last = price;
    if (!position.bought) position.bought = price;
    else if (position.sale && price.atMs > position.sale.orderedAtMs) {
      this.#positions.delete(key);
      this.#trades.push(this.#trade(position, position.bought, price, position.sale.reason));
    }
  }

  /**
   * Values what is still held at its last price. Returns all trades in the order of their purchase
   * orders, and the number of purchases that never filled.
   */
  settle(): { readonly trades: readonly PaperTrade[]; readonly unfilled: number } {
    let unfilled = 0;
    for (const position of this.#positions.values()) {
      const { bought, last = bought, sale } = position;
      if (!bought || !last) unfilled += 1;
      else this.#trades.push(this.#trade(position, bought, last, sale ? sale.reason : "", true));
    }
    this.#positions.clear();
    const key = (trade: PaperTrade) => `${trade.orderedAtMs} ${groupedKey(trade.token)}`;
    return { trades: this.#trades.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)), unfilled };
  }

  #trade(
    { token, orderedAtMs }: Position,
    bought: Price,
    sold: Price,
    reason: string,
    isOpen = false,
  ): PaperTrade {
    const result = gainOf(bought.value, sold.value, this.#costs);
    const gross = sold.value / bought.value - 1;
    return { token, orderedAtMs, bought, sold, isOpen, reason, result, gross };
  }
}
