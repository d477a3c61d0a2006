import type { Trade } from "../../../src/base/market/index.ts";
import { createRandom, decimal, MINUTE, START, trade } from "../trend-kit.ts";
import { SIDE_USD, TOKEN } from "./singleton-pool.ts";

/** One person's wallets, which trade with the same money in one pool of constant product. */
export interface WashCrowd {
  readonly wallets: number;
  readonly buysPerMinute: number;
  /** Dollars of a purchase, which vary by ±30 %. */
  readonly usd: number;
  /** Range of minutes after which a wallet sells its purchase. */
  readonly holdMinutes: readonly [from: number, to: number];
  /** Share of the tokens that each wallet keeps, so that the price rises. Default 0. */
  readonly kept?: number;
  readonly minutes?: number;
  /** The pool's fee as a share. Default 0, which Uniswap V4 allows. */
  readonly fee?: number;
  readonly seed?: number;
}

/** The minute in which the crowd begins. */
export const WASH_AT = 90;

interface Order {
  readonly at: number;
  readonly trader: string;
  /** Dollars of a purchase. */
  readonly usd?: number;
  /** The purchase that a sale sells. */
  readonly of?: Order;
}

const wallet = (n: number) => `0x${(n + 10).toString(16).padStart(40, "0")}`;

/** Returns two usual trades a minute and, from {@link WASH_AT} on, the crowd's. */
export function washTrades(crowd: WashCrowd, minutes: number): { trades: readonly Trade[]; feesUsd: number } {
  const random = createRandom(crowd.seed ?? 1);
  const orders = [...usualOrders(minutes, random), ...ordersOf(crowd, random)].toSorted(
    (a, b) => a.at - b.at,
  );
  const { fee = 0, kept = 0 } = crowd;
  let [quote, tokens, feesUsd] = [SIDE_USD, SIDE_USD, 0];
  const got = new Map<Order, number>();
  const trades = orders.flatMap((order): Trade[] => {
    const { at, trader, of } = order;
    const own = trader.length > 20;
    const back = of && (got.get(of) ?? 0) * (1 - kept);
    const before = quote;
    let moved: number;
    if (back === undefined) {
      // Usual traders bring the price back to 1.
      const isBuy = own || random() < 0.5 - (quote / SIDE_USD - 1) * 4;
      const usd = order.usd ?? 0;
      if (isBuy) quote += usd * (1 - fee);
      else quote -= usd;
      moved = Math.abs(SIDE_USD ** 2 / quote - tokens);
      if (isBuy) got.set(order, moved);
    } else {
      moved = back;
      quote = SIDE_USD ** 2 / (tokens + back * (1 - fee));
    }
    tokens = SIDE_USD ** 2 / quote;
    const usd = Math.abs(quote - before);
    if (own) feesUsd += usd * fee;
    if (at >= START + minutes * MINUTE || moved === 0) return [];
    const side = quote > before ? ("buy" as const) : ("sell" as const);
    const amounts = { price: decimal(quote / tokens), amount: decimal(moved), quoteUsd: decimal(usd) };
    return [trade(at, TOKEN, { side, trader, ...amounts })];
  });
  return { trades, feesUsd };
}

function usualOrders(minutes: number, random: () => number): Order[] {
  return Array.from({ length: minutes * 2 }, () => ({
    at: START + Math.floor(random() * minutes * MINUTE),
    trader: `0x${Math.floor(random() * 1e9).toString(16)}`,
    usd: 60 * (0.5 + random()),
  }));
}

function ordersOf(crowd: WashCrowd, random: () => number): Order[] {
  const {
    wallets,
    buysPerMinute,
    usd,
    holdMinutes: [from, to],
    minutes = 20,
  } = crowd;
  return Array.from({ length: buysPerMinute * minutes }, (_, n) => {
    const at = Math.floor(START + (WASH_AT + n / buysPerMinute) * MINUTE);
    const bought = { at, trader: wallet(n % wallets), usd: usd * (0.7 + 0.6 * random()) };
    const soldAt = at + Math.max(1, Math.floor((from + (to - from) * random()) * MINUTE));
    return [bought, { at: soldAt, trader: bought.trader, of: bought }];
  }).flat();
}
