import { z } from "zod";
import { ContractSource, ForumPost, MarketData, SocialData } from "./facts.ts";
import { OTHER_CHAINS } from "./groups.ts";
import { Address, Count, DecimalString, Id, Timestamp } from "./primitives.ts";

export const Token = z
  .object({
    name: z.string(),
    symbol: z.string(),
    address: Address,
    price: DecimalString,
    price_at: Timestamp.optional(),
    created_at: Timestamp,
  })
  .describe(
    "A token in flares, listings and the charts of `bsc`. `price`, last seen at `price_at`, is in US dollars, or in the quote currency of a feed without dollar prices.",
  );
export type Token = z.infer<typeof Token>;

const flareFacts = {
  id: Id.describe(
    "Identifies one trending episode of one token: UUIDv5 of network, address and start, so a replay yields the same id.",
  ),
  recent_price_change: z
    .int()
    .describe("Price change over the last 5 minutes, in percent, rounded to an integer."),
  previous_price_change: z.int().describe("The same over the 5 minutes before those."),
  latest_buy_count: Count.describe("Buys of the last 5 minutes; 0 if the feed does not count trades."),
  latest_sell_count: Count.describe("Sells of the last 5 minutes; 0 if the feed does not count trades."),
  forum_post: ForumPost.nullable(),
  social_data: SocialData.nullable(),
  contract_source: ContractSource,
  liquidity: DecimalString.describe('Dollars in the token\'s pools; `"0"` if the feed does not know.'),
  market_data: MarketData.nullable(),
  token: Token,
};

export const Flare = z
  .object({
    ...flareFacts,
    started_trending_at: Timestamp,
    finished_trending_at: Timestamp.nullable().describe("`null` while the token is trending."),
  })
  .describe(
    "A trending episode: an item of the lists of `/flares`. A flare can be in several lists at once, with the same `id`.",
  );
export type Flare = z.infer<typeof Flare>;

/** A token of the exchange inside a flare. Its type has an `address` that is always absent. */
export const ExchangeFlareToken: z.ZodType<Omit<Token, "address"> & { readonly address?: undefined }> =
  Token.omit({
    address: true,
  }).describe("A token of the exchange inside a flare: it has no address, its `symbol` identifies it.");

export const ExchangeFlare = z
  .object({
    ...Flare.shape,
    token: ExchangeFlareToken,
    group: z.literal("exchange"),
    pair: z
      .string()
      .nullable()
      .describe(
        "The followed market's pair in the unified form `BASE/QUOTE`, such as `BTC/USDT`; `null` if the feed does not name it.",
      ),
    exchange: z
      .string()
      .nullable()
      .describe("The exchange of that market, such as `binance`; `null` if the feed does not name it."),
  })
  .describe(
    'A flare of the group `exchange`: the fields of a flare, its group and its market. `liquidity` is `"0"`, `contract_source` NOTOK and `forum_post` null.',
  );
export type ExchangeFlare = z.infer<typeof ExchangeFlare>;

export const ChainFlare = Flare.extend({ group: z.enum(OTHER_CHAINS) }).describe(
  "A flare of a chain other than `bsc`: the fields of a flare, and its group.",
);
export type ChainFlare = z.infer<typeof ChainFlare>;

export const AnyFlare = z
  .union([ExchangeFlare, ChainFlare, Flare])
  .describe("A flare of any group, in its group's form. Those of `bsc` have no field `group`.");
export type AnyFlare = z.infer<typeof AnyFlare>;

export const NestedFlare = z
  .object({
    ...flareFacts,
    upvote_site_data: z.null().describe("Reserved by the specification; always `null`."),
    relevant: z
      .boolean()
      .describe("The token is in its group's chart now, or its running flare has been in `free`."),
    last_relevant_at: Timestamp.describe(
      "When `relevant` last became true; initially when the token was first seen.",
    ),
    last_irrelevant_at: Timestamp.describe(
      "When `relevant` last became false; initially when the token was first seen.",
    ),
    canary: z.boolean().describe("The token looks dangerous."),
    canary_at: Timestamp.describe("When `canary` last changed; initially when the token was first judged."),
  })
  .describe(
    "A token inside a chart item or a leaderboard entry, in the form of a flare whether or not it trends. All plans see the same, so a flare counts here only once it enters `free` or ends. `id` is that of the latest such flare. Without one, it is derived from network and address alone.",
  );
export type NestedFlare = z.infer<typeof NestedFlare>;

const listsOf = <F extends z.ZodType>(flare: F) =>
  z.object({ free: z.array(flare), pro: z.array(flare), finished_trending: z.array(flare) });

export const Flares = listsOf(Flare).describe(
  "`GET /api/v1/flares`. `pro`: every running flare, at once. `free`: running flares that are at least 5 minutes old, have no canary and have not fallen. `finished_trending`: the last 100 to finish within 24 hours, and further ones until their outcome is final, 1,000 at most. Sorted by start, newest first, ties by address.",
);
export type Flares = z.infer<typeof Flares>;

export const ExchangeFlares = listsOf(ExchangeFlare).describe(
  "`GET /api/v1/flares?group=exchange`: the lists of `/flares` for tokens of the exchange.",
);
export type ExchangeFlares = z.infer<typeof ExchangeFlares>;

export const ChainFlares = listsOf(ChainFlare).describe(
  "`GET /api/v1/flares?group=` and a chain other than `bsc`: the lists of `/flares` for its tokens.",
);
export type ChainFlares = z.infer<typeof ChainFlares>;

export const AnyFlares = listsOf(AnyFlare).describe(
  "`GET /api/v1/flares`: the lists of flares of one group, by default `bsc`.",
);
export type AnyFlares = z.infer<typeof AnyFlares>;
