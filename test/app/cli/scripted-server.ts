import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { Queue } from "../../support/time/waiters.ts";

/**
 * A server whose connections the test controls: for frames, closes and rejections that a real
 * server seldom sends.
 */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** Waits for the next connection. Returns it and its query. */
  next(): Promise<{ readonly socket: WebSocket; readonly query: URLSearchParams }>;
  /** Rejects requests for events over any transport; `undefined`: accepts WebSockets. */
  refuse: Refusal | undefined;
  /** The body of `/api/v1/snapshot`; `undefined`: there is none. */
  snapshot: object | undefined;
  /** The body of `/api/v1/candles`; `undefined`: there is none. */
  candles: object | undefined;
}

interface Refusal {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
  /** Rejects only requests with this channel. */
  readonly channel?: string;
}

/** Listens on a free port of this machine. */
export async function startScriptedServer(given = 0): Promise<ScriptedServer> {
  const refusalOf = (url = "/") => {
    const { refuse } = server;
    const channels = new URL(url, "http://x").searchParams.get("channels")?.split(",");
    return refuse?.channel && !channels?.includes(refuse.channel) ? undefined : refuse;
  };
  const http = createServer(({ url = "/" }, response) => {
    const refuse = refusalOf(url);
    const isSnapshot = url.startsWith("/api/v1/snapshot");
    const body = isSnapshot ? server.snapshot : url === "/api/v1/candles" ? server.candles : undefined;
    if (body) response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    else if (refuse && !isSnapshot) response.writeHead(refuse.status, refuse.headers).end(refuse.body);
    // The request with which the client finds out why a WebSocket did not open.
    else if (url.includes("limit=1&") || url.endsWith("limit=1")) response.writeHead(200).end("{}");
    else response.writeHead(404).end();
  });
  const wss = new WebSocketServer({ noServer: true });
  const arrived = new Queue<{ socket: WebSocket; query: URLSearchParams }>("a connection");
  http.on("upgrade", (request, socket, head) => {
    const refuse = refusalOf(request.url);
    if (refuse) {
      const headers = { "Content-Length": String(Buffer.byteLength(refuse.body)), ...refuse.headers };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${refuse.status} No\r\n${lines.join("")}Connection: close\r\n\r\n${refuse.body}`);
      return;
    }
    wss.handleUpgrade(request, socket, head, (webSocket) => {
      arrived.push({ socket: webSocket, query: new URL(request.url ?? "/", "http://x").searchParams });
    });
  });
  http.listen(given, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  const server: ScriptedServer = {
    url: `http://127.0.0.1:${port}`,
    refuse: undefined,
    snapshot: undefined,
    candles: undefined,
    next: () => arrived.next(),
    [Symbol.asyncDispose]: async () => {
      for (const client of wss.clients) client.terminate();
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
  return server;
}

/** The first frame of a connection. */
export const HELLO = {
  type: "hello",
  protocol: "flarewire.v1",
  server: "flarewire/test",
  silence_limit_ms: 35_000,
  source: { name: "replay", origin: "recorded" },
};

/** Sends `hello`, by default, and the response to the subscription by URL. */
export function greet(
  socket: WebSocket,
  answer: Record<string, unknown>,
  hello: Record<string, unknown> = {},
): void {
  send(socket, { ...HELLO, ...hello });
  send(socket, { type: "subscribed", id: "url", channels: ["flares.pro"], ...answer });
}

export function send(socket: WebSocket, frame: unknown): void {
  socket.send(JSON.stringify(frame));
}

/** An event frame for a flare's start. */
export function flareStarted(seq: number, symbol: string, prev = seq - 1) {
  const terms = [
    { name: "volume", raw: 3, z: 2.5, weight: 0.4 },
    { name: "price", raw: 0.05, z: 5.2, weight: 0.6 },
  ];
  return {
    type: "event",
    cursor: `abcd-${seq}`,
    seq,
    prev,
    name: "flare-started",
    channel: "flares.pro",
    observed_at: "2017-11-12T08:21:00.000Z",
    data: {
      op: "insert",
      index: 0,
      cause: "detected",
      flare: { id: `id-${seq}`, recent_price_change: 9, token: { symbol } },
      why: {
        text: "price 8.3 % above normal",
        score: 4.12,
        threshold: 3,
        terms,
        warnings: [],
        finish_cause: null,
      },
    },
  };
}
