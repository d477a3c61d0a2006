import { setTimeout as passing } from "node:timers/promises";
import { isObject, type JsonObject, show, valueAt } from "./json.ts";
import { match, type Shapes } from "./match.ts";
import { Hole, Slot } from "./place.ts";
import { Failure } from "./verdict.ts";
import { applyEvent, mergeViews, type View, viewOf } from "./view.ts";

export const TRANSPORTS = ["websocket", "sse", "poll"] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** Reads the name of a transport. Throws RangeError. */
export function readTransport(name: string): TransportName {
  const found = TRANSPORTS.find((one) => one === name);
  if (found) return found;
  throw new RangeError(`"${name}" is no transport: ${TRANSPORTS.join(", ")}`);
}

/** How a message came over server-sent events. */
interface Frame {
  readonly event: string;
  readonly id?: string;
}

/** What a line is to be told when it is made. */
export interface LineOptions {
  readonly name: string;
  readonly transport: TransportName;
  readonly shapes: Shapes;
  /** What the client holds at the cursor with which it comes. */
  readonly view?: View | undefined;
  /** The parameters of its address. */
  readonly query: Readonly<Record<string, string>>;
}

/** Which rule a message of another shape breaks. */
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
  close: "S8",
};

const FILTER_FIELDS = ["tokens", "symbols", "min_liquidity", "min_price_change", "sticky", "names"];

/** Views are kept for this many places: a comparison with REST asks for one of the latest. */
const VIEWS_KEPT = 4_000;

/**
 * What one connection said. Every message is held to its shape and every event to the rules that
 * need no further request: order, `prev`, positions. The first fault remains, and rejects every
 * wait on the connection.
 */
export class Line {
  readonly name: string;
  readonly transport: TransportName;
  readonly messages: JsonObject[] = [];
  readonly frames: (Frame | undefined)[] = [];
  /** The messages up to here were consumed by a step. */
  taken = 0;
  view: View | undefined;
  /** What the client held at each of its last places. */
  readonly views = new Map<string, View>();
  readonly channels = new Set<string>();
  readonly place = new Slot();
  end: { readonly code: number; readonly reason: string } | undefined;
  fault: Error | undefined;
  isFiltered: boolean;
  /** Who leaves out names of events cannot keep the lists by the others (W29). */
  keepsLists: boolean;
  /** Sends a message; closes from this side. The transport sets both. */
  send: (message: string | Uint8Array) => void = () => {};
  close: () => void = () => {};
  readonly #shapes: Shapes;
  readonly #query: Readonly<Record<string, string>>;
  readonly #bySubscription = new Map<unknown, readonly string[]>();
  #commands = 0;
  #isAnswered = false;
  #waiting: { readonly look: () => void }[] = [];

  constructor({ name, transport, shapes, view, query }: LineOptions) {
    this.name = name;
    this.transport = transport;
    this.#shapes = shapes;
    this.view = view;
    this.#query = query;
    this.keepsLists = !("names" in query);
    this.isFiltered = FILTER_FIELDS.some((field) => field in query);
  }

  /** The events that came. */
  get events(): readonly JsonObject[] {
    return this.messages.filter(({ type }) => type === "event");
  }

