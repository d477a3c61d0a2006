import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { Clock } from "../../../src/base/lib/time/clock.ts";
import { type MinuteCandle, VENUES, type VenueName } from "../../../src/feeds/exchange/venue.ts";
import { type Mischief, misbehave } from "./mischief.ts";
import { type MadeTrade, messageOf, TradeTape } from "./stand-in-trades.ts";

const MINUTE = 60_000;

/** A market of the stand-in. */
export interface StandInPair {
  readonly base: string;
  readonly quote?: string;
  readonly venue: VenueName;
  readonly quoteVolume: number;
}

const WRITTEN: Readonly<Record<VenueName, (base: string, quote: string) => string>> = {
  binance: (base, quote) => `${base}${quote}`,
  kucoin: (base, quote) => `${base}-${quote}`,
  gate: (base, quote) => `${base}_${quote}`,
};

/** Returns the candle of a pair's minute after the share `part` of it. Deterministic. */
export function candleOf(pair: string, openAt: number, part = 1): MinuteCandle {
  const seed = [...pair].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  const minute = openAt / MINUTE;
  const price = (at: number) => (seed / 10) * (1 + 0.01 * Math.sin(at * 0.7 + seed));
  const [open, close] = [price(minute), price(minute) + (price(minute + 1) - price(minute)) * part];
  const text = (value: number) => value.toFixed(8);
  return {
    ...{ openAt, open: text(open), close: text(close) },
    ...{ high: text(Math.max(open, close) * 1.001), low: text(Math.min(open, close) * 0.999) },
    volume: text((10 + ((minute + seed) % 7)) * part),
  };
}

interface Client {
  readonly socket: WebSocket;
  readonly venue: VenueName;
  /** Pairs whose candles, or whose trades, it has subscribed to. */
  readonly pairs: Set<string>;
  readonly trades: Set<string>;
}

/**
 * Binance, KuCoin and Gate in one server on loopback, with their response shapes. They can
 * misbehave.
 */
export class StandIn implements AsyncDisposable {
  /** Faults of an exchange's REST API. Meanwhile its stream refuses connections. */
  readonly mischief = new Map<VenueName, Mischief>();
  /** Exchanges whose streams stay open but send nothing. */
  readonly mute = new Set<VenueName>();
  readonly requests: { readonly venue: VenueName; readonly path: string }[] = [];
  /** Exchanges whose past trades cannot be had. */
  readonly forgetful = new Set<VenueName>();
  readonly tapes = new Map(VENUES.map((venue) => [venue, new TradeTape(venue)]));
  /** Messages that clients sent over streams. */
  readonly heard: string[] = [];
  readonly #clock: Clock;
  readonly #pairs: readonly StandInPair[];
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #clients = new Set<Client>();
  readonly #stop: () => void;
  #minute = 0;

  constructor(clock: Clock, pairs: readonly StandInPair[]) {
    this.#clock = clock;
    this.#pairs = pairs;
    this.#server.on("upgrade", (request, socket, head) => {
      const venue = venueOf(request.url ?? "");
      if (this.mischief.has(venue)) {
        socket.end("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n");
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (accepted) => this.#greet(accepted, venue));
    });
    this.#minute = this.#openAt();
    this.#stop = clock.every(1_000, () => this.#tick());
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get streamUrl(): string {
    return this.url.replace("http", "ws");
  }

