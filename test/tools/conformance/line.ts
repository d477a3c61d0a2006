import { setTimeout as passing } from "node:timers/promises";
import { isObject, type JsonObject, show, valueAt } from "./json.ts";
import { match, type Shapes } from "./match.ts";
import { Gap, StreamPosition } from "./place.ts";
import { SurgeCheck } from "./surge-check.ts";
import { Failure } from "./verdict.ts";
import { applyEvent, joinViews, mergeViews, type View, viewOf } from "./view.ts";

export const TRANSPORTS = ["websocket", "sse", "poll"] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** Parses the name of a transport. Throws RangeError. */
export function readTransport(name: string): TransportName {
  const found = TRANSPORTS.find((one) => one === name);
  if (found) return found;
  throw new RangeError(`unknown transport "${name}"; known transports: ${TRANSPORTS.join(", ")}`);
}

/** The event type and id of a server-sent event. */
interface Frame {
  readonly event: string;
  readonly id?: string;
}

export interface LineOptions {
  readonly name: string;
  readonly transport: TransportName;
  readonly shapes: Shapes;
  /** The client's state at its initial cursor. */
  readonly view?: View | undefined;
  /** Parameters of the line's address. */
  readonly query: Readonly<Record<string, string>>;
}

/** The rule that a message with the wrong shape breaks, by type. */
const SHAPE_RULES: Readonly<Record<string, string>> = {
  hello: "W4",
  subscribed: "W8",
  unsubscribed: "W5",
  heartbeat: "W16",
  pong: "W5",
  error: "W7",
  goaway: "W31",
  missed: "W34",
  conflated: "W35",
  part: "W46",
  close: "S8",
};

const FILTER_FIELDS = [
  "tokens",
  "symbols",
  "min_liquidity",
  "min_price_change",
  "min_age",
  "min_locked",
  "sticky",
  "names",
];

/** Maximum number of stored views. A comparison with REST needs one of the latest. */
const MAX_VIEWS = 4_000;

/**
 * The messages of one connection. It checks the shape of every message, and every event against the
 * rules that need no further request: order, `prev`, positions. The first fault is stored and
 * rejects every wait on the connection.
 */
export class Line {
  readonly name: string;
  readonly transport: TransportName;
  readonly messages: JsonObject[] = [];
  readonly frames: (Frame | undefined)[] = [];
  /** Number of messages that steps have consumed. */
  taken = 0;
  view: View | undefined;
  /** The client's state at each of its latest cursors. */
  readonly views = new Map<string, View>();
  readonly channels = new Set<string>();
  readonly position = new StreamPosition();
  end: { readonly code: number; readonly reason: string } | undefined;
  fault: Error | undefined;
  isFiltered: boolean;
  /** False if the query omits names of events, because the lists then miss changes (W29). */
  keepsLists: boolean;
  /** Both are set by the transport. `send` sends a message; `close` closes the connection. */
  send: (message: string | Uint8Array) => void = () => {};
  close: () => void = () => {};
  readonly #shapes: Shapes;
  readonly #query: Readonly<Record<string, string>>;
  readonly #surges = new SurgeCheck();
  readonly #bySubscription = new Map<unknown, readonly string[]>();
  #commands = 0;
  #isAnswered = false;
  /** The parts of a snapshot that is not yet complete. */
  #parts: View[] = [];
  #waiting: { readonly test: () => void }[] = [];

  constructor({ name, transport, shapes, view, query }: LineOptions) {
    this.name = name;
    this.transport = transport;
    this.#shapes = shapes;
    this.view = view;
    this.#query = query;
    this.keepsLists = !("names" in query);
    this.isFiltered = FILTER_FIELDS.some((field) => field in query);
  }

  /** All received events. */
  get events(): readonly JsonObject[] {
    return this.messages.filter(({ type }) => type === "event");
  }

