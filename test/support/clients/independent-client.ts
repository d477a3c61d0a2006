import { once } from "node:events";
import { checkMessage } from "../expect/contract.ts";
import { Waiters } from "../time/waiters.ts";

/*
 * A client written from PROTOCOL.md alone. It uses the runtime's WebSocket, not the server's `ws`
 * package, and applies events itself, so that it shares no code with the project. It checks all
 * messages against the served contract. Its state after each event can be compared with REST.
 */

type Json = Record<string, unknown>;
type Item = Json & { id?: string; object?: { id?: string; address?: string; symbol?: string } };
type Lists = Record<string, Record<string, Item[]>>;

const keyOf = (item: Item): string =>
  item.id ?? item.object?.id ?? item.object?.address ?? item.object?.symbol ?? "?";

/** Channels of {@link IndependentClient}: all except the flares of groups other than `bsc`. */
export const FOLLOWED = "*,candles";

const LIST_NAMES: Record<string, [string, string]> = { "flares.finished": ["flares", "finished_trending"] };

/**
 * Maximum wait for a close event, which Node's WebSocket omits in some cases
 * (test/clients/sdk/mute-close.test.ts).
 */
const MAX_CLOSE_MS = 1_000;

/** The messages received, by type. */
interface Received {
  readonly hellos: Json[];
  readonly answers: Json[];
  readonly events: Json[];
  readonly heartbeats: Json[];
  readonly goaways: Json[];
  readonly errors: Json[];
}

/**
 * Follows all channels of a gateway, reconnects on request, and maintains the state from the
 * events.
 */
export class IndependentClient {
  state: Lists & {
    explanations?: Record<string, unknown>;
    outcomes?: Record<string, unknown>;
  } = {};
  cursor: string | undefined;
  seq = 0;
  resets = 0;
  readonly received: Received = {
    hellos: [],
    answers: [],
    events: [],
    heartbeats: [],
    goaways: [],
    errors: [],
  };
  closeCode: number | undefined;
  /** The latest connection's response to its subscription. `undefined`: none was received. */
  answer: Json | undefined;
  /** Base address of the server. A change applies from the next connection on. */
  base: string;
  /** State at the call of {@link beginHistory}, and the events since. */
  #history:
    | { readonly seq: number; readonly state: IndependentClient["state"]; readonly events: Json[] }
    | undefined;
  #socket: WebSocket | undefined;
  readonly #waiters = new Waiters(() => {
    const { seq, resets, closeCode, received } = this;
    return { seq, resets, closeCode, errors: received.errors.slice(-3) };
  });

  constructor(url: string) {
    this.base = url;
  }

  /**
   * Opens a connection that resumes after the current cursor, or starts with a snapshot. Resolves
   * at the response or the close.
   * @param more Additional query parameters.
   */
  async connect(more: Iterable<readonly [string, string]> = []): Promise<void> {
    const given = Object.fromEntries(more);
    const query = new URLSearchParams({
      channels: FOLLOWED,
      ...given,
      ...(this.cursor ? { after: this.cursor } : {}),
    });
    const address = `${this.base.replace(/^http/, "ws")}/api/v1/stream?${query}`;
    const socket = new WebSocket(address, "flarewire.v1");
    this.#socket = socket;
    this.closeCode = undefined;
    this.answer = undefined;
    // A connection that this client has left may still deliver messages or its close event.
    socket.onmessage = ({ data }) => {
      if (this.#socket !== socket) return;
      const message: Json = JSON.parse(String(data));
      checkMessage(message);
      this.take(message);
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.closeCode = code;
      this.#waiters.look();
    };
    await this.until(() => this.answer !== undefined || this.closeCode !== undefined);
  }

  /** Closes the connection and waits for its close event, for at most a second. */
  async disconnect(): Promise<void> {
    const socket = this.#socket;
    // The socket's state is not enough: a close frame read after the reported end sets it to
    // closing.
    if (!socket || this.closeCode !== undefined) return;
    const over = new AbortController();
    const closed = once(socket, "close", { signal: over.signal });
    socket.close();
    const timer = setTimeout(() => over.abort(), MAX_CLOSE_MS);
    await closed.catch(() => {});
    clearTimeout(timer);
  }

  /** Starts to record events, for {@link stateAt}. */
  beginHistory(): void {
    this.#history = { seq: this.seq, state: structuredClone(this.state), events: [] };
  }

  /**
   * Returns the state at this seq since {@link beginHistory}, and stops recording. The event at
   * this seq may belong to a group that is not followed.
   */
  stateAt(seq: number): unknown {
    const history = this.#history;
    this.#history = undefined;
    if (!history || history.seq > seq) return undefined;
    for (const event of history.events) if (Number(event.seq) <= seq) applyEvent(history.state, event);
    return history.state;
  }

  /** Whether all followed events up to this seq have been received. */
  hasReached(seq: number): boolean {
    const [epoch, reached] = String(this.received.heartbeats.at(-1)?.cursor).split("-");
    return this.seq >= seq || (this.cursor?.startsWith(`${epoch}-`) === true && Number(reached) >= seq);
  }

  send(command: unknown): void {
    this.#socket?.send(typeof command === "string" ? command : JSON.stringify(command));
  }

  /** Resolves once `check` returns true. It is checked after each message and at the close. */
  until(check: () => boolean): Promise<void> {
    return this.#waiters.until(check);
  }

  /** Handles a message of the server, from any transport. */
  take(message: Json): void {
    const { type } = message;
    if (type === "hello") this.received.hellos.push(message);
    else if (type === "subscribed") this.#subscribed(message);
    else if (type === "event") this.#event(message);
    else if (type === "heartbeat") this.received.heartbeats.push(message);
    else if (type === "goaway") this.received.goaways.push(message);
    else this.received.errors.push(message);
    this.#waiters.look();
  }

  #subscribed(message: Json): void {
    this.received.answers.push(message);
    this.answer = message;
    if (message.resumed === "reset") {
      this.resets += 1;
      this.state = structuredClone(message.snapshot) as IndependentClient["state"];
      this.seq = Number(String(message.cursor).split("-")[1]);
      if (this.#history) this.beginHistory();
    }
    this.cursor = String(message.cursor);
  }

  #event(message: Json): void {
    const { seq, prev } = message as { seq: number; prev: number };
    if (seq <= this.seq) throw new Error(`event ${seq} was repeated after ${this.seq}`);
    if (prev > this.seq)
      throw new Error(`gap: event ${seq} follows ${prev}, but the client is at ${this.seq}`);
    this.received.events.push(message);
    this.seq = seq;
    this.cursor = String(message.cursor);
    applyEvent(this.state, message);
    this.#history?.events.push(message);
  }
}