  /** Terminates every connection of the exchange. */
  cut(venue: VenueName): void {
    for (const client of this.#clients) if (client.venue === venue) client.socket.terminate();
  }

  /** Sends this text to all open connections. */
  say(venue: VenueName, text: string): void {
    for (const client of this.#clients) if (client.venue === venue) client.socket.send(text);
  }

  /** Whether the pair's trades are subscribed to. */
  hasTradesOf(pair: string): boolean {
    return [...this.#clients].some(({ trades }) => trades.has(pair));
  }

  /** Makes trades of the pair now without sending them to subscribers. */
  trade(venue: VenueName, pair: string, count = 1): readonly MadeTrade[] {
    const make = () => this.tapes.get(venue)?.make(pair, this.#clock.now()) ?? [];
    return Array.from({ length: count }, make).flat();
  }

  /** Sends trades to their subscribers. */
  deliver(...trades: readonly MadeTrade[]): void {
    for (const trade of trades) {
      const text = JSON.stringify(messageOf(trade));
      for (const client of this.#clients) if (client.trades.has(trade.pair)) client.socket.send(text);
    }
  }

  /** The pairs whose trades are subscribed to. */
  get traded(): readonly { readonly venue: VenueName; readonly pair: string }[] {
    return [...this.#clients].flatMap(({ venue, trades }) => [...trades].map((pair) => ({ venue, pair })));
  }

  connections(venue: VenueName): number {
    return [...this.#clients].filter((client) => client.venue === venue).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    for (const client of this.#clients) client.socket.terminate();
    this.#sockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #openAt(): number {
    return Math.floor(this.#clock.now() / MINUTE) * MINUTE;
  }

  #greet(socket: WebSocket, venue: VenueName): void {
    const client: Client = { socket, venue, pairs: new Set(), trades: new Set() };
    this.#clients.add(client);
    socket.on("close", () => this.#clients.delete(client));
    socket.on("error", () => {});
    socket.on("message", (data) => this.#hear(client, String(data)));
    if (venue === "kucoin") socket.send(JSON.stringify({ id: "x", type: "welcome" }));
  }

  #hear(client: Client, text: string): void {
    this.heard.push(text);
    const message = JSON.parse(text);
    const { pairs, trades, venue, socket } = client;
    if (venue === "binance") {
      for (const stream of message.params) {
        const [pair = "", name] = String(stream).split("@");
        (name === "aggTrade" ? trades : pairs).add(pair.toUpperCase());
      }
      socket.send(JSON.stringify({ result: null, id: message.id }));
    } else if (venue === "kucoin") {
      if (message.type === "ping") socket.send(JSON.stringify({ id: message.id, type: "pong" }));
      else {
        const [topic, list] = message.topic.split(":");
        for (const name of list.split(","))
          (topic === "/market/match" ? trades : pairs).add(name.replace("_1min", ""));
        socket.send(JSON.stringify({ id: message.id, type: "ack" }));
      }
    } else if (message.channel === "spot.ping") {
      socket.send(JSON.stringify({ time: message.time, channel: "spot.pong", event: "", result: null }));
    } else {
      (message.channel === "spot.trades" ? trades : pairs).add(message.payload.at(-1));
      const { time, channel } = message;
      socket.send(
        JSON.stringify({ time, channel, event: "subscribe", error: null, result: { status: "success" } }),
      );
    }
  }

  #tick(): void {
    const openAt = this.#openAt();
    if (openAt !== this.#minute) {
      this.#send(this.#minute, 1);
      this.#minute = openAt;
    }
    this.#send(openAt, (this.#clock.now() - openAt) / MINUTE);
  }

  #send(openAt: number, part: number): void {
    const now = this.#clock.now();
    for (const { socket, venue, pairs } of this.#clients) {
      if (this.mute.has(venue)) continue;
      if (venue === "binance")
        socket.send(JSON.stringify({ stream: "!miniTicker@arr", data: this.#miniTickers(now) }));
      for (const pair of pairs)
        socket.send(JSON.stringify(MESSAGES[venue](pair, candleOf(pair, openAt, part), now, part)));
    }
  }

  #miniTickers(now: number) {
    return this.#of("binance").map(({ pair, quoteVolume }) => ({
      ...{ e: "24hrMiniTicker", E: now, s: pair, c: "1", o: "1", h: "1", l: "1", v: "1" },
      q: String(quoteVolume),
    }));
  }

  #of(venue: VenueName) {
    return this.#pairs
      .filter((pair) => pair.venue === venue)
      .map(({ base, quote = "USDT", quoteVolume }) => ({
        base,
        quote,
        quoteVolume,
        pair: WRITTEN[venue](base, quote),
      }));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    const venue = venueOf(path);
    this.requests.push({ venue, path });
    const mischief = this.mischief.get(venue);
    if (mischief) {
      misbehave(mischief, response);
      return;
    }
    const body = this.#body(venue, new URL(path, this.url), request.method ?? "");
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { error: "not found" }));
  }

  #body(venue: VenueName, url: URL, method: string): unknown {
    const { pathname, searchParams } = url;
    const of = this.#of(venue);
    const minutes = (pair: string | null, from: number, to: number) => {
      const found: MinuteCandle[] = [];
      for (
        let at = Math.ceil(from / MINUTE) * MINUTE;
        at <= to && at + MINUTE <= this.#clock.now();
        at += MINUTE
      )
        found.push(candleOf(pair ?? "", at));
      return found;
    };
    const number = (name: string) => Number(searchParams.get(name));
    const past = this.tapes.get(venue)?.body(url);
    if (past !== undefined) return this.forgetful.has(venue) ? undefined : past;
    switch (`${method} ${pathname}`) {
      case "GET /api/v3/exchangeInfo":
        return {
          timezone: "UTC",
          symbols: of.map(({ pair, base, quote }) => ({
            symbol: pair,
            status: "TRADING",
            baseAsset: base,
            quoteAsset: quote,
            isSpotTradingAllowed: true,
          })),
        };
      case "GET /api/v3/ticker/24hr":
        return of.map(({ pair, quoteVolume }) => ({
          symbol: pair,
          lastPrice: "1",
          volume: "1",
          quoteVolume: String(quoteVolume),
        }));
      case "GET /api/v3/klines":
        return minutes(searchParams.get("symbol"), number("startTime"), number("endTime")).map((c) => [
          ...[c.openAt, c.open, c.high, c.low, c.close, c.volume, c.openAt + 59_999, "1", 5],
          ...[c.volume, "1", "0"],
        ]);
      case "GET /api/v2/symbols":
        return {
          code: "200000",
          data: of.map(({ pair, base, quote }) => ({
            symbol: pair,
            name: pair,
            baseCurrency: base,
            quoteCurrency: quote,
            enableTrading: true,
          })),
        };
      case "GET /api/v1/market/allTickers":
        return {
          code: "200000",
          data: {
            time: 1,
            ticker: of.map(({ pair, quoteVolume }) => ({
              symbol: pair,
              last: "1",
              volValue: String(quoteVolume),
            })),
          },
        };
      case "GET /api/v1/market/candles":
        return {
          code: "200000",
          data: minutes(searchParams.get("symbol"), number("startAt") * 1_000, number("endAt") * 1_000 - 1)
            .map((c) => [String(c.openAt / 1_000), c.open, c.close, c.high, c.low, c.volume, "1"])
            .reverse(),
        };
      case "POST /api/v1/bullet-public":
        return {
          code: "200000",
          data: {
            token: "2neAiuYvAU61ZDXANAGAsiL4",
            instanceServers: [
              {
                endpoint: `${this.streamUrl}/kucoin/endpoint`,
                encrypt: true,
                protocol: "websocket",
                pingInterval: 18_000,
                pingTimeout: 10_000,
              },
            ],
          },
        };
      case "GET /api/v4/spot/currency_pairs":
        return of.map(({ pair, base, quote }) => ({
          id: pair,
          base,
          quote,
          fee: "0.2",
          trade_status: "tradable",
        }));
      case "GET /api/v4/spot/tickers":
        return of.map(({ pair, quoteVolume }) => ({
          currency_pair: pair,
          last: "1",
          base_volume: "1",
          quote_volume: String(quoteVolume),
        }));
      case "GET /api/v4/spot/candlesticks":
        return minutes(searchParams.get("currency_pair"), number("from") * 1_000, number("to") * 1_000).map(
          (c) => [...[String(c.openAt / 1_000), "1", c.close, c.high, c.low, c.open, c.volume, "true"]],
        );
      default:
        return undefined;
    }
  }
}

const MESSAGES: Readonly<
  Record<VenueName, (pair: string, c: MinuteCandle, now: number, part: number) => unknown>
> = {
  binance: (pair, c, now, part) => ({
    stream: `${pair.toLowerCase()}@kline_1m`,
    data: {
      ...{ e: "kline", E: now, s: pair },
      k: {
        ...{
          t: c.openAt,
          T: c.openAt + 59_999,
          s: pair,
          i: "1m",
          f: 1,
          L: 2,
          o: c.open,
          c: c.close,
          h: c.high,
          l: c.low,
        },
        ...{ v: c.volume, n: 5, x: part === 1, q: "1", V: c.volume, Q: "1", B: "0" },
      },
    },
  }),
  kucoin: (pair, c, now) => ({
    ...{ type: "message", subject: "trade.candles.update", topic: `/market/candles:${pair}_1min` },
    data: {
      symbol: pair,
      candles: [String(c.openAt / 1_000), c.open, c.close, c.high, c.low, c.volume, "1"],
      time: now * 1e6,
    },
  }),
  gate: (pair, c, now, part) => ({
    ...{ time: Math.floor(now / 1_000), time_ms: now, channel: "spot.candlesticks", event: "update" },
    result: {
      t: String(c.openAt / 1_000),
      v: "1",
      c: c.close,
      h: c.high,
      l: c.low,
      o: c.open,
      n: `1m_${pair}`,
      a: c.volume,
      w: part === 1,
    },
  }),
};

function venueOf(path: string): VenueName {
  if (/^\/(api\/v4|ws\/v4)/.test(path)) return "gate";
  return /^\/(api\/v2|api\/v1|kucoin)/.test(path) ? "kucoin" : "binance";
}