  /** Resolves when one more command is within what `hello` allows. */
  async mayCommand(signal: AbortSignal): Promise<void> {
    const limits = valueAt(this.messages[0], "/limits");
    const burst = Number(valueAt(limits, "/commands_burst") ?? 1);
    const perSecond = Number(valueAt(limits, "/commands_per_second") ?? 1);
    this.#commands += 1;
    // Somewhat slower than allowed: the two clocks are not the same, and a server that was busy
    // sees late what was sent in time.
    if (this.#commands > burst / 2) await passing(1_100 / Math.max(perSecond, 0.1), undefined, { signal });
  }

  /** Takes in a message. Nothing more is taken after a fault. */
  receive(message: unknown, frame?: Frame): void {
    if (this.fault) return;
    try {
      if (!isObject(message)) throw new Failure("a JSON object", show(message), ["messages"]);
      this.messages.push(message);
      this.frames.push(frame);
      this.#hold(message, frame);
      this.#follow(message);
    } catch (error) {
      this.fault = error instanceof Error ? error : new Error(String(error));
      if (error instanceof Hole) error.selection = this.#selection();
    }
    this.#wake();
  }

  /** The connection is over. */
  ended(code: number, reason: string): void {
    this.end ??= { code, reason };
    this.#wake();
  }

  /** Nothing can be made of what came. */
  fail(error: unknown): void {
    this.fault ??= error instanceof Error ? error : new Error(String(error));
    this.#wake();
  }

  /** True once `check` holds, false when the time is up first. Rejects with the line's fault. */
  async until(check: () => boolean, withinMs: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const look = () => {
      if (check()) resolve(true);
      else if (this.fault) reject(this.fault);
    };
    const waiter = { look };
    this.#waiting.push(waiter);
    const timer = setTimeout(() => resolve(false), withinMs);
    try {
      look();
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
    for (const { look } of this.#waiting) look();
  }

  #hold(message: JsonObject, frame: Frame | undefined): void {
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
    if (frame) holdFrame(message, frame);
  }

  #follow(message: JsonObject): void {
    switch (message.type) {
      case "subscribed":
        this.#subscribed(message);
        return;
      case "unsubscribed":
        this.#bySubscription.delete(message.id);
        this.#gather();
        this.place.changed(false);
        break;
      case "event":
        this.place.take(message);
        if (this.view) this.view = applyEvent(this.view, message);
        this.#keep();
        return;
      case "conflated":
        if (this.view) this.view = mergeViews(this.view, viewOf(message.snapshot));
        this.place.changed(false);
        break;
      case "heartbeat":
        this.place.compare(message.positions, this.channels, !this.isFiltered);
        this.place.mustNotLieBehind(String(message.cursor));
        break;
      case "page":
        break;
      default:
        return;
    }
    this.place.moveTo(String(message.cursor));
    this.#keep();
  }

  #subscribed(message: JsonObject): void {
    const { id, channels, snapshot, resumed } = message;
    this.#bySubscription.set(id, Array.isArray(channels) ? channels.map(String) : []);
    this.#gather();
    if (resumed === "reset" && this.#bySubscription.size === 1) this.view = undefined;
    if (snapshot !== undefined && this.keepsLists) this.view = mergeViews(this.view, viewOf(snapshot));
    this.place.changed(resumed === "full");
    this.place.moveTo(String(message.cursor));
    this.#keep();
  }

  #gather(): void {
    this.channels.clear();
    for (const channels of this.#bySubscription.values()) {
      for (const channel of channels) this.channels.add(channel);
    }
  }

  #keep(): void {
    const { cursor } = this.place;
    if (!this.view || cursor === undefined) return;
    this.views.set(cursor, this.view);
    const oldest = this.views.size > VIEWS_KEPT ? this.views.keys().next().value : undefined;
    if (oldest !== undefined) this.views.delete(oldest);
  }
}

/** The table of "Server-sent events": which event and id a message comes with. */
function holdFrame(message: JsonObject, { event, id }: Frame): void {
  const type = String(message.type);
  const isReset = type === "subscribed" && valueAt(message, "/lost") !== undefined;
  const expected = type === "event" ? message.name : isReset ? "reset" : type;
  if (event !== expected) throw new Failure(`event: ${expected}`, `event: ${event}`, ["S3"]);
  const moves = ["subscribed", "event", "heartbeat", "conflated"].includes(type);
  if (moves && id !== message.cursor) throw new Failure(`id: ${message.cursor}`, `id: ${id ?? ""}`, ["S3"]);
  if (!moves && id !== undefined) {
    throw new Failure(`no id with ${type}, which moves no cursor`, `id: ${id}`, [
      type === "hello" ? "S2" : "S3",
    ]);
  }
}
