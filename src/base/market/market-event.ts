import { z } from "zod";
import { GROUPS } from "../model/groups.ts";
import { Address } from "../model/primitives.ts";

/*
 * Events from feeds. Every event carries event time as `at`, in milliseconds since 1970 UTC. A feed
 * yields its events in the order of `at`, with a `clock` at least every second of event time.
 * Prices and amounts that users see stay the feed's decimal strings.
 */

/** Maximum time of an event: the end of the year 9999. */
export const LATEST_AT_MS = 253_402_300_799_999;
export const EventTimeMs = z.int().min(0).max(LATEST_AT_MS);

/** The market of an event, named like the groups of the API. */
export const MarketGroup = z.enum(GROUPS);
export type MarketGroup = z.infer<typeof MarketGroup>;

const Amount = z
  .string()
  .max(100)
  .regex(/^\d+(\.\d+)?$/);
const TokenId = z
  .string()
  .min(1)
  .max(128)
  .refine((text) => text.isWellFormed(), "must be well-formed Unicode");
const Link = z.string().max(2_048).nullable();

/** `token`: the token's address or, on the exchange, its symbol. */
const ofToken = { at: EventTimeMs, group: MarketGroup, token: TokenId };
/** The pool or pair of a token. */
const inPool = { at: EventTimeMs, group: MarketGroup, pool: TokenId, token: TokenId };

/**
 * What one person bought or sold of a token in one transaction or fill. `trader` is the person,
 * never a router or a relayer. `side` is the taker's: `buy` if the taker bought the token.
 */
export const Trade = z.object({
  kind: z.literal("trade"),
  /** If several pools were used, the one with the largest part, which also sets the price. */
  ...inPool,
  side: z.enum(["buy", "sell"]),
  /** Price of one token in US dollars; on the exchange, in the pair's quote, as in candles. */
  price: Amount,
  amount: Amount,
  /** Value of the trade in US dollars; on the exchange, in the pair's quote. */
  quoteUsd: Amount,
  /**
   * Absent only in the group `exchange`, whose traders are unknown: its trades of one millisecond
   * and side count as one person's.
   */
  trader: TokenId.optional(),
  /**
   * The time of a past trade, which the feed read later, at `at`. The trade counts in the sums as
   * of this time, but starts no flare.
   */
  tradedAt: EventTimeMs.optional(),
});
export type Trade = z.infer<typeof Trade>;

/**
 * One minute of a market whose individual trades are unknown. It occurs when the minute ends: `at`
 * is `openAt` + 60,000. A later `at` marks a past candle, which the feed looked up when it began to
 * follow the token or after it had been cut off. A token's candles come in the order of their
 * minutes. A minute without a candle is flat. Prices are in the feed's quote, `volume` in the
 * token.
 */
export const Candle = z.object({
  kind: z.literal("candle"),
  ...ofToken,
  openAt: EventTimeMs,
  open: Amount,
  high: Amount,
  low: Amount,
  close: Amount,
  volume: Amount,
  /** Number of trades within the minute, if the feed knows it. */
  trades: z.int().min(0).optional(),
  /** The part of `volume` that takers bought, if the feed knows it. Recorded, but not judged. */
  buyVolume: Amount.optional(),
});
export type Candle = z.infer<typeof Candle>;

const Count = z.int().min(0).max(1_000_000_000);
/** Trades within one span. Buyers and sellers are distinct wallets; `usd` is the volume. */
export const WindowCounts = z.object({
  buys: Count,
  sells: Count,
  buyers: Count,
  sellers: Count,
  usd: Amount,
});
export type WindowCounts = z.infer<typeof WindowCounts>;

/** An aggregator's report on a pool: counts in spans that end at `at`. Money in US dollars. */
export const Window = z.object({
  kind: z.literal("window"),
  ...inPool,
  price: Amount,
  /** The price five minutes, half an hour and an hour ago. */
  past: z.object({ m5: Amount, m30: Amount, h1: Amount }),
  liquidity: Amount,
  /** When the pool was created, if known. */
  createdAt: EventTimeMs.optional(),
  /** Counts of the last five minutes, hour and day; of a younger pool, since its creation. */
  counts: z.object({ m5: WindowCounts, h1: WindowCounts, h24: WindowCounts }),
});
export type Window = z.infer<typeof Window>;