  /** Resolves when another command is within the rate in `hello`. */
  async waitForCommandSlot(signal: AbortSignal): Promise<void> {
    const limits = valueAt(this.messages[0], "/limits");
    const burst = Number(valueAt(limits, "/commands_burst") ?? 1);
    const perSecond = Number(valueAt(limits, "/commands_per_second") ?? 1);
    this.#commands += 1;
    // Slower than allowed, because the clocks differ and a busy server may read commands late.
    if (this.#commands > burst / 2) await passing(1_100 / Math.max(perSecond, 0.1), undefined, { signal });
  }

  /** Handles a message. After a fault, messages are ignored. */
  receive(message: unknown, frame?: Frame): void {
    if (this.fault) return;
    try {
      if (!isObject(message)) throw new Failure("a JSON object", show(message), ["messages"]);
      this.messages.push(message);
      this.frames.push(frame);
      this.#check(message, frame);
      this.#follow(message);
    } catch (error) {
      this.fault = error instanceof Error ? error : new Error(String(error));
      if (error instanceof Gap) error.selection = this.#selection();
    }
    this.#wake();
  }

  /** Records the end of the connection. */
  ended(code: number, reason: string): void {
    this.end ??= { code, reason };
    this.#wake();
  }

  /** Records a fault of the connection. */
  fail(error: unknown): void {
    this.fault ??= error instanceof Error ? error : new Error(String(error));
    this.#wake();
  }

  /**
   * Resolves with true once `check` is true, or with false after `withinMs`. Rejects with a fault.
   */
  async until(check: () => boolean, withinMs: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const test = () => {
      if (check()) resolve(true);
      else if (this.fault) reject(this.fault);
    };
    const waiter = { test };
    this.#waiting.push(waiter);
    const timer = setTimeout(() => resolve(false), withinMs);
    try {
      test();
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting = this.#waiting.filter((other) => other !== waiter);
    }
  }

  #selection(): Readonly<Record<string, string>> {
    const channels = [...this.channels].join(",") || this.#query.channels;
    const filter = Object.entries(this.#query).filter(([name]) => FILTER_FIELDS.includes(name));
    return { ...Object.fromEntries(filter), ...(channels === undefined ? {} : { channels }) };
  }

  #wake(): void {
    for (const { test } of this.#waiting) test();
  }

  #check(message: JsonObject, frame: Frame | undefined): void {
    const type = String(message.type);
    const first = this.messages.length === 1;
    if (this.transport !== "poll" && first && type !== "hello") {
      throw new Failure("hello first", show(message), [this.transport === "sse" ? "S2" : "W4"]);
    }
    this.#isAnswered ||= type === "subscribed" || this.transport === "poll";
    if (!this.#isAnswered && type !== "hello" && "cursor" in message) {
      throw new Failure("no cursor before subscribed", show(message), ["W14"]);
    }
    if (this.#shapes[`message.${type}`] !== undefined) {
      const rules = [SHAPE_RULES[type] ?? "messages"];
      const found = match({ $shape: `message.${type}` }, message, this.#shapes);
      if (found) throw new Failure(`${found.expected} at ${found.path} of ${type}`, show(found.came), rules);
    }
    if (frame) checkFrame(message, frame);
  }

  #follow(message: JsonObject): void {
    switch (message.type) {
      case "subscribed":
        this.#subscribed(message);
        return;
      case "unsubscribed":
        this.#bySubscription.delete(message.id);
        this.#updateChannels();
        this.position.changed(false);
        break;
      case "event":
        this.position.take(message);
        this.#apply(message);
        this.#saveView();
        return;
      case "part":
        this.#parts.push(viewOf(message.snapshot));
        return;
      case "conflated":
        if (this.view) this.view = mergeViews(this.view, this.#joined(message));
        this.position.changed(false);
        break;
      case "heartbeat":
        this.position.compare(message.positions, this.channels, !this.isFiltered);
        this.position.checkNotBefore(String(message.cursor));
        break;
      case "page":
        break;
      default:
        return;
    }
    this.position.moveTo(String(message.cursor));
    this.#saveView();
  }

  #apply(event: JsonObject): void {
    const before = this.view;
    if (before) this.view = applyEvent(before, event);
    this.#surges.take(event, before, this.view);
  }

  #subscribed(message: JsonObject): void {
    const { id, channels, snapshot, resumed } = message;
    this.#bySubscription.set(id, Array.isArray(channels) ? channels.map(String) : []);
    this.#updateChannels();
    if (resumed === "reset" && this.#bySubscription.size === 1) {
      this.view = undefined;
      this.#surges.reset();
    }
    if (snapshot !== undefined && this.keepsLists) this.view = mergeViews(this.view, this.#joined(message));
    this.position.changed(resumed === "full");
    this.position.moveTo(String(message.cursor));
    this.#saveView();
  }

  /** Returns the lists of a message and of the parts before it. */
  #joined({ snapshot, parts = 0 }: JsonObject): View {
    const before = this.#parts;
    this.#parts = [];
    if (before.length !== parts) throw new Failure(`${parts} parts`, `${before.length} parts`, ["W46"]);
    return joinViews([...before, viewOf(snapshot)]);
  }

  #updateChannels(): void {
    this.channels.clear();
    for (const channels of this.#bySubscription.values()) {
      for (const channel of channels) this.channels.add(channel);
    }
  }

  #saveView(): void {
    const { cursor } = this.position;
    if (!this.view || cursor === undefined) return;
    this.views.set(cursor, this.view);
    const oldest = this.views.size > MAX_VIEWS ? this.views.keys().next().value : undefined;
    if (oldest !== undefined) this.views.delete(oldest);
  }
}

/** Checks event type and id against the table in "Server-sent events". */
function checkFrame(message: JsonObject, { event, id }: Frame): void {
  const type = String(message.type);
  const isReset = type === "subscribed" && valueAt(message, "/lost") !== undefined;
  const expected = type === "event" ? message.name : isReset ? "reset" : type;
  if (event !== expected) throw new Failure(`event: ${expected}`, `event: ${event}`, ["S3"]);
  const moves = ["subscribed", "event", "heartbeat", "conflated"].includes(type);
  if (moves && id !== message.cursor) throw new Failure(`id: ${message.cursor}`, `id: ${id ?? ""}`, ["S3"]);
  if (!moves && id !== undefined) {
    throw new Failure(`no id with ${type}, which does not change the cursor`, `id: ${id}`, [
      type === "hello" ? "S2" : "S3",
    ]);
  }
}
