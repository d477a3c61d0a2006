import { WebSocket } from "ws";
import { applyEvent, type EventBody, type View } from "../../src/protocol/index.ts";

type Message = { readonly [field: string]: unknown; readonly type: string };

/**
 * Reads frames and applies events once for all clients that were sent the same: thousands of them
 * hold the same views, and none of them is believed to. Views are immutable.
 */
export class SharedViews {
  readonly #messages = new Map<string, Message>();
  readonly #next = new WeakMap<object, Map<string, View>>();

  /** The message of this text. */
  read(text: string): Message {
    const known = this.#messages.get(text);
    if (known) return known;
    const message: Message = JSON.parse(text);
    if (this.#messages.size >= 2_000) this.#messages.clear();
    this.#messages.set(text, message);
    return message;
  }

  /** The view behind the event of this text. */
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

/** What one client saw of a move. */
export interface Move {
  /**
   * When its turn was, and when it was subscribed at the other server; milliseconds by
   * `performance.now()`.
   */
  readonly slotAtMs: number;
  readonly arrivedAtMs: number;
  readonly windowMs: number;
  readonly resumed: unknown;
}

/**
 * A client that follows everything, and that goes where it is sent when its server is being
 * replaced: by PROTOCOL.md, at its own moment, with its cursor.
 */
export class MovingClient {
  view: View | undefined;
  cursor = "";
  seq = 0;
  /** Events that came a second time, or behind a hole. */
  wrong = 0;
  events = 0;
  resets = 0;
  move: Move | undefined;
  /** While there is one: the view behind each event by its seq. */
  history: Map<number, View | undefined> | undefined;
  #slot: { readonly atMs: number; readonly windowMs: number } | undefined;
  #socket: WebSocket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #onSubscribed: () => void = () => {};
  readonly #views: SharedViews;
  readonly #elsewhere: string;

  /** `elsewhere`: base address of the server to go to. */
  constructor(views: SharedViews, elsewhere: string) {
    this.#views = views;
    this.#elsewhere = elsewhere;
  }

  /** Resolves when the subscription stands; rejects when there is no connection. */
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
        if (code === 4200) this.#go();
        else reject(new Error(`closed with ${code}`));
      });
    });
  }

  /** Ends whatever connection there is. */
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
      this.#slot = { atMs: performance.now() + afterMs, windowMs: Number(message.window_ms) };
      this.#timer = setTimeout(() => this.#go(), afterMs);
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
    if (slot && !this.move)
      this.move = { slotAtMs: slot.atMs, arrivedAtMs: performance.now(), windowMs: slot.windowMs, resumed };
    this.#onSubscribed();
  }

  /** It follows all channels: so every seq has to come, once. */
  #event({ seq, cursor }: Message, text: string): void {
    if (seq !== this.seq + 1) this.wrong += 1;
    this.seq = Number(seq);
    this.cursor = String(cursor);
    this.events += 1;
    if (this.view) this.view = this.#views.apply(this.view, text);
    this.history?.set(this.seq, this.view);
  }

  #go(): void {
    clearTimeout(this.#timer);
    const before = this.#socket;
    this.#socket = undefined;
    before?.close();
    // Who finds no connection there is missing among those that arrived.
    this.connect(this.#elsewhere).catch(() => undefined);
  }
}
