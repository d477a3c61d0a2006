import { z } from "zod";
import { ContractSource, MarketData, SocialData } from "./facts.ts";
import { Token } from "./flare.ts";
import { DecimalString, Id, Timestamp } from "./primitives.ts";

export const Listing = z
  .object({
    id: Id.describe("Derived from network, pool and moment of listing."),
    listed_at: Timestamp,
    pool: z.string().describe("Address of the pool in which the token was listed."),
    liquidity: DecimalString.describe('Dollars in that pool now; `"0"` if the feed does not know.'),
    token: Token,
    market_data: MarketData.nullable(),
    social_data: SocialData.nullable(),
    contract_source: ContractSource,
  })
  .describe("A token whose pool got its first real liquidity within the last 15 minutes.");
export type Listing = z.infer<typeof Listing>;

export const Newest = z
  .object({ bsc: z.array(Listing) })
  .describe(
    "`GET /api/v1/newest`: tokens of BSC listed in the last 15 minutes, newest first, ties by address.",
  );
export type Newest = z.infer<typeof Newest>;
