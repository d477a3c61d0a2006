import { z } from "zod";

/** What a feed can know of its tokens. What it does not know stays at the neutral value of the specification, and no rule counts it. */
export const FeedFacts = z.object({
  /** Single trades with side and trader: counts of buys and sells, distinct buyers. */
  trades: z.boolean(),
  /** Dollars in pools. */
  liquidity: z.boolean(),
  /** First liquidity of new pools: `/newest` has content. */
  listings: z.boolean(),
  /** `market_data`, `social_data`, `contract_source`, `forum_post`. */
  profiles: z.boolean(),
});
export type FeedFacts = z.infer<typeof FeedFacts>;

/** Where data comes from: `live` markets, a `recorded` past, a `simulated` market. Every consumer is told. */
export const ORIGINS = ["live", "recorded", "simulated"] as const;
export const Origin = z.enum(ORIGINS);
export type Origin = z.infer<typeof Origin>;
