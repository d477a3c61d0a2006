import { z } from "zod";

/** The facts that a feed supports. Other fields are neutral, and no rule uses them. */
export const FeedFacts = z.object({
  /** Individual trades with side and trader: counts of buys and sells, distinct buyers. */
  trades: z.boolean(),
  /** Dollars in pools. */
  liquidity: z.boolean(),
  /** First liquidity of new pools, for `/newest`. */
  listings: z.boolean(),
  /** `market_data`, `social_data`, `contract_source`, `forum_post`. */
  profiles: z.boolean(),
});
export type FeedFacts = z.infer<typeof FeedFacts>;

/** Origin of data: `live` markets, a `recorded` past, or a `simulated` market. */
const ORIGINS = ["live", "recorded", "simulated"] as const;
export const Origin = z.enum(ORIGINS);
export type Origin = z.infer<typeof Origin>;
