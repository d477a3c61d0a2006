import type { Candle } from "../../base/market/index.ts";
import { reasonOf, type Unread } from "../service/unread.ts";

export const VENUES = ["binance", "kucoin", "gate"] as const;
export type VenueName = (typeof VENUES)[number];

export interface VenuePair {
  /** As the exchange writes it: `BTCUSDT`, `BTC-USDT`, `BTC_USDT`. */
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
}

/** One minute of a pair. Prices are in its quote, volumes in its base, as plain decimals. */
export type MinuteCandle = Readonly<Omit<Candle, "kind" | "at" | "group" | "token">>;

/** A trade of a pair, in plain decimals. */
export interface VenueTrade {
  /** Grows with each trade of the pair. */
  readonly id: bigint;
  /** Grows by one with each trade of the pair; `undefined` if the exchange has no such number. */
  readonly serial: number | undefined;
  /** Milliseconds since 1970, by the exchange's clock. */
  readonly at: number;
  /** The taker's side. */
  readonly side: "buy" | "sell";
  /** In the pair's quote. */
  readonly price: string;
  /** In the pair's base. */
  readonly amount: string;
  /** Price times amount, in the pair's quote. */
  readonly value: string;
}

/** A place in a pair's trades where some are missing, or may be. */
export interface TradeGap {
  /** Ids of the trades on both sides. */
  readonly afterId: bigint;
  readonly beforeId: bigint;
  /** Times of the trades on both sides, in milliseconds since 1970. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Monotonic time at which the second of them arrived. */
  readonly openedAt: number;
  /** How many trades are still missing; `undefined` if the exchange's ids do not tell. */
  readonly missing: number | undefined;
}

export type StreamNews =
  | {
      readonly kind: "candle";
      readonly pair: string;
      readonly candle: MinuteCandle;
      /** Milliseconds since 1970, by the exchange's clock. */
      readonly sentAt: number | undefined;
    }
  | {
      readonly kind: "trade";
      readonly pair: string;
      readonly trade: VenueTrade;
      /** As of a candle. A time before it, such as the trade's own, also does. */
      readonly sentAt: number;
    }
  /** An item, such as `trades`, with absent, malformed or absurd fields. */
  | { readonly kind: "unusable"; readonly what: string; readonly reason: string }
  /** Volume of the last 24 hours, in the quote. */
  | { readonly kind: "volume"; readonly pair: string; readonly quoteVolume: number }
  /** The exchange's greeting: it accepts subscriptions from now on. */
  | { readonly kind: "welcome" }
  /** The exchange refused a request; the others continue. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The exchange is about to close the connection: reconnect. */
  | { readonly kind: "ending"; readonly reason: string };

/** Address of a stream, and its keep-alive message if protocol pings do not suffice. */
export interface StreamEndpoint {
  readonly url: string;
  readonly ping?: { readonly everyMs: number; readonly text: () => string };
  /** Whether the exchange sends a greeting, before which nothing may be sent. */
  readonly greets: boolean;
}

export interface VenueRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
}

/** Reads a response. Counts what it cannot read. */
export type Read<T> = (body: unknown, unread?: Unread) => T;

/** One exchange: URLs and pure readers, which throw {@link UnexpectedAnswer} or skip items. */
export interface Venue {
  readonly name: VenueName;
  /**
   * Minimum milliseconds between two requests, so that they stay far below the exchange's limit.
   */
  readonly pauseMs: number;
  /** Returns the milliseconds to wait according to a response's headers; `undefined`: none. */
  readonly quota: (headers: Headers, nowMs: number) => number | undefined;
  readonly pairs: { readonly request: VenueRequest; readonly read: Read<readonly VenuePair[]> };
  readonly volumes: {
    readonly request: VenueRequest;
    readonly read: Read<ReadonlyMap<string, number>>;
  };
  readonly candles: {
    readonly maxMinutes: number;
    /** Returns the request for the minutes that open from `fromMs` to before `toMs`. */
    readonly request: (pair: string, fromMs: number, toMs: number) => VenueRequest;
    /** In any order; minutes without trades may be missing. */
    readonly read: Read<readonly MinuteCandle[]>;
  };
  /** Past trades, to fill the gaps of the stream. */
  readonly trades: {
    /** A response with fewer trades is the last one. */
    readonly pageSize: number;
    /** Maximum number of requests for one gap. */
    readonly maxPages: number;
    /** Returns the request for a page of a gap's trades. The first page is 0. */
    readonly request: (pair: string, gap: TradeGap, page: number) => VenueRequest;
    /** In any order, maybe with trades outside the gap. */
    readonly read: Read<readonly VenueTrade[]>;
  };
  readonly stream: {
    readonly maxPairs: number;
    /** Minimum milliseconds between two subscription messages. */
    readonly pauseMs: number;
    /** The request before a connection, if any. `endpoint` reads its response. */
    readonly ticket?: VenueRequest;
    readonly endpoint: (ticket: unknown) => StreamEndpoint;
    /** Returns the messages that subscribe to these pairs, or unsubscribe if `wanted` is false. */
    readonly subscribe: (pairs: readonly string[], wanted: boolean) => readonly string[];
    readonly read: (message: unknown) => readonly StreamNews[];
  };
}

/** Whether open and close lie between low and high, and low is above zero. */
export function isPossible({ open, high, low, close }: MinuteCandle): boolean {
  const [o, h, l, c] = [Number(open), Number(high), Number(low), Number(close)];
  return l > 0 && l <= Math.min(o, c) && h >= Math.max(o, c);
}

/** What {@link UNKNOWN_MESSAGE} is counted as. */
export const MESSAGES = "stream messages";
/** The news of a message that is none of those that were subscribed to. */
export const UNKNOWN_MESSAGE: readonly StreamNews[] = [
  { kind: "unusable", what: MESSAGES, reason: "it is of an unknown kind" },
];

/** Returns a candle as news. An impossible one is unusable. */
export function candleNews(
  pair: string,
  candle: MinuteCandle,
  sentAt: number | undefined,
): readonly StreamNews[] {
  if (isPossible(candle)) return [{ kind: "candle", pair, candle, sentAt }];
  return [{ kind: "unusable", what: "streamed candles", reason: "its prices contradict each other" }];
}

/** Returns an item that a schema refuses as news. */
export function unusable(
  what: string,
  error: Parameters<typeof reasonOf>[0],
  item: unknown,
): readonly StreamNews[] {
  return [{ kind: "unusable", what, reason: reasonOf(error, item) }];
}
