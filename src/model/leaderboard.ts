import { z } from "zod";
import { ChainToken, ExchangeToken } from "./chart.ts";
import { NestedFlare } from "./flare.ts";

const standing = {
  /** Seconds that the token spent in its group's chart within the past 6 hours. */
  time_trended: z.int().min(0).max(21_600),
  /** Its mean rank during that time, weighted by time; 1 is the top. */
  average_position: z.number().min(1).max(10),
};

/** A standing of the leaderboard of `bsc`. */
export const BscLeaderboardEntry = z.object({ type: z.literal("flare"), ...standing, object: NestedFlare });
export type BscLeaderboardEntry = z.infer<typeof BscLeaderboardEntry>;

/** A standing of the leaderboard of the exchange. */
export const ExchangeLeaderboardEntry = z.object({
  type: z.literal("token"),
  ...standing,
  object: ExchangeToken,
});
export type ExchangeLeaderboardEntry = z.infer<typeof ExchangeLeaderboardEntry>;

/** A standing of the leaderboard of `matic` or `avalanche`. */
export const ChainLeaderboardEntry = z.object({ type: z.literal("token"), ...standing, object: ChainToken });
export type ChainLeaderboardEntry = z.infer<typeof ChainLeaderboardEntry>;

/** A standing of any group's leaderboard. */
export type LeaderboardEntry = BscLeaderboardEntry | ExchangeLeaderboardEntry | ChainLeaderboardEntry;

/**
 * `GET /api/v1/leaderboards`: for each group the ten tokens longest in the chart over the past 6
 * hours; ties by mean rank.
 */
export const Leaderboards = z.object({
  bsc: z.array(BscLeaderboardEntry).max(10),
  exchange: z.array(ExchangeLeaderboardEntry).max(10),
  matic: z.array(ChainLeaderboardEntry).max(10),
  avalanche: z.array(ChainLeaderboardEntry).max(10),
});
export type Leaderboards = z.infer<typeof Leaderboards>;
