import {
  applyEvent,
  type Channel,
  type EventMessage,
  isChannel,
  parseCursor,
  projectSnapshot,
  type Snapshot,
  type View,
} from "../../src/protocol/index.ts";
import type { HubUnderTest } from "./hub-fixture.ts";
import { type Message, MockSocket } from "./mock-socket.ts";

/** Where every event of the run lies: what a client may be sent, known from outside the hub. */
type History = readonly { readonly seq: number; readonly channel: Channel }[];

/**
 * A client that holds the server to rules W8 to W15: it throws at a hole, a repeat, or a place that
 * moves back.
 */
export class FollowingClient {
  socket = new MockSocket();
  cursor: string | undefined;
  /** The channels that it follows as far as it was answered. */
  readonly channels = new Set<Channel>();
  view: View = { explanations: {} };
  resets = 0;
  applied = 0;
  #place = 0;
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

  /** A new connection for these channels, from where the last one ended, or from the start. */
  connect(channels: readonly Channel[], resume: boolean, highWater: number, isDeflated = false): void {
    this.socket.end();
    this.#answered = false;
    // Another set of channels cannot be continued: what the client holds of the new ones is not of
    // its place.
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

  /** Ends the oldest subscription. */
  unsubscribe(): void {
    const [id, ...others] = [...this.#subscriptions.keys()].filter((held) => !this.#ending.has(held));
    if (others.length === 0) return;
    this.#ending.add(id);
    this.#command({ type: "unsubscribe", id });
  }

  /** What the server's state shows of the channels that the client follows. */
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
      if (message.cursor !== this.cursor)
        throw new Error(`continued at ${message.cursor}, not ${this.cursor}`);
    } else {
      this.resets += 1;
      this.view = { explanations: {} };
      this.channels.clear();
      this.#place = seqOf(message);
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
    if (event.seq <= this.#place) throw new Error(`event ${event.seq} came at place ${this.#place}`);
    if (event.prev > this.#place) throw new Error(`prev ${event.prev} lies beyond place ${this.#place}`);
    if (!this.channels.has(event.channel)) throw new Error(`${event.channel} is not followed`);
    this.#moveTo(message, event.seq - 1);
    this.view = applyEvent(this.view, event);
    this.applied += 1;
  }

  /** To the message's cursor; nothing of the channels may lie between, up to `seen`. */
  #moveTo(message: Message, seen = seqOf(message)): void {
    const next = seqOf(message);
    if (next < this.#place) throw new Error(`from place ${this.#place} back to ${next}`);
    const missed = this.#history.find(
      ({ seq, channel }) => seq > this.#place && seq <= seen && this.channels.has(channel),
    );
    if (missed) throw new Error(`event ${missed.seq} was left out before ${next}, behind ${this.#place}`);
    this.#place = next;
    this.cursor = String(message.cursor);
  }
}

function seqOf({ cursor }: Message): number {
  const parsed = parseCursor(String(cursor));
  if (!parsed) throw new Error(`no cursor: ${cursor}`);
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
