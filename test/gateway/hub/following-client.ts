import {
  applyEvent,
  type Channel,
  type EventMessage,
  isChannel,
  parseCursor,
  projectSnapshot,
  type Snapshot,
  type View,
} from "../../../src/base/protocol/index.ts";
import type { HubUnderTest } from "./hub-fixture.ts";
import { type Message, MockSocket } from "./mock-socket.ts";

/** The position and channel of every published event, recorded outside the hub. */
type History = readonly { readonly seq: number; readonly channel: Channel }[];

/**
 * A client that checks rules W8 to W15: it throws on a gap, a repeat, or a position that moves
 * back.
 */
export class FollowingClient {
  socket = new MockSocket();
  cursor: string | undefined;
  /** The channels of the subscriptions that the server has confirmed. */
  readonly channels = new Set<Channel>();
  view: View = { explanations: {} };
  resets = 0;
  applied = 0;
  surges = 0;
  #position = 0;
  #answered = false;
  readonly #subscriptions = new Map<unknown, readonly Channel[]>();
  readonly #ending = new Set<unknown>();
  #count = 0;
  readonly #sut: HubUnderTest;
  readonly #history: History;

  constructor(sut: HubUnderTest, history: History) {
    this.#sut = sut;
    this.#history = history;
  }

  /** Opens a new connection for these channels; with `resume`, from the last cursor if possible. */
  connect(channels: readonly Channel[], resume: boolean, highWater: number, isDeflated = false): void {
    this.socket.end();
    this.#answered = false;
    // The cursor is valid only for the same channels: the client's lists of others, if any, are not
    // as of that cursor.
    const same = channels.length === this.channels.size && channels.every((name) => this.channels.has(name));
    const after = resume && same ? this.cursor : undefined;
    this.#subscriptions.clear();
    this.#ending.clear();
    this.socket = this.#sut.open({ channels, ...(after === undefined ? {} : { after }) }, (socket) => {
      socket.highWater = highWater;
      socket.isDeflated = isDeflated;
      socket.onMessage = (message) => this.#take(message);
    });
  }

  subscribe(channels: readonly Channel[]): void {
    this.#command({ type: "subscribe", id: ++this.#count, channels });
  }

  /** Ends the oldest subscription, unless it is the only one. */
  unsubscribe(): void {
    const [id, ...others] = [...this.#subscriptions.keys()].filter((held) => !this.#ending.has(held));
    if (others.length === 0) return;
    this.#ending.add(id);
    this.#command({ type: "unsubscribe", id });
  }

  /** Returns the lists that the client should have, given the server's state. */
  expectedView(snapshot: Snapshot): View {
    return projectSnapshot(snapshot, [...this.channels]);
  }

  #command(command: object): void {
    if (!this.socket.closed) this.socket.session?.receiveText(JSON.stringify(command));
  }

  #take(message: Message): void {
    if (message.type === "subscribed") this.#subscribed(message);
    else if (message.type === "unsubscribed") this.#unsubscribed(message);
    else if (message.type === "event") this.#event(message);
    else if (message.type === "heartbeat") this.#moveTo(message);
    else if (message.type === "error") throw new Error(`refused: ${JSON.stringify(message)}`);
  }

  #subscribed(message: Message): void {
    const channels = Array.isArray(message.channels) ? message.channels.filter(isChannel) : [];
    if (this.#answered) this.#moveTo(message);
    else if (message.resumed === "full") {
      if (message.cursor !== this.cursor) throw new Error(`resumed at ${message.cursor}, not ${this.cursor}`);
    } else {
      this.resets += 1;
      this.view = { explanations: {} };
      this.channels.clear();
      this.#position = seqOf(message);
      this.cursor = String(message.cursor);
    }
    this.#answered = true;
    this.#subscriptions.set(message.id, channels);
    this.view = merge(this.view, message.snapshot);
    for (const channel of channels) this.channels.add(channel);
  }

  #unsubscribed(message: Message): void {
    this.#moveTo(message);
    this.#subscriptions.delete(message.id);
    this.channels.clear();
    for (const channel of [...this.#subscriptions.values()].flat()) this.channels.add(channel);
    this.view = projectSnapshot(this.view as Snapshot, [...this.channels]);
  }

  #event(message: Message): void {
    const event = message as unknown as EventMessage;
    if (event.seq <= this.#position)
      throw new Error(`event ${event.seq} arrived at position ${this.#position}`);
    if (event.prev > this.#position)
      throw new Error(`prev ${event.prev} is after position ${this.#position}`);
    if (!this.channels.has(event.channel)) throw new Error(`${event.channel} is not subscribed to`);
    this.#moveTo(message, event.seq - 1);
    this.view = applyEvent(this.view, event);
    this.applied += 1;
    if (message.name === "flare-surged") this.surges += 1;
  }

  /** Moves to the message's cursor. Throws if an event of the channels up to `seen` was skipped. */
  #moveTo(message: Message, seen = seqOf(message)): void {
    const next = seqOf(message);
    if (next < this.#position) throw new Error(`position moved back from ${this.#position} to ${next}`);
    const missed = this.#history.find(
      ({ seq, channel }) => seq > this.#position && seq <= seen && this.channels.has(channel),
    );
    if (missed) throw new Error(`event ${missed.seq} is missing between ${this.#position} and ${next}`);
    this.#position = next;
    this.cursor = String(message.cursor);
  }
}

function seqOf({ cursor }: Message): number {
  const parsed = parseCursor(String(cursor));
  if (!parsed) throw new Error(`invalid cursor: ${cursor}`);
  return parsed.seq;
}

function merge(view: View, snapshot: unknown): View {
  if (snapshot === undefined) return view;
  const merged: Record<string, object> = { ...view };
  for (const [resource, lists] of Object.entries(snapshot as Record<string, object>)) {
    merged[resource] = { ...merged[resource], ...lists };
  }
  return merged as unknown as View;
}