/**
 * A pool's first real liquidity, in US dollars. `listedAt`: when it was added, if that was before
 * `at`.
 */
export const ListingEvent = z.object({
  kind: z.literal("listing"),
  ...inPool,
  listedAt: EventTimeMs.optional(),
  liquidity: Amount,
});
export type ListingEvent = z.infer<typeof ListingEvent>;

/** A pool's liquidity in US dollars. `sync`: moved by trades; `add`, `remove`: by makers. */
export const LiquidityEvent = z.object({
  kind: z.literal("liquidity"),
  ...inPool,
  usd: Amount,
  cause: z.enum(["sync", "add", "remove"]),
});
export type LiquidityEvent = z.infer<typeof LiquidityEvent>;

const Share = z.number().min(0).max(1);

/** Shares of a pool's LP tokens that are burned, or that lockers hold until a time, if known. */
export const LocksEvent = z.object({
  kind: z.literal("locks"),
  ...inPool,
  burned: Share,
  held: z.array(z.object({ share: Share, until: EventTimeMs.nullable() })).max(1_000),
});
export type LocksEvent = z.infer<typeof LocksEvent>;

/** Untrusted facts about a token. An absent field changes nothing; `null`: there is none. */
export const Profile = z.object({
  kind: z.literal("profile"),
  ...ofToken,
  symbol: z.string().max(256).optional(),
  name: z.string().max(1_024).optional(),
  createdAt: EventTimeMs.optional(),
  /** A quote token, stablecoin or wrapped native token: it never flares and is never in a chart. */
  quote: z.boolean().optional(),
  marketData: z
    .object({ market_id: z.string().max(256), image_url: Link, name: z.string().max(1_024).nullable() })
    .nullable()
    .optional(),
  socialData: z.object({ chat_url: Link, microblog_url: Link, website_url: Link }).nullable().optional(),
  /** The followed market of a token of the exchange, its pair in the unified form `BTC/USDT`. */
  market: z.object({ exchange: z.string().min(1).max(64), pair: z.string().min(3).max(256) }).optional(),
  /** `verified`, or `unverified` if that is known for certain. */
  contractSource: z.enum(["verified", "unverified"]).optional(),
  forumPost: z
    .object({
      position: z.int(),
      address: Address,
      url: z.string().max(2_048),
      title: z.string().max(1_024),
      upvotes: z.int(),
      posted: EventTimeMs,
    })
    .nullable()
    .optional(),
});
export type Profile = z.infer<typeof Profile>;

/**
 * The feed knows the group's trades since `since`; tokens may have traded before. Without this
 * event, they are assumed to be known from the start.
 */
export const Observed = z.object({
  kind: z.literal("observed"),
  at: EventTimeMs,
  group: MarketGroup,
  since: EventTimeMs,
});
export type Observed = z.infer<typeof Observed>;

/** Time advances: no event with an earlier `at` follows, except late ones. */
export const Clock = z.object({ kind: z.literal("clock"), at: EventTimeMs });
export type Clock = z.infer<typeof Clock>;

/** Any event from a feed. As NDJSON, one per line, it is the project's recording format. */
export const MarketEvent = z.discriminatedUnion("kind", [
  Trade,
  Candle,
  Window,
  ListingEvent,
  LiquidityEvent,
  LocksEvent,
  Profile,
  Observed,
  Clock,
]);
export type MarketEvent = z.infer<typeof MarketEvent>;
/** An event about one token. */
export type TokenEvent = Exclude<MarketEvent, { kind: "clock" | "observed" }>;

/**
 * The facts that a feed supports. Fields for unsupported facts have neutral values, and no rule
 * uses them.
 */
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
export const Origin = z.enum(["live", "recorded", "simulated"]);
export type Origin = z.infer<typeof Origin>;
