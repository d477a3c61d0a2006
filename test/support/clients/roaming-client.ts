import { get, type IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { SharedViews } from "./moving-client.ts";

/**
 * A light client of several equal servers. It follows all channels, over WebSocket or server-sent
 * events. It leaves a server at the time assigned by `goaway` and resumes at another.
 */
export class RoamingClient {
  seq = -1;
  cursor = "";
  /** Connections that resumed, and connections that were reset. */
  readonly answers = { full: 0, reset: 0 };
  /** Repeated events and gaps. */
  wrong = 0;
  readonly #views: Pick<SharedViews, "read">;
  readonly #urls: () => readonly string[];
  readonly #isSse: boolean;
  #base = "";
  #timer: NodeJS.Timeout | undefined;
  #cut: () => void = () => {};
  #connection = 0;
  #onSubscribed: () => void = () => {};

  /** @param urls Returns the servers that accept clients now. */
  constructor(views: Pick<SharedViews, "read">, urls: () => readonly string[], isSse: boolean) {
    this.#views = views;
    this.#urls = urls;
    this.#isSse = isSse;
  }

  /** Connects. Resolves once subscribed. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#onSubscribed = resolve;
      this.#connect();
    });
  }

  end(): void {
    this.#connection += 1;
    clearTimeout(this.#timer);
    this.#cut();
  }

  /** Leaves the current server, if any, and connects to another. */
  #connect(): void {
    this.end();
    const own = this.#connection;
    const isOwn = () => own === this.#connection;
    const others = this.#urls().filter((url) => url !== this.#base);
    this.#base = others[Math.floor(Math.random() * others.length)] ?? this.#base;
    const query = new URLSearchParams({ channels: "*", ...(this.cursor ? { after: this.cursor } : {}) });
    const onText = (text: string) => isOwn() && this.#take(text);
    const onEnd = () => isOwn() && this.#reconnect(RETRY_MS);
    this.#cut = (this.#isSse ? openSse : openWebSocket)(this.#base, `${query}`, onText, onEnd);
  }

  #reconnect(afterMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), afterMs);
  }

  #take(text: string): void {
    const message = this.#views.read(text);
    const { type, seq, resumed, cursor } = message;
    if (type === "goaway") this.#reconnect(Number(message.reconnect_after_ms));
    if (type === "subscribed" && (resumed === "full" || resumed === "reset")) {
      this.answers[resumed] += 1;
      if (resumed === "reset") this.seq = Number(String(cursor).split("-")[1]);
      this.#onSubscribed();
    }
    if (type === "event") {
      if (seq !== this.seq + 1) this.wrong += 1;
      this.seq = Number(seq);
    }
    if (type === "event" || type === "subscribed") this.cursor = String(cursor);
  }
}

const RETRY_MS = 200;

type Open = (base: string, query: string, onText: (text: string) => unknown, onEnd: () => void) => () => void;

const openWebSocket: Open = (base, query, onText, onEnd) => {
  const address = `${base.replace(/^http/, "ws")}/api/v1/stream?${query}`;
  const socket = new WebSocket(address, { perMessageDeflate: false });
  socket.on("message", (data) => onText(String(data)));
  socket.on("error", () => {});
  socket.on("close", onEnd);
  return () => socket.terminate();
};

const openSse: Open = (base, query, onText, onEnd) => {
  const headers = { accept: "text/event-stream" };
  const request = get(`${base}/api/v1/events?${query}`, { agent: false, headers });
  request.on("error", onEnd);
  request.on("response", (response: IncomingMessage) => {
    let rest = "";
    response.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data: ")) onText(line.slice("data: ".length));
    });
    response.on("error", () => {}).on("close", onEnd);
  });
  return () => request.destroy();
};
