import { z } from "zod";
import { ChainToken, ExchangeToken } from "./chart.ts";
import { NestedFlare } from "./flare.ts";

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
  .describe("A standing of the leaderboard of `bsc`.");
export type BscLeaderboardEntry = z.infer<typeof BscLeaderboardEntry>;

export const ExchangeLeaderboardEntry = z
  .object({
    type: z.literal("token"),
    ...standing,
    object: ExchangeToken,
  })
  .describe("A standing of the leaderboard of the exchange.");
export type ExchangeLeaderboardEntry = z.infer<typeof ExchangeLeaderboardEntry>;

export const ChainLeaderboardEntry = z
  .object({ type: z.literal("token"), ...standing, object: ChainToken })
  .describe("A standing of the leaderboard of `matic` or `avalanche`.");
export type ChainLeaderboardEntry = z.infer<typeof ChainLeaderboardEntry>;

export type LeaderboardEntry = BscLeaderboardEntry | ExchangeLeaderboardEntry | ChainLeaderboardEntry;

export const Leaderboards = z
  .object({
    bsc: z.array(BscLeaderboardEntry).max(10),
    exchange: z.array(ExchangeLeaderboardEntry).max(10),
    matic: z.array(ChainLeaderboardEntry).max(10),
    avalanche: z.array(ChainLeaderboardEntry).max(10),
  })
  .describe(
    "`GET /api/v1/leaderboards`: for each group the ten tokens longest in the chart over the past 6 hours; ties by mean rank.",
  );
export type Leaderboards = z.infer<typeof Leaderboards>;
