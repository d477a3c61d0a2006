import { z } from "zod";
import { SECOND_MS } from "../../base/lib/time/time.ts";
import { isRecord } from "../../base/lib/untrusted-json.ts";
import { chunks } from "../chunks.ts";
import { readItems, readWhole } from "../service/read-answer.ts";
import { UnexpectedAnswer } from "../service/service-client.ts";
import type { Unread } from "../service/unread.ts";
import { numberOf, readTrades, recordOf, type TradeFields, tradeNews } from "./trade-fields.ts";
import {
  candleNews,
  isPossible,
  type MinuteCandle,
  type StreamEndpoint,
  type StreamNews,
  UNKNOWN_MESSAGE,
  unusable,
  type Venue,
} from "./venue.ts";
import { Currency, Decimal, MIN_SHARE, Quantity, Seconds } from "./venue-fields.ts";

interface KucoinOptions {
  /** Address of the REST API, which also returns the address of the stream. */
  readonly url: string;
  readonly connectId: () => string;
}

const Envelope = z.object({ code: z.string(), data: z.unknown().optional() });
const Pair = z.object({
  symbol: z.string(),
  baseCurrency: Currency,
  quoteCurrency: Currency,
  enableTrading: z.boolean(),
});
const Tickers = z.object({ ticker: z.unknown() });
const Ticker = z.object({ symbol: z.string(), volValue: Quantity });
/** Seconds, open, close, high, low, volume, turnover: not the usual order. */
const Row = z
  .tuple([Seconds, Decimal, Decimal, Decimal, Decimal, Decimal, z.string()], z.unknown())
  .transform(
    ([openAt, open, close, high, low, volume]): MinuteCandle => ({ openAt, open, high, low, close, volume }),
  )
  .refine(isPossible);
