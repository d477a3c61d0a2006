import { z } from "zod";
import { Address, Timestamp } from "./primitives.ts";

export const ForumPost = z
  .object({
    position: z.int(),
    address: Address,
    url: z.string(),
    title: z.string(),
    upvotes: z.int(),
    posted: Timestamp,
  })
  .describe(
    "A forum post that mentions the token. `position`: 1 is the top of the forum. A post whose `url` is not http or https is omitted.",
  );
export type ForumPost = z.infer<typeof ForumPost>;

export const SocialData = z
  .object({
    chat_url: z.string().nullable(),
    microblog_url: z.string().nullable(),
    website_url: z.string().nullable(),
  })
  .describe(
    "Links to the token's makers. Each is an http or https address, or `null` if unknown. The strings are untrusted: never use them as markup.",
  );
export type SocialData = z.infer<typeof SocialData>;

export const ContractSource = z
  .union([
    z.object({ status: z.literal("1"), message: z.literal("OK") }),
    z.object({ status: z.literal("0"), message: z.literal("NOTOK") }),
  ])
  .describe(
    'Whether verified source code of the token\'s contract is known: `{status: "1", message: "OK"}` ' +
      'if so, else `{status: "0", message: "NOTOK"}`. The latter does not mean that the contract is ' +
      "unverified: it may never have been looked up.",
  );
export type ContractSource = z.infer<typeof ContractSource>;

export const MarketData = z
  .object({
    market_id: z.string(),
    image_url: z.string().nullable(),
    name: z.string().nullable(),
  })
  .describe("A market-data aggregator's entry for the token; `null` if none is known.");
export type MarketData = z.infer<typeof MarketData>;
