import { WebSocket } from "ws";
import { applyEvent, type EventBody, type View } from "../../../src/base/protocol/index.ts";

type Message = { readonly [field: string]: unknown; readonly type: string };

/**
 * Parses messages and applies events once for all clients that receive the same text. Thousands of
 * clients hold the same views, but each still checks its own sequence. Views are immutable.
 */
export class SharedViews {
  readonly #messages = new Map<string, Message>();
  readonly #next = new WeakMap<object, Map<string, View>>();

  /** Returns the message of this text. */
  read(text: string): Message {
    const known = this.#messages.get(text);
    if (known) return known;
    const message: Message = JSON.parse(text);
    if (this.#messages.size >= 2_000) this.#messages.clear();
    this.#messages.set(text, message);
    return message;
  }

  /** Returns the view after the event of this text. */
  apply(view: View, text: string): View {
    const after = this.#next.get(view) ?? new Map<string, View>();
    this.#next.set(view, after);
    const known = after.get(text);
    if (known) return known;
    const next = applyEvent(view, this.read(text) as unknown as EventBody);
    after.set(text, next);
    return next;
  }
}

/** One client's move to the other server. */
export interface Move {
  /**
   * Assigned reconnect time, and time of the subscription at the other server, both by
   * `performance.now()`.
   */
  readonly slotAtMs: number;
  readonly arrivedAtMs: number;
  /** The wait that the server assigned. */
  readonly afterMs: number;
  readonly windowMs: number;
  readonly resumed: unknown;
}

/**
 * Follows all channels. After `goaway` it moves to another server at its assigned time, with its
 * cursor, as PROTOCOL.md requires.
 */
export class MovingClient {
  view: View | undefined;
  cursor = "";
  seq = 0;
  /** Repeated events and gaps. */
  wrong = 0;
  events = 0;
  resets = 0;
  move: Move | undefined;
  /** The view after each event, by seq. Recorded only while set. */
  history: Map<number, View | undefined> | undefined;
  #slot: Pick<Move, "slotAtMs" | "afterMs" | "windowMs"> | undefined;
  #socket: WebSocket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #onSubscribed: () => void = () => {};
  readonly #views: SharedViews;
  readonly #nextUrl: string;

  /** @param nextUrl Base address of the server to move to. */
  constructor(views: SharedViews, nextUrl: string) {
    this.#views = views;
    this.#nextUrl = nextUrl;
  }

  /** Resolves once subscribed. Rejects if there is no connection. */
  connect(url: string): Promise<void> {
    const query = new URLSearchParams({ channels: "*", ...(this.cursor ? { after: this.cursor } : {}) });
    const address = `${url.replace(/^http/, "ws")}/api/v1/stream?${query}`;
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(address, { perMessageDeflate: false });
      this.#socket = socket;
      this.#onSubscribed = resolve;
      socket.on("message", (data) => this.#take(String(data)));
      socket.on("error", reject);
      socket.on("close", (code) => {
        if (this.#socket !== socket) return;
        if (code === 4200) this.#move();
        else reject(new Error(`closed with ${code}`));
      });
    });
  }

  /** Ends the connection, if any, and cancels a planned move. */
  end(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.terminate();
  }

  #take(text: string): void {
    const message = this.#views.read(text);
    if (message.type === "event") this.#event(message, text);
    else if (message.type === "subscribed") this.#subscribed(message);
    else if (message.type === "heartbeat") this.cursor = String(message.cursor);
    else if (message.type === "goaway") {
      const afterMs = Number(message.reconnect_after_ms);
      const slotAtMs = performance.now() + afterMs;
      this.#slot = { slotAtMs, afterMs, windowMs: Number(message.window_ms) };
      this.#timer = setTimeout(() => this.#move(), afterMs);
    }
  }

  #subscribed({ resumed, cursor, snapshot }: Message): void {
    if (resumed === "reset") {
      this.resets += 1;
      this.view = snapshot as View;
      this.seq = Number(String(cursor).split("-")[1]);
    }
    this.cursor = String(cursor);
    const slot = this.#slot;
    if (slot && !this.move) this.move = { ...slot, arrivedAtMs: performance.now(), resumed };
    this.#onSubscribed();
  }

  /** The client follows all channels, so every seq must arrive exactly once. */
  #event({ seq, cursor }: Message, text: string): void {
    if (seq !== this.seq + 1) this.wrong += 1;
    this.seq = Number(seq);
    this.cursor = String(cursor);
    this.events += 1;
    if (this.view) this.view = this.#views.apply(this.view, text);
    this.history?.set(this.seq, this.view);
  }

  #move(): void {
    clearTimeout(this.#timer);
    const before = this.#socket;
    this.#socket = undefined;
    before?.close();
    // A client that cannot connect is missing among the arrivals.
    this.connect(this.#nextUrl).catch(() => undefined);
  }
}
