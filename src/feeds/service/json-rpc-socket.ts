import { WebSocket } from "ws";
import { z } from "zod";
import { parseJson } from "../../base/lib/parse-json.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { DeadlineExpired, withDeadline } from "../../base/lib/time/deadline.ts";
import { RpcReply } from "./json-rpc-http.ts";

/** A WebSocket request got no response. The message states the reason, without the address. */
export class SocketFailure extends Error {
  override readonly name = "SocketFailure";
}

interface SocketOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Timeout in milliseconds of a request, including the opening of the connection if necessary. */
  readonly timeoutMs: number;
}

/** The receipts of a large block take several megabytes. */
const MAX_BYTES = 64 * 1024 * 1024;

const Reply = z.object({ id: z.int() }).and(RpcReply);
const Push = z.object({
  method: z.literal("eth_subscription"),
  params: z.object({ subscription: z.unknown() }),
});

/**
 * JSON-RPC over one WebSocket. The first request opens it, and the first one after a loss reopens
 * it. It reconnects only for a request, so the sender of requests sets the pace.
 */
export class JsonRpcSocket {
  readonly #options: SocketOptions;
  #connection: Connection | undefined;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /**
   * Sends a request. Rejects with {@link SocketFailure} or the signal's reason. If nothing at all
   * arrives within the timeout, also ends the connection.
   */
  async request(method: string, params: readonly unknown[], signal: AbortSignal): Promise<RpcReply> {
    const { clock, timeoutMs } = this.#options;
    const connection = this.#connect(signal);
    const { heard } = connection;
    const { promise, resolve, reject } = Promise.withResolvers<RpcReply>();
    const forget = connection.ask(method, params, { resolve, reject });
    try {
      return await withDeadline(() => promise, timeoutMs, clock, signal);
    } catch (error) {
      if (!(error instanceof DeadlineExpired)) throw error;
      const words = `did not respond to ${method} over its WebSocket within ${timeoutMs / 1_000} s`;
      // A peer that is gone may leave the connection open.
      if (connection.heard === heard) connection.end(words);
      throw new SocketFailure(words, { cause: error });
    } finally {
      forget();
    }
  }

  /** Whether events of a subscription arrive, as far as known. */
  get isSubscribed(): boolean {
    return this.#connection?.isSubscribed === true;
  }

  /**
   * Subscribes to events of that kind, unless the endpoint has responded to a subscription on this
   * connection: one that refused will refuse again. Rejects like {@link request}.
   */
  async subscribe(kind: string, onEvent: () => void, signal: AbortSignal): Promise<void> {
    const connection = this.#connect(signal);
    if (connection.isSubscribed !== undefined) return;
    connection.onEvent = onEvent;
    const reply = await this.request("eth_subscribe", [kind], signal);
    connection.isSubscribed = "result" in reply;
    if ("result" in reply) connection.subscription = reply.result;
  }

  close(): void {
    this.#connection?.end("was closed");
  }

  #connect(signal: AbortSignal): Connection {
    signal.throwIfAborted();
    if (this.#connection?.isOver !== false) {
      const { url, timeoutMs } = this.#options;
      this.#connection = new Connection(url, timeoutMs);
    }
    return this.#connection;
  }
}

interface Pending {
  readonly resolve: (reply: RpcReply) => void;
  readonly reject: (failure: SocketFailure) => void;
}

class Connection {
  /** Number of messages received. */
  heard = 0;
  isOver = false;
  /** Whether it pushes events; `undefined` until the endpoint has responded to a subscription. */
  isSubscribed: boolean | undefined;
  /**
   * The id of its subscription. Until it is known, any event counts, because one may arrive with
   * the response.
   */
  subscription: unknown;
  onEvent: () => void = () => undefined;
  readonly #socket: WebSocket;
  readonly #opened: Promise<unknown>;
  readonly #pending = new Map<number, Pending>();
  #isOpen = false;
  #lastId = 0;

  constructor(url: string, timeoutMs: number) {
    const socket = new WebSocket(url, {
      maxPayload: MAX_BYTES,
      handshakeTimeout: timeoutMs,
      followRedirects: false,
    });
    this.#socket = socket;
    this.#opened = new Promise((resolve) => {
      socket.once("open", () => {
        this.#isOpen = true;
        resolve(undefined);
      });
    });
    socket.on("message", (data) => this.#read(String(data)));
    socket.on("unexpected-response", (request, { statusCode }) => {
      request.destroy();
      this.end(`rejected its WebSocket with status ${statusCode}`);
    });
    socket.on("error", () =>
      this.end(this.#isOpen ? "dropped its WebSocket" : "is unreachable over its WebSocket"),
    );
    socket.on("close", (code) => this.end(`closed its WebSocket (${code})`));
  }

  /** Sends a request once the connection is open. Returns a function that abandons the response. */
  ask(method: string, params: readonly unknown[], pending: Pending): () => void {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#pending.set(id, pending);
    const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    void this.#opened.then(() => this.#socket.send(text, () => undefined));
    return () => void this.#pending.delete(id);
  }

  /** Ends the connection. Rejects the pending requests with these words. */
  end(words: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.isSubscribed = false;
    for (const { reject } of this.#pending.values()) reject(new SocketFailure(words));
    // Close at once, without waiting for a peer that may be gone.
    this.#socket.terminate();
  }

  #read(text: string): void {
    this.heard += 1;
    const message = parseJson(text);
    if (message === undefined) {
      this.end("sent something other than JSON over its WebSocket");
      return;
    }
    const reply = Reply.safeParse(message);
    if (reply.success) this.#pending.get(reply.data.id)?.resolve(reply.data);
    const { params } = Push.safeParse(message).data ?? {};
    if (params && isSameId(params.subscription, this.subscription)) this.onEvent();
  }
}

/** Some endpoints repeat the id in another case, or a number as a string. */
function isSameId(id: unknown, own: unknown): boolean {
  const textOf = (one: unknown) =>
    typeof one === "string" || typeof one === "number" ? String(one).toLowerCase() : undefined;
  return own === undefined || textOf(id) === textOf(own);
}
