import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import type {
  MinuteCandle,
  StreamEndpoint,
  StreamNews,
  Venue,
  VenueTrade,
} from "../../../src/feeds/exchange/venue.ts";
import { eventually } from "../../support/time/waiters.ts";

const Pairs = z.array(z.string());
const Volumes = z.record(z.string(), z.number());
const Minutes = z.array(z.number());
const News = z.custom<StreamNews>();
const Ids = z.array(z.tuple([z.int(), z.int()]));
const TradeMessage = z.object({
  kind: z.literal("trade"),
  pair: z.string(),
  ids: Ids.element,
  sentAt: z.int(),
});

/** JSON has no big integers, so a trade is sent as its id and time. */
function reviveNews(message: unknown): StreamNews {
  const { pair, ids, sentAt } = TradeMessage.safeParse(message).data ?? {};
  if (pair === undefined || ids === undefined || sentAt === undefined) return News.parse(message);
  return { kind: "trade", pair, trade: tradeAt(...ids), sentAt };
}

/** Returns a trade with a consecutive id. */
export function tradeAt(id: number, at: number): VenueTrade {
  return { id: BigInt(id), serial: id, at, side: "buy", price: "1", amount: String(id), value: String(id) };
}

/** Waits until the condition holds; if it does not within minutes, fails with its description. */
export function until(description: string, holds: () => boolean): Promise<void> {
  return eventually(holds, () => undefined, { what: description });
}

/** Runs all pending work that needs neither time nor the network. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns a minute of a pair. */
function minuteAt(openAt: number, volume = 1): MinuteCandle {
  return { openAt, open: "1", high: "1", low: "1", close: "1", volume: String(volume) };
}

/** Returns the news of a candle. */
export function candleNews(pair: string, openAt: number, sentAt?: number, volume = 1): StreamNews {
  return { kind: "candle", pair, candle: minuteAt(openAt, volume), sentAt };
}

/** One connection of the stream, as the exchange sees it. */
interface Served {
  readonly socket: WebSocket;
  readonly heard: string[];
  isOpen: boolean;
}

/** Differences from the default exchange. */
export interface ScriptedVenueOptions extends Partial<Pick<StreamEndpoint, "greets" | "ping">> {
  readonly name?: Venue["name"];
  readonly maxPairs?: number;
  /** Minimum milliseconds between two messages to the stream. */
  readonly pauseMs?: number;
  readonly hasTicket?: boolean;
}

/** A scripted exchange on loopback. Its stream sends StreamNews as JSON. */
export class ScriptedVenue implements AsyncDisposable {
  /** Every connection so far, in order. */
  readonly served: Served[] = [];
  readonly asked: string[] = [];
  /** Number of calls of `subscribe`. */
  subscribeCalls = 0;
  /** Refuses new connections of the stream. */
  isRefusing = false;
  volumes: Record<string, number> = {};
  /** Returns a request's response body; `undefined`: 404. */
  answer: (path: string, response: ServerResponse) => unknown = (path) => this.usual(path);
  readonly #options: ScriptedVenueOptions;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #server = createServer((request, response) => {
    const path = request.url ?? "";
    this.asked.push(path);
    const body = this.answer(path, response);
    if (body === HANGS) return;
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? {}));
  });

  constructor(options: ScriptedVenueOptions = {}) {
    this.#options = options;
    this.#server.on("upgrade", (request, socket, head) => {
      if (this.isRefusing) {
        socket.end("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n");
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (accepted) => this.#serve(accepted));
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get venue(): Venue {
    const { name = "binance", maxPairs = 100, pauseMs = 0, hasTicket, greets = false, ping } = this.#options;
    const endpoint = { url: this.url.replace("http", "ws"), greets, ...(ping ? { ping } : {}) };
    return {
      name,
      pauseMs: 0,
      quota: () => undefined,
      pairs: {
        request: { url: `${this.url}/pairs` },
        read: (body) => Pairs.parse(body).map((base) => ({ pair: base, base, quote: "USDT" })),
      },
      volumes: {
        request: { url: `${this.url}/volumes` },
        read: (body) => new Map(Object.entries(Volumes.parse(body))),
      },
      candles: {
        maxMinutes: 2,
        request: (pair, fromMs, toMs) => ({ url: `${this.url}/minutes/${pair}/${fromMs}/${toMs}` }),
        read: (body) => Minutes.parse(body).map((openAt) => minuteAt(openAt)),
      },
      trades: {
        pageSize: 2,
        maxPages: 3,
        request: (pair, { afterId, beforeId }, page) => ({
          url: `${this.url}/trades/${pair}/${afterId}/${beforeId}/${page}`,
        }),
        read: (body) => Ids.parse(body).map(([id, at]) => tradeAt(id, at)),
      },
      stream: {
        maxPairs,
        pauseMs,
        endpoint: () => endpoint,
        ...(hasTicket ? { ticket: { url: `${this.url}/ticket` } } : {}),
        subscribe: (pairs, wanted) => {
          this.subscribeCalls += 1;
          return pairs.map((pair) => `${wanted ? "+" : "-"}${pair}`);
        },
        read: (message) => [reviveNews(message)],
      },
    };
  }

  /** Returns the default response: the pairs, their volumes, or the requested minutes. */
  usual(path: string): unknown {
    if (path === "/pairs") return Object.keys(this.volumes);
    if (path === "/volumes") return this.volumes;
    if (path === "/ticket") return {};
    const [, , , from, to] = path.split("/").map(Number);
    if (from === undefined || to === undefined) return undefined;
    return Array.from({ length: Math.ceil((to - from) / 60_000) }, (_, index) => from + index * 60_000);
  }

  /** The connections that are open, oldest first. */
  get open(): readonly Served[] {
    return this.served.filter(({ isOpen }) => isOpen);
  }

  /** Sends news over the newest open connection. */
  say(...news: readonly StreamNews[]): void {
    for (const one of news) this.open.at(-1)?.socket.send(JSON.stringify(one));
  }

  /** Sends a trade, whose id is also its amount, over the newest open connection. */
  sayTrade(pair: string, id: number, at: number, sentAt = at): void {
    this.open.at(-1)?.socket.send(JSON.stringify({ kind: "trade", pair, ids: [id, at], sentAt }));
  }

  cut(): void {
    for (const { socket } of this.open) socket.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#sockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: WebSocket): void {
    const served: Served = { socket, heard: [], isOpen: true };
    this.served.push(served);
    socket.on("message", (data) => served.heard.push(String(data)));
    socket.on("error", () => {});
    socket.on("close", () => {
      served.isOpen = false;
    });
  }
}

/** Result of `answer` for a request that gets no response. */
export const HANGS = Symbol("hangs");
