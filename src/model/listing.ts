import { z } from "zod";
import { ContractSource, MarketData, SocialData } from "./facts.ts";
import { Token } from "./flare.ts";
import { DecimalString, Id, Timestamp } from "./primitives.ts";

/**
 * A token whose pool got its first real liquidity within the last 15 minutes. The specification
 * leaves this shape open; this one is ours.
 */
export const Listing = z.object({
  /** Derived from network, pool and moment of listing. */
  id: Id,
  listed_at: Timestamp,
  /** Address of the pool in which the token was listed. */
  pool: z.string(),
  /** Dollars in that pool now; `"0"` if the feed does not know. */
  liquidity: DecimalString,
  token: Token,
  market_data: MarketData.nullable(),
  social_data: SocialData.nullable(),
  contract_source: ContractSource,
});
export type Listing = z.infer<typeof Listing>;

/** `GET /api/v1/newest`: tokens of BSC listed in the last 15 minutes, newest first, ties by address. */
export const Newest = z.object({ bsc: z.array(Listing) });
export type Newest = z.infer<typeof Newest>;