function applyEvent(state: IndependentClient["state"], message: Json): void {
  const { channel, data } = message as { channel: string; data: Json };
  // These two channels change no list of the snapshot.
  if (channel === "status" || channel === "candles") return;
  const [resource, name] = LIST_NAMES[channel] ?? (channel.split(".") as [string, string]);
  const list = state[resource]?.[name];
  if (!list) throw new Error(`no list for ${channel}`);
  const steps = (data.changes as Json[] | undefined) ?? [data];
  for (const step of steps) applyStep(list, step);
  if (channel.startsWith("flares.")) explain(state, data);
  if (channel === "flares.finished") recordOutcome(state, data);
}

function explain(state: IndependentClient["state"], data: Json): void {
  state.explanations ??= {};
  const { explanations } = state;
  const id = (data.flare as Item | undefined)?.id ?? (data.id as string | undefined);
  if (!id) return;
  const lists = Object.values(state.flares ?? {});
  const listed = lists.some((list) => list.some((item) => item.id === id));
  if (!listed || data.why === null) delete explanations[id];
  else if (data.op !== "remove" && data.why !== undefined) explanations[id] = data.why;
}

function recordOutcome(state: IndependentClient["state"], data: Json): void {
  state.outcomes ??= {};
  const id = (data.flare as Item | undefined)?.id ?? (data.id as string | undefined);
  if (!id) return;
  if (data.op === "remove" || data.outcome === null) delete state.outcomes[id];
  else if (data.outcome !== undefined) state.outcomes[id] = data.outcome;
}

function applyStep(list: Item[], step: Json): void {
  const at = (id: unknown) => {
    const index = list.findIndex((item) => keyOf(item) === id);
    if (index < 0) throw new Error(`the list has no item ${id}`);
    return index;
  };
  if (step.op === "insert") {
    // A copy, because later steps change it and the event may be applied again.
    list.splice(step.index as number, 0, { ...((step.item ?? step.flare ?? step.listing) as Item) });
  } else if (step.op === "remove") {
    list.splice(at(step.id), 1);
  } else if (step.op === "set") {
    const item = list[at(step.id)] as Item;
    Object.assign(item, step.set);
    for (const field of (step.unset as string[] | undefined) ?? []) delete item[field];
  } else if (step.op === "order") {
    const ordered = (step.ids as string[]).map((id) => list[at(id)] as Item);
    list.splice(0, list.length, ...ordered);
  } else throw new Error(`unknown step ${step.op}`);
}
