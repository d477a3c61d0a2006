import { z } from "zod";
import { plainDecimal } from "../replay/read/plain-decimal.ts";

/** The exchanges that can be followed. */
export const VENUES = ["binance", "kucoin", "gate"] as const;
export type VenueName = (typeof VENUES)[number];

/** A market of an exchange. */
export interface VenuePair {
  /** As the exchange writes it: `BTCUSDT`, `BTC-USDT`, `BTC_USDT`. */
  readonly pair: string;
  /** What is traded, in capitals. */
  readonly base: string;
  /** What it is paid with, in capitals. */
  readonly quote: string;
}

/** One minute of a pair. Prices in its quote, volumes in its base, as plain decimals. */
export interface MinuteCandle {
  readonly openAt: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly trades?: number;
  readonly buyVolume?: string;
}

/** What a message of an exchange's stream says. */
export type StreamNews =
  | {
      readonly kind: "candle";
      readonly pair: string;
      readonly candle: MinuteCandle;
      readonly sentAt: number | undefined;
    }
  /** Traded within 24 hours, in the quote. */
  | { readonly kind: "volume"; readonly pair: string; readonly quoteVolume: number }
  /** It may be subscribed now. */
  | { readonly kind: "welcome" }
  /** Something was not granted; the rest goes on. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The exchange is about to close: the connection is to be made anew. */
  | { readonly kind: "ending"; readonly reason: string };

/** Where a stream is, and how it is kept alive where the exchange wants more than the protocol's own pings. */
export interface StreamPlace {
  readonly url: string;
  readonly ping?: { readonly everyMs: number; readonly text: () => string };
  /** The exchange greets first; nothing may be said before. */
  readonly greets: boolean;
}

/** An address to ask. */
export interface VenueRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
}

/**
 * One exchange: where things are and what they say. Pure: what it is given was fetched by others. Readers throw {@link UnexpectedAnswer} where an
 * answer as a whole is not what it should be, and leave out items that cannot be used.
 */
export interface Venue {
  readonly name: VenueName;
  /** Least milliseconds between two requests, far below what the exchange allows. */
  readonly pauseMs: number;
  /** Milliseconds to wait by the headers of an answer. */
  readonly quota: (headers: Headers, nowMs: number) => number | undefined;
  readonly pairs: { readonly request: VenueRequest; readonly read: (body: unknown) => readonly VenuePair[] };
  /** The quote volume of the past 24 hours, by pair. */
  readonly volumes: {
    readonly request: VenueRequest;
    readonly read: (body: unknown) => ReadonlyMap<string, number>;
  };
  readonly candles: {
    /** Most minutes in one answer. */
    readonly most: number;
    /** The minutes that open from `fromMs` to before `toMs`. */
    readonly request: (pair: string, fromMs: number, toMs: number) => VenueRequest;
    /** In any order; minutes without trades may be missing. */
    readonly read: (body: unknown) => readonly MinuteCandle[];
  };
  readonly stream: {
    /** Pairs on one connection. */
    readonly mostPairs: number;
    /** Least milliseconds between two messages to it. */
    readonly pauseMs: number;
    /** What is asked before a connection, where there is such a thing, and the place that follows from the answer. */
    readonly ticket?: VenueRequest;
    readonly place: (ticket: unknown) => StreamPlace;
    /** The messages that subscribe to these pairs' candles; with `wanted` false, that end it. */
    readonly subscribe: (pairs: readonly string[], wanted: boolean) => readonly string[];
    readonly read: (message: unknown) => readonly StreamNews[];
  };
}

/** A decimal as exchanges write it, made plain. */
export const Decimal = z.string().transform((text, context) => {
  const plain = plainDecimal(text);
  if (plain !== undefined) return plain;
  context.addIssue({ code: "custom", message: "must be a decimal number" });
  return z.NEVER;
});

/** A decimal as a number; of what is no number, 0. */
export const Quantity = z
  .string()
  .nullish()
  .transform((text) => {
    const value = Number(text ?? 0);
    return Number.isFinite(value) && value > 0 ? value : 0;
  });

/** The name of a currency, in capitals. */
export const Currency = z
  .string()
  .min(1)
  .max(64)
  .transform((text) => text.toUpperCase());

/** Whether prices enclose each other, and none is zero. */
export function isPossible({ open, high, low, close }: MinuteCandle): boolean {
  const [o, h, l, c] = [Number(open), Number(high), Number(low), Number(close)];
  return l > 0 && l <= Math.min(o, c) && h >= Math.max(o, c);
}