const Ticket = z.object({
  token: z.string().min(1),
  instanceServers: z
    .array(
      z.object({ endpoint: z.string().regex(/^wss?:\/\//), pingInterval: z.int().min(1_000).max(120_000) }),
    )
    .min(1),
});
const Candles = z.object({
  type: z.literal("message"),
  topic: z.string().regex(/^\/market\/candles:.+_1min$/),
  data: z.object({ symbol: z.string(), candles: Row, time: z.number() }),
});
const Kind = z.object({ type: z.string(), code: z.unknown().optional(), data: z.unknown().optional() });

const GOOD = "200000";
/**
 * A subscription takes at most 100 topics, and a session a few hundred. Beyond that, error 509.
 * Each pair has two topics.
 */
const TOPICS_PER_MESSAGE = 100;
const MAX_PAIRS = 100;
const LAST_TRADES = 100;
const NANOSECONDS_PER_MS = 1e6;

/**
 * KuCoin spot. Sources: www.kucoin.com/docs-new, "Get All Symbols" (v2), "Get All Tickers", "Get
 * Klines" (at most 1,500), "Get Public Token" (`bullet-public`), "Klines" of the public spot
 * channels (3470071w0), "Trade" (`/market/match`), "Get Trade History" (the last 100), "Rate Limit"
 * (`gw-ratelimit-*`). A connection is valid for 24 hours and needs a ping message at the interval
 * in its ticket. No candle is marked as closed. A minute's last candle is the one before the first
 * candle of the next minute.
 */
export function createKucoin({ url, connectId }: KucoinOptions): Venue {
  return {
    name: "kucoin",
    pauseMs: 100,
    quota: (headers) => {
      const left = headers.get("gw-ratelimit-remaining");
      const resetMs = Number(headers.get("gw-ratelimit-reset") ?? 0);
      return left !== null && Number(left) < 100 ? Math.min(30_000, Math.max(0, resetMs)) : undefined;
    },
    pairs: {
      request: { url: `${url}/api/v2/symbols` },
      read: (body, unread) =>
        readItems(Pair, dataOf(body, unread), "symbols", unread, MIN_SHARE)
          .filter(({ enableTrading }) => enableTrading)
          .map(({ symbol, baseCurrency, quoteCurrency }) => ({
            pair: symbol,
            base: baseCurrency,
            quote: quoteCurrency,
          })),
    },
    volumes: {
      request: { url: `${url}/api/v1/market/allTickers` },
      read: (body, unread) => {
        const { ticker } = readWhole(Tickers, dataOf(body, unread), "tickers", unread);
        return new Map(
          readItems(Ticker, ticker, "tickers", unread, MIN_SHARE).map(({ symbol, volValue }) => [
            symbol,
            volValue,
          ]),
        );
      },
    },
    candles: {
      maxMinutes: 1_500,
      request: (pair, fromMs, toMs) => ({
        url: `${url}/api/v1/market/candles?type=1min&symbol=${encodeURIComponent(pair)}&startAt=${fromMs / SECOND_MS}&endAt=${toMs / SECOND_MS}`,
      }),
      read: (body, unread) => readItems(Row, dataOf(body, unread), "candles", unread),
    },
    trades: {
      pageSize: LAST_TRADES,
      maxPages: 1,
      request: (pair) => ({ url: `${url}/api/v1/market/histories?symbol=${encodeURIComponent(pair)}` }),
      read: (body, unread) => readTrades(dataOf(body, unread), fieldsOf, unread),
    },
    stream: {
      maxPairs: MAX_PAIRS,
      pauseMs: 200,
      ticket: { url: `${url}/api/v1/bullet-public`, method: "POST" },
      endpoint: (ticket) => endpointOf(ticket, connectId),
      subscribe: (pairs, wanted) =>
        chunks(pairs, TOPICS_PER_MESSAGE)
          .flatMap((some) => [
            `/market/candles:${some.map((pair) => `${pair}_1min`).join(",")}`,
            `/market/match:${some.join(",")}`,
          ])
          .map((topic, index) =>
            JSON.stringify({
              id: String(index + 1),
              type: wanted ? "subscribe" : "unsubscribe",
              topic,
              privateChannel: false,
              response: true,
            }),
          ),
      read: readMessage,
    },
  };
}

function dataOf(body: unknown, unread?: Unread): unknown {
  const { code, data } = readWhole(Envelope, body, "envelope", unread);
  if (code !== GOOD) throw new UnexpectedAnswer(`returned code ${code.slice(0, 20)}`);
  return data;
}

function endpointOf(ticket: unknown, connectId: () => string): StreamEndpoint {
  const { token, instanceServers } = readWhole(Ticket, dataOf(ticket), "ticket for a stream");
  const [server] = instanceServers;
  if (!server) throw new UnexpectedAnswer("returned no stream server");
  const query = new URLSearchParams({ token, connectId: connectId() });
  let pings = 0;
  return {
    url: `${server.endpoint}?${query}`,
    greets: true,
    ping: {
      everyMs: server.pingInterval,
      text: () => {
        pings += 1;
        return JSON.stringify({ id: `ping-${pings}`, type: "ping" });
      },
    },
  };
}

/** The fields of a trade. Its sequence only grows, because the order book counts along. */
function fieldsOf(item: unknown): TradeFields {
  const { sequence, time, side, price, size } = recordOf(item);
  // A double holds today's nanoseconds to the nearest 256, so the microsecond is certain.
  const at = Math.floor(Math.round(numberOf(time) / 1_000) / 1_000);
  return { id: sequence, at, side, price, amount: size };
}

function readMessage(message: unknown): readonly StreamNews[] {
  if (isRecord(message) && message.subject === "trade.l3match" && message.type === "message") {
    const fields = fieldsOf(message.data);
    return tradeNews(recordOf(message.data).symbol, fields, fields.at);
  }
  const candles = Candles.safeParse(message);
  if (candles.success) {
    const { symbol, candles: candle, time } = candles.data.data;
    // Nanoseconds. As a JSON number they are precise enough for milliseconds.
    return candleNews(symbol, candle, Math.round(time / NANOSECONDS_PER_MS));
  }
  const { type, code, data } = Kind.safeParse(message).data ?? {};
  if (type === "welcome") return [{ kind: "welcome" }];
  if (type === "error") {
    const text = `${String(code).slice(0, 20)} ${String(data).slice(0, 100)}`;
    return [{ kind: "refused", reason: `rejected a subscription (${text})` }];
  }
  if (type === "ack" || type === "pong") return [];
  const isCandle = isRecord(message) && String(message.topic).startsWith("/market/candles:");
  return isCandle ? unusable("streamed candles", candles.error, message) : UNKNOWN_MESSAGE;
}
