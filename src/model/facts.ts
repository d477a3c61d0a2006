import { z } from "zod";
import { Address, Count, Timestamp } from "./primitives.ts";

/** A forum post that mentions the token, as found on the forum's listing; a post whose `url` is not http or https is left out. `position` counts from 1 at the top of that listing. */
export const ForumPost = z.object({
  position: z.int(),
  address: Address,
  url: z.string(),
  title: z.string(),
  upvotes: z.int(),
  posted: Timestamp,
});
export type ForumPost = z.infer<typeof ForumPost>;

/** Where a token's makers can be found. Each link is an http or https address, or `null` when no such link is known. Strings of strangers: never trust them as markup. */
export const SocialData = z.object({
  chat_url: z.string().nullable(),
  microblog_url: z.string().nullable(),
  website_url: z.string().nullable(),
});
export type SocialData = z.infer<typeof SocialData>;

/**
 * Whether verified source code of the token's contract is known: `{status: "1", message: "OK"}` when it was found,
 * else `{status: "0", message: "NOTOK"}`, which says only that none is known: the contract may simply never have been asked about.
 */
export const ContractSource = z.union([
  z.object({ status: z.literal("1"), message: z.literal("OK") }),
  z.object({ status: z.literal("0"), message: z.literal("NOTOK") }),
]);
export type ContractSource = z.infer<typeof ContractSource>;

/** How a market-data aggregator lists the token. A token that it does not list has `null` in this object's place. */
export const MarketData = z.object({
  market_id: z.string(),
  image_url: z.string().nullable(),
  name: z.string().nullable(),
});
export type MarketData = z.infer<typeof MarketData>;

/** Trades counted over the window that the carrying resource names. */
export const TradeCount = Count;
