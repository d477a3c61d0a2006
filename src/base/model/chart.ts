import { z } from "zod";
import { MarketData } from "./facts.ts";
import { NestedFlare } from "./flare.ts";
import { byForm, byGroup, type GroupName, isAdditional } from "./groups.ts";
import { Address, Count, DecimalString, Id } from "./primitives.ts";

const chartFacts = {
  id: Id.describe("Derived from group and token, so a token that returns to the chart has the same id."),
  most_recent_price_average: DecimalString.describe("Mean close of the last 60 one-minute candles."),
  price_change_from_average: z
    .number()
    .describe("Difference between the most recent price and `most_recent_price_average`, in percent."),
  streak: z
    .int()
    .min(1)
    .describe("Consecutive minutes in the chart, including this one. Minutes without data are not counted."),
  latest_candle_prices: z
    .array(z.number())
    .describe(
      "Close of each of the last 60 candles, oldest first, in percent from the average; shorter for young tokens.",
    ),
};

export const ExchangeToken = z
  .object({ symbol: z.string(), price: DecimalString })
  .describe("A token of the exchange inside chart items and leaderboard entries.");
export type ExchangeToken = z.infer<typeof ExchangeToken>;

export const ChainToken = z
  .object({ symbol: z.string(), price: DecimalString, address: Address })
  .describe("A token of a chain other than `bsc` inside chart items and leaderboard entries.");
export type ChainToken = z.infer<typeof ChainToken>;

export const BscChartItem = z
  .object({
    ...chartFacts,
    most_recent_price: DecimalString,
    buy_count: Count.describe("Buys of the last 60 minutes; 0 if the feed does not count trades."),
    sell_count: Count.describe("Sells of the last 60 minutes; 0 if the feed does not count trades."),
    flare: NestedFlare,
  })
  .describe("An item of the chart of `bsc`.");
export type BscChartItem = z.infer<typeof BscChartItem>;

export const ExchangeChartItem = z
  .object({
    ...chartFacts,
    token: ExchangeToken,
    market_data: MarketData.nullable(),
  })
  .describe("An item of the chart of the exchange.");
export type ExchangeChartItem = z.infer<typeof ExchangeChartItem>;

export const ChainChartItem = z
  .object({
    ...chartFacts,
    most_recent_price: DecimalString,
    recent_average_price: DecimalString.describe("Mean close of the last 5 one-minute candles."),
    token: ChainToken,
    market_data: MarketData.nullable(),
  })
  .describe("An item of the chart of a chain other than `bsc`.");
export type ChainChartItem = z.infer<typeof ChainChartItem>;

export type ChartItem = BscChartItem | ExchangeChartItem | ChainChartItem;

export const Charts = topTens(BscChartItem, ExchangeChartItem, ChainChartItem).describe(
  "`GET /api/v1/charts`: for each group the ten tokens with the best price change relative to their risk, best first. Recomputed every minute, unchanged in between.",
);
export type Charts = z.infer<typeof Charts>;

/** Joins the charts of all groups. Each item must have the form of its group. */
export function chartsBy(listOf: (group: GroupName) => ChartItem[]): Charts {
  return byGroup(listOf) as Charts;
}

const standing = {
  time_trended: z
    .int()
    .min(0)
    .max(21_600)
    .describe("Seconds that the token spent in its group's chart within the past 6 hours."),
  average_position: z
    .number()
    .min(1)
    .max(10)
    .describe("Its mean rank during that time, weighted by time; 1 is the top."),
};

export const BscLeaderboardEntry = z
  .object({ type: z.literal("flare"), ...standing, object: NestedFlare })
  .describe("An entry of the leaderboard of `bsc`.");
export type BscLeaderboardEntry = z.infer<typeof BscLeaderboardEntry>;

export const ExchangeLeaderboardEntry = z
  .object({
    type: z.literal("token"),
    ...standing,
    object: ExchangeToken,
  })
  .describe("An entry of the leaderboard of the exchange.");
export type ExchangeLeaderboardEntry = z.infer<typeof ExchangeLeaderboardEntry>;

export const ChainLeaderboardEntry = z
  .object({ type: z.literal("token"), ...standing, object: ChainToken })
  .describe("An entry of the leaderboard of a chain other than `bsc`.");
export type ChainLeaderboardEntry = z.infer<typeof ChainLeaderboardEntry>;

export type LeaderboardEntry = BscLeaderboardEntry | ExchangeLeaderboardEntry | ChainLeaderboardEntry;

export const Leaderboards = topTens(
  BscLeaderboardEntry,
  ExchangeLeaderboardEntry,
  ChainLeaderboardEntry,
).describe(
  "`GET /api/v1/leaderboards`: for each group the ten tokens longest in the chart over the past 6 hours; ties by mean rank.",
);
export type Leaderboards = z.infer<typeof Leaderboards>;

/** Joins the leaderboards of all groups. Each entry must have the form of its group. */
export function leaderboardsBy(listOf: (group: GroupName) => LeaderboardEntry[]): Leaderboards {
  return byGroup(listOf) as Leaderboards;
}

/** At most ten items of each group. */
function topTens<Bsc extends z.ZodType, Exchange extends z.ZodType, Chain extends z.ZodType>(
  bsc: Bsc,
  exchange: Exchange,
  chain: Chain,
) {
  const top = <Item extends z.ZodType>(item: Item) => z.array(item).max(10);
  const lists = byForm(top(bsc), top(exchange), top(chain));
  // Only those who name an additional group get its list.
  const all: Readonly<Record<GroupName, z.ZodType>> = lists;
  const read = byGroup((group) => (isAdditional(group) ? all[group].optional() : all[group]));
  return z.object(read as typeof lists);
}
