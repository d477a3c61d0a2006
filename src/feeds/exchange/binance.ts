import { z } from "zod";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import { isRecord } from "../../base/lib/untrusted-json.ts";
import { chunks } from "../chunks.ts";
import { readItems, readWhole } from "../service/read-answer.ts";
import { numberOf, readTrades, recordOf, type TradeFields, tradeNews } from "./trade-fields.ts";
import {
  candleNews,
  isPossible,
  type MinuteCandle,
  type StreamNews,
  UNKNOWN_MESSAGE,
  unusable,
  type Venue,
} from "./venue.ts";
import { Currency, Decimal, MIN_SHARE, Quantity } from "./venue-fields.ts";

interface BinanceUrls {
  /** `https://data-api.binance.vision`, or `https://api.binance.com`. */
  readonly url: string;
  /** `wss://data-stream.binance.vision`, or `wss://stream.binance.com:9443`. */
  readonly streamUrl: string;
}

const Pairs = z.object({ symbols: z.unknown().optional() });
const Pair = z.object({
  symbol: z.string(),
  status: z.string(),
  baseAsset: Currency,
  quoteAsset: Currency,
  isSpotTradingAllowed: z.boolean().optional(),
});
const Ticker = z.object({ symbol: z.string(), quoteVolume: Quantity });
/**
 * Open time, OHLC, volume, close time, quote volume, trades, volume bought by takers, unused ones.
 */
const Row = z
  .tuple(
    [z.int(), Decimal, Decimal, Decimal, Decimal, Decimal, z.int(), z.string(), z.int(), Decimal],
    z.unknown(),
  )
  .transform(
    ([openAt, open, high, low, close, volume, , , trades, buyVolume]): MinuteCandle => ({
      openAt,
      open,
      high,
      low,
      close,
      volume,
      trades,
      buyVolume,
    }),
  )
  .refine(isPossible);
const Kline = z.object({
  e: z.literal("kline"),
  E: z.int(),
  s: z.string(),
  k: z.object({
    t: z.int(),
    i: z.literal("1m"),
    o: Decimal,
    c: Decimal,
    h: Decimal,
    l: Decimal,
    v: Decimal,
    n: z.int().min(0),
    V: Decimal,
  }),
});
const MiniTicker = z.object({ e: z.literal("24hrMiniTicker"), s: z.string(), q: Quantity });
const Wrapped = z.object({ stream: z.string(), data: z.unknown() });
const Refusal = z.object({ error: z.object({ code: z.number(), msg: z.string() }) });

/**
 * Request weight per minute and IP address above which requests pause. The exchange allows 6,000;
 * the rest is for other programs.
 */
const WEIGHT_LIMIT = 5_000;
/**
 * A connection may have 1,024 streams: two of each pair, and one for the tickers. This stays below.
 */
const MAX_PAIRS = 400;
/** Larger subscriptions make messages longer than the exchange accepts. */
const PAIRS_PER_MESSAGE = 50;
const TRADES_PER_PAGE = 1_000;
const STREAMS = ["kline_1m", "aggTrade"] as const;
const ALL_TICKERS = "!miniTicker@arr";

/**
 * Binance spot. Sources: github.com/binance/binance-spot-api-docs, `rest-api.md` (exchangeInfo,
 * ticker/24hr, klines, aggTrades, limits) and `web-socket-streams.md` (combined streams, kline,
 * aggregate trades, mini tickers, 5 messages a second, 1,024 streams, 24 hours). `!ticker@arr` was
 * retired on 2026-03-26 (`CHANGELOG.md`). The server sends protocol pings every 20 seconds. The ids
 * of aggregate trades are consecutive in all recordings, which no document promises.
 */
