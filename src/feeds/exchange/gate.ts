import { z } from "zod";
import { formatDecimal } from "../../base/lib/text/figures.ts";
import { SECOND_MS } from "../../base/lib/time/time.ts";
import { isRecord } from "../../base/lib/untrusted-json.ts";
import { readItems } from "../service/read-answer.ts";
import { faultOf } from "../service/unread.ts";
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
import { Currency, Decimal, MIN_SHARE, Quantity, Seconds } from "./venue-fields.ts";

interface GateOptions {
  readonly url: string;
  readonly streamUrl: string;
  /** Returns milliseconds since 1970, because messages contain their time. */
  readonly now: () => number;
}

const Pair = z.object({ id: z.string(), base: Currency, quote: Currency, trade_status: z.string() });
const Ticker = z.object({ currency_pair: z.string(), quote_volume: Quantity });
/** Seconds, quote volume, close, high, low, open, base volume, whether the minute is over. */
const Row = z
  .tuple([Seconds, z.string(), Decimal, Decimal, Decimal, Decimal, Decimal], z.unknown())
  .transform(
    ([openAt, , close, high, low, open, volume]): MinuteCandle => ({
      openAt,
      open,
      high,
      low,
      close,
      volume,
    }),
  )
  .refine(isPossible);
const Update = z.object({
  time: z.number(),
  time_ms: z.number().optional(),
  channel: z.literal("spot.candlesticks"),
  event: z.literal("update"),
  result: z.object({
    t: Seconds,
    o: Decimal,
    h: Decimal,
    l: Decimal,
    c: Decimal,
    /** Base and quote volume. In 2021, there was no base volume yet. */
    a: Decimal.optional(),
    v: Decimal.optional(),
    n: z.string().regex(/^1m_.+$/),
  }),
});
const Refusal = z.object({
  channel: z.string(),
  error: z.object({ code: z.number(), message: z.string() }),
});

/**
 * Each pair has its own two subscriptions, because a list is refused as a whole if one of its pairs
 * is unknown. This many are sent within a few seconds.
 */
const MAX_PAIRS = 100;
const TRADES_PER_PAGE = 1_000;

/**
 * Gate spot. Sources: www.gate.io/docs/developers/apiv4, "List all currency pairs supported",
 * "Retrieve ticker information", "Market candlesticks" (at most 1,000; `from` and `to` in seconds,
 * both inclusive), "Retrieve market trades" (at most 1,000 a page; paging by `last_id` is
 * discouraged), "Frequency limit rule" (`X-Gate-RateLimit-*`), and /apiv4/ws, "Candlesticks
 * channel", "Public trades channel" (`id` counts all markets, `id_market` those of one) and
 * "Application ping pong".
 */
export function createGate({ url, streamUrl, now }: GateOptions): Venue {
  const envelope = (channel: string, rest: object = {}) =>
    JSON.stringify({ time: Math.floor(now() / SECOND_MS), channel, ...rest });
  return {
    name: "gate",
    pauseMs: 100,
    quota: (headers, nowMs) => {
      const left = headers.get("x-gate-ratelimit-requests-remain");
      const resetMs = Number(headers.get("x-gate-ratelimit-reset-timestamp") ?? 0) * SECOND_MS - nowMs;
      return left !== null && Number(left) < 5 ? Math.min(60_000, Math.max(0, resetMs)) : undefined;
    },
    pairs: {
      request: { url: `${url}/api/v4/spot/currency_pairs` },
      read: (body, unread) =>
        readItems(Pair, body, "currency pairs", unread, MIN_SHARE)
          .filter(({ trade_status }) => trade_status === "tradable")
          .map(({ id, base, quote }) => ({ pair: id, base, quote })),
    },
    volumes: {
      request: { url: `${url}/api/v4/spot/tickers` },
      read: (body, unread) =>
        new Map(
          readItems(Ticker, body, "tickers", unread, MIN_SHARE).map(({ currency_pair, quote_volume }) => [
            currency_pair,
            quote_volume,
          ]),
        ),
    },
    candles: {
      maxMinutes: 1_000,
      request: (pair, fromMs, toMs) => ({
        url: `${url}/api/v4/spot/candlesticks?currency_pair=${encodeURIComponent(pair)}&interval=1m&from=${fromMs / SECOND_MS}&to=${toMs / SECOND_MS - 1}`,
      }),
      read: (body, unread) => readItems(Row, body, "candlesticks", unread),
    },
    trades: {
      pageSize: TRADES_PER_PAGE,
      maxPages: 10,
      request: (pair, { sinceMs, untilMs }, page) => {
        const [from, to] = [Math.floor(sinceMs / SECOND_MS), Math.ceil(untilMs / SECOND_MS)];
        const query = `from=${from}&to=${to}&limit=${TRADES_PER_PAGE}&page=${page + 1}`;
        return { url: `${url}/api/v4/spot/trades?currency_pair=${encodeURIComponent(pair)}&${query}` };
      },
      read: (body, unread) => readTrades(body, fieldsOf, unread),
    },
    stream: {
      maxPairs: MAX_PAIRS,
      pauseMs: 25,
      endpoint: () => ({
        url: `${streamUrl}/ws/v4/`,
        greets: false,
        ping: { everyMs: 15_000, text: () => envelope("spot.ping") },
      }),
      subscribe: (pairs, wanted) =>
        pairs.flatMap((pair) => {
          const event = wanted ? "subscribe" : "unsubscribe";
          return [
            envelope("spot.candlesticks", { event, payload: ["1m", pair] }),
            envelope("spot.trades", { event, payload: [pair] }),
          ];
        }),
      read: readMessage,
    },
  };
}

/** The fields of a trade. Its price and amount are strings, its times are numbers or strings. */
function fieldsOf(item: unknown): TradeFields {
  const { id, id_market, create_time_ms, side, price, amount } = recordOf(item);
  return { id, serial: id_market, at: numberOf(create_time_ms), side, price, amount };
}

function readMessage(message: unknown): readonly StreamNews[] {
  if (isRecord(message) && message.channel === "spot.trades" && message.event === "update") {
    const result = recordOf(message.result);
    return tradeNews(
      result.currency_pair,
      fieldsOf(result),
      message.time_ms ?? numberOf(message.time) * SECOND_MS,
    );
  }
  const { channel, event } = recordOf(message);
  if (channel === "spot.candlesticks" && event === "update") {
    const read = Update.safeParse(message);
    if (!read.success) return unusable("streamed candles", read.error, message);
    const update = read.data;
    const { t, o, h, l, c, v, n } = update.result;
    const volume = update.result.a ?? (v && Number(c) > 0 ? formatDecimal(Number(v) / Number(c)) : v);
    if (volume === undefined)
      return [{ kind: "unusable", what: "streamed candles", reason: faultOf("result.a", undefined) }];
    const candle: MinuteCandle = { openAt: t, open: o, high: h, low: l, close: c, volume };
    const sentAt = update.time_ms ?? update.time * SECOND_MS;
    return candleNews(n.slice("1m_".length), candle, sentAt);
  }
  const refusal = Refusal.safeParse(message).data;
  const isExpected = channel === "spot.pong" || event === "subscribe" || event === "unsubscribe";
  if (!refusal) return isExpected ? [] : UNKNOWN_MESSAGE;
  const { code, message: text } = refusal.error;
  return [{ kind: "refused", reason: `rejected a subscription (${code} ${text.slice(0, 100)})` }];
}
