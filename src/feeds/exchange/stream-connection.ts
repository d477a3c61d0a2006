import { WebSocket } from "ws";
import { parseJson } from "../../base/lib/parse-json.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { connectionTrouble } from "../service/request-json.ts";
import type { StreamEndpoint, StreamNews, Venue } from "./venue.ts";

interface ConnectionOptions {
  readonly stream: Venue["stream"];
  readonly endpoint: StreamEndpoint;
  readonly clock: Clock;
  readonly pairs: readonly string[];
  readonly onNews: (news: StreamNews) => void;
}

/** Maximum time without any message, ping or pong. After it, the connection counts as dead. */
const SILENT_MS = 30_000;
/** Maximum time without a candle while pairs are subscribed. */
const MUTE_MS = 120_000;
const OPEN_MS = 10_000;
/** One message with the tickers of all pairs of an exchange takes a few hundred KiB. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** One connection: subscribes, pings and reads. Ends with the first error: await {@link ended}. */
export class StreamConnection {
  readonly #options: ConnectionOptions;
  readonly #socket: WebSocket;
  readonly #stop = new AbortController();
  readonly #ready = Promise.withResolvers<boolean>();
  readonly #ended = Promise.withResolvers<string>();
  /** Resolves with true once its subscriptions are sent, or with false if it ends before. */
  readonly ready = this.#ready.promise;
  /** Resolves with the reason for its end. */
  readonly ended = this.#ended.promise;
  /** Resolves when messages may be sent. */
  readonly #opened = Promise.withResolvers<void>();
  #heardAt: number;
  #candleAt: number;
  readonly #pairs: Set<string>;
  #sending: Promise<void>;

  constructor(options: ConnectionOptions) {
    const { endpoint, clock, stream, pairs } = options;
    this.#options = options;
    this.#heardAt = clock.monotonic();
    this.#candleAt = this.#heardAt;
    this.#pairs = new Set(pairs);
    this.#socket = new WebSocket(endpoint.url, {
      handshakeTimeout: OPEN_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    if (!endpoint.greets) this.#socket.once("open", () => this.#opened.resolve());
    this.#listen();
    this.#sending = this.#opened.promise.then(async () => {
      await this.#sendAll(stream.subscribe(pairs, true));
      this.#ready.resolve(true);
    });
    const stops = [clock.every(1_000, () => this.#checkSilence())];
    if (endpoint.ping) {
      const { everyMs, text } = endpoint.ping;
      stops.push(clock.every(everyMs, () => this.#send(text())));
    }
    void this.ended.then(() => {
      for (const stop of stops) stop();
    });
  }

  /** Subscribes to more pairs and unsubscribes from others, after queued messages. */
  change(added: readonly string[], removed: readonly string[]): void {
    const { subscribe } = this.#options.stream;
    if (this.#pairs.size === 0) this.#candleAt = this.#options.clock.monotonic();
    for (const pair of removed) this.#pairs.delete(pair);
    for (const pair of added) this.#pairs.add(pair);
    const messages = [
      ...(removed.length > 0 ? subscribe(removed, false) : []),
      ...(added.length > 0 ? subscribe(added, true) : []),
    ];
    this.#sending = this.#sending.then(() => this.#sendAll(messages));
  }

  close(reason: string): void {
    this.#end(reason);
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on("message", (data, isBinary) => {
      this.#heardAt = this.#options.clock.monotonic();
      if (!isBinary) this.#read(String(data));
    });
    const heard = () => {
      this.#heardAt = this.#options.clock.monotonic();
    };
    socket.on("ping", heard).on("pong", heard);
    socket.on("close", (code) => this.#end(`closed the connection (${code})`));
    socket.on("error", (error) =>
      this.#end(connectionTrouble(error) ?? `failed (${error.message.slice(0, 200)})`),
    );
    socket.on("unexpected-response", (request, response) => {
      request.destroy();
      this.#end(`rejected the stream (${response.statusCode})`);
    });
  }

  #read(text: string): void {
    const message = parseJson(text);
    if (message === undefined) {
      this.#end("sent something other than JSON");
      return;
    }
    for (const news of this.#options.stream.read(message)) {
      if (news.kind === "welcome") this.#opened.resolve();
      else if (news.kind === "ending") this.#end(news.reason);
      else if (news.kind === "candle") this.#candleAt = this.#heardAt;
      this.#options.onNews(news);
    }
  }

  #checkSilence(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#heardAt > SILENT_MS) this.#end(`was silent for ${SILENT_MS / 1_000} s`);
    else if (this.#pairs.size > 0 && now - this.#candleAt > MUTE_MS)
      this.#end(`sent no candle for ${MUTE_MS / 1_000} s`);
  }

  async #sendAll(messages: readonly string[]): Promise<void> {
    for (const message of messages) {
      this.#send(message);
      await this.#options.clock.sleep(this.#options.stream.pauseMs, this.#stop.signal).catch(() => {});
    }
  }

  #send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text, () => {});
  }

  #end(reason: string): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    this.#ready.resolve(false);
    this.#ended.resolve(reason);
    // Close at once, without waiting for a peer that sends invalid data.
    this.#socket.terminate();
  }
}