export function createBinance({ url, streamUrl }: BinanceUrls): Venue {
  return {
    name: "binance",
    pauseMs: 60,
    quota: (headers, nowMs) => {
      const used = Number(headers.get("x-mbx-used-weight-1m") ?? 0);
      return used > WEIGHT_LIMIT ? MINUTE_MS - (nowMs % MINUTE_MS) : undefined;
    },
    pairs: {
      request: {
        url: `${url}/api/v3/exchangeInfo?permissions=SPOT&symbolStatus=TRADING&showPermissionSets=false`,
      },
      read: (body, unread) =>
        readItems(Pair, readWhole(Pairs, body, "exchangeInfo", unread).symbols, "symbols", unread, MIN_SHARE)
          .filter(
            ({ status, isSpotTradingAllowed }) => status === "TRADING" && isSpotTradingAllowed !== false,
          )
          .map(({ symbol, baseAsset, quoteAsset }) => ({ pair: symbol, base: baseAsset, quote: quoteAsset })),
    },
    volumes: {
      request: { url: `${url}/api/v3/ticker/24hr?type=MINI` },
      read: (body, unread) =>
        new Map(
          readItems(Ticker, body, "tickers", unread, MIN_SHARE).map(({ symbol, quoteVolume }) => [
            symbol,
            quoteVolume,
          ]),
        ),
    },
    candles: {
      maxMinutes: 1_000,
      request: (pair, fromMs, toMs) => ({
        url: `${url}/api/v3/klines?symbol=${encodeURIComponent(pair)}&interval=1m&startTime=${fromMs}&endTime=${toMs - 1}&limit=1000`,
      }),
      read: (body, unread) => readItems(Row, body, "klines", unread),
    },
    trades: {
      pageSize: TRADES_PER_PAGE,
      maxPages: 10,
      request: (pair, { afterId, beforeId }, page) => {
        const fromId = afterId + 1n + BigInt(page * TRADES_PER_PAGE);
        const limit = Math.min(TRADES_PER_PAGE, Number(beforeId - fromId));
        return {
          url: `${url}/api/v3/aggTrades?symbol=${encodeURIComponent(pair)}&fromId=${fromId}&limit=${limit}`,
        };
      },
      read: (body, unread) => readTrades(body, fieldsOf, unread),
    },
    stream: {
      maxPairs: MAX_PAIRS,
      pauseMs: 300,
      endpoint: () => ({ url: `${streamUrl}/stream?streams=${ALL_TICKERS}`, greets: false }),
      subscribe: (pairs, wanted) =>
        chunks(pairs, PAIRS_PER_MESSAGE).map((some, index) =>
          JSON.stringify({
            method: wanted ? "SUBSCRIBE" : "UNSUBSCRIBE",
            params: some.flatMap((pair) => STREAMS.map((stream) => `${pair.toLowerCase()}@${stream}`)),
            id: index + 1,
          }),
        ),
      read: readMessage,
    },
  };
}

/**
 * The fields of an aggregate trade, which joins the fills of one taker order at one price. If the
 * buyer was the maker, the taker sold.
 */
function fieldsOf(item: unknown): TradeFields {
  const { a, T, m, p, q } = recordOf(item);
  const side = m === true ? "sell" : m === false ? "buy" : undefined;
  return { id: a, serial: a, at: numberOf(T), side, price: p, amount: q };
}

function readMessage(message: unknown): readonly StreamNews[] {
  if (isRecord(message) && isRecord(message.data) && message.data.e === "aggTrade")
    return tradeNews(message.data.s, fieldsOf(message.data), message.data.E);
  const refusal = Refusal.safeParse(message);
  if (refusal.success) {
    const { code, msg } = refusal.data.error;
    return [{ kind: "refused", reason: `rejected a subscription (${code} ${msg.slice(0, 100)})` }];
  }
  if (isRecord(message) && message.result === null) return [];
  const { data } = Wrapped.safeParse(message).data ?? {};
  if (Array.isArray(data)) {
    return data.flatMap((item: unknown): readonly StreamNews[] => {
      const ticker = MiniTicker.safeParse(item);
      if (!ticker.success) return unusable("streamed tickers", ticker.error, item);
      return [{ kind: "volume", pair: ticker.data.s, quoteVolume: ticker.data.q }];
    });
  }
  if (isRecord(data) && data.e === "serverShutdown")
    return [{ kind: "ending", reason: "is about to shut down" }];
  if (!isRecord(data) || data.e !== "kline") return UNKNOWN_MESSAGE;
  const read = Kline.safeParse(data);
  if (!read.success) return unusable("streamed candles", read.error, data);
  const kline = read.data;
  const { t: openAt, o: open, h: high, l: low, c: close, v: volume, n: trades, V: buyVolume } = kline.k;
  const candle: MinuteCandle = { openAt, open, high, low, close, volume, trades, buyVolume };
  return candleNews(kline.s, candle, kline.E);
}
