import { z } from "zod";
import { MarketData, TradeCount } from "./facts.ts";
import { NestedFlare } from "./flare.ts";
import { Address, DecimalString, Id } from "./primitives.ts";

const chartFacts = {
  /** Derived from group and token, so a token that returns to the chart has the same id. */
  id: Id,
  /** Mean close of the last 60 one-minute candles. */
  most_recent_price_average: DecimalString,
  /** Difference between the most recent price and `most_recent_price_average`, in percent. */
  price_change_from_average: z.number(),
  /** Consecutive minutes in the chart, this one included. */
  streak: z.int().min(1),
  /**
   * Close of each of the last 60 candles, oldest first, in percent from the average; shorter for
   * young tokens.
   */
  latest_candle_prices: z.array(z.number()),
};

/** A token of the exchange inside chart items and leaderboard entries. */
export const ExchangeToken = z.object({ symbol: z.string(), price: DecimalString });
export type ExchangeToken = z.infer<typeof ExchangeToken>;

/** A token of `matic` or `avalanche` inside chart items and leaderboard entries. */
export const ChainToken = z.object({ symbol: z.string(), price: DecimalString, address: Address });
export type ChainToken = z.infer<typeof ChainToken>;

/** An item of the chart of `bsc`. */
export const BscChartItem = z.object({
  ...chartFacts,
  most_recent_price: DecimalString,
  /** Buys of those 60 minutes; 0 if the feed has no trades. */
  buy_count: TradeCount,
  /** Sells of those 60 minutes; 0 if the feed has no trades. */
  sell_count: TradeCount,
  flare: NestedFlare,
});
export type BscChartItem = z.infer<typeof BscChartItem>;

/** An item of the chart of the exchange. */
export const ExchangeChartItem = z.object({
  ...chartFacts,
  token: ExchangeToken,
  market_data: MarketData.nullable(),
});
export type ExchangeChartItem = z.infer<typeof ExchangeChartItem>;

/** An item of the chart of `matic`. */
export const MaticChartItem = z.object({
  ...chartFacts,
  most_recent_price: DecimalString,
  /** Mean close of the last 5 one-minute candles. */
  recent_average_price: DecimalString,
  token: ChainToken,
  market_data: MarketData.nullable(),
});
export type MaticChartItem = z.infer<typeof MaticChartItem>;

/**
 * An item of the chart of `avalanche`. The specification promises it without a shape; ours is that
 * of `matic`.
 */
export const AvalancheChartItem = MaticChartItem;
export type AvalancheChartItem = z.infer<typeof AvalancheChartItem>;

/** An item of any group's chart. */
export type ChartItem = BscChartItem | ExchangeChartItem | MaticChartItem;

/**
 * `GET /api/v1/charts`: for each group the ten tokens that rise best for their risk, best first.
 * Recomputed every minute, unchanged in between.
 */
export const Charts = z.object({
  bsc: z.array(BscChartItem).max(10),
  exchange: z.array(ExchangeChartItem).max(10),
  matic: z.array(MaticChartItem).max(10),
  avalanche: z.array(AvalancheChartItem).max(10),
});
export type Charts = z.infer<typeof Charts>;
