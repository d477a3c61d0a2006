import { z } from "zod";

/*
 * What feeds report. Every event carries event time as `at`, in milliseconds since 1970 UTC; a feed yields its events in
 * the order of `at`, with a `clock` at least every second of event time. Money that is echoed to users stays a decimal
 * string, as the feed read it.
 */

/** Milliseconds since 1970-01-01T00:00:00Z; a whole number up to the year 9999. */
export const EventTimeMs = z.int().min(0).max(253_402_300_799_999);

/** The market that an event belongs to; the same names as the groups of the API. */
export const MarketGroup = z.enum(["bsc", "exchange", "matic", "avalanche"]);
export type MarketGroup = z.infer<typeof MarketGroup>;

const Amount = z
  .string()
  .max(100)
  .regex(/^\d+(\.\d+)?$/);
const TokenId = z.string().min(1).max(128);
const Link = z.string().max(2_048).nullable();

/** One swap or fill. `trader` is the transaction's origin, never the router; `side` is the taker's, seen from the token. */
export const Trade = z.object({
  kind: z.literal("trade"),
  at: EventTimeMs,
  group: MarketGroup,
  /** Pool or pair where it happened. */
  pool: TokenId,
  /** The token's address; on the exchange its symbol. */
  token: TokenId,
  side: z.enum(["buy", "sell"]),
  /** Price of one token in US dollars. */
  price: Amount,
  /** Amount of the token. */
  amount: Amount,
  /** The trade's size in US dollars. */
  quoteUsd: Amount,
  trader: TokenId,
});
export type Trade = z.infer<typeof Trade>;

/**
 * One minute of a market whose single trades are not known. It happens when the minute ends: `at` is `openAt` + 60,000.
 * A later `at` marks a past candle: one that was looked up when the feed began to follow the token. Past candles come
 * before the token's first candle of the present, in the order of their minutes.
 * A minute without a candle is a flat one. Prices are in the feed's quote, `volume` in the token.
 */
export const Candle = z.object({
  kind: z.literal("candle"),
  at: EventTimeMs,
  group: MarketGroup,
  token: TokenId,
  openAt: EventTimeMs,
  open: Amount,
  high: Amount,
  low: Amount,
  close: Amount,
  volume: Amount,
  /** Number of trades within the minute, where the feed knows it. */
  trades: z.int().min(0).optional(),
  /** The part of `volume` that takers bought, where the feed knows it. */
  buyVolume: Amount.optional(),
});
export type Candle = z.infer<typeof Candle>;

/** A pool's first real liquidity, not merely its creation. `liquidity` is in US dollars. */
export const ListingEvent = z.object({
  kind: z.literal("listing"),
  at: EventTimeMs,
  group: MarketGroup,
  pool: TokenId,
  token: TokenId,
  liquidity: Amount,
});
export type ListingEvent = z.infer<typeof ListingEvent>;

/** What lies in a pool now, in US dollars. `cause` tells a removal by the makers from the drift of trading (`sync`). */
export const LiquidityEvent = z.object({
  kind: z.literal("liquidity"),
  at: EventTimeMs,
  group: MarketGroup,
  pool: TokenId,
  token: TokenId,
  usd: Amount,
  cause: z.enum(["sync", "add", "remove"]),
});
export type LiquidityEvent = z.infer<typeof LiquidityEvent>;

/**
 * Facts about a token, from enrichers or from a file beside a recording. A field that is absent changes nothing; `null`
 * says that it is known that there is none. Strings come from strangers.
 */
export const Profile = z.object({
  kind: z.literal("profile"),
  at: EventTimeMs,
  group: MarketGroup,
  token: TokenId,
  symbol: z.string().max(256).optional(),
  name: z.string().max(1_024).optional(),
  createdAt: EventTimeMs.optional(),
  /** A quote token, stablecoin or wrapped native: it never flares and never charts. */
  quote: z.boolean().optional(),
  marketData: z
    .object({ market_id: z.string().max(256), image_url: Link, name: z.string().max(1_024).nullable() })
    .nullable()
    .optional(),
  socialData: z.object({ chat_url: Link, microblog_url: Link, website_url: Link }).nullable().optional(),
  /** `verified`, or `unverified` when that is known for certain. */
  contractSource: z.enum(["verified", "unverified"]).optional(),
  forumPost: z
    .object({
      position: z.int(),
      address: z
        .string()
        .max(130)
        .regex(/^0x[0-9a-fA-F]+$/),
      url: z.string().max(2_048),
      title: z.string().max(1_024),
      upvotes: z.int(),
      posted: EventTimeMs,
    })
    .nullable()
    .optional(),
});
export type Profile = z.infer<typeof Profile>;

/** Time passes: no event with an earlier `at` follows, but for those that are late. */
export const Clock = z.object({ kind: z.literal("clock"), at: EventTimeMs });
export type Clock = z.infer<typeof Clock>;

/** Anything that a feed reports. As NDJSON, one a line, it is the project's recording format. */
export const MarketEvent = z.discriminatedUnion("kind", [
  Trade,
  Candle,
  ListingEvent,
  LiquidityEvent,
  Profile,
  Clock,
]);
export type MarketEvent = z.infer<typeof MarketEvent>;
