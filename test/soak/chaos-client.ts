import type { Chance } from "../support/chance.ts";
import { IndependentClient } from "../support/independent-client.ts";
import { isFilter, seqOf, type Truth, type Wanted } from "./chaos-truth.ts";
import { type Connection, openPoll, openSse, openWebSocket, readSnapshot } from "./connections.ts";

type Json = Record<string, unknown>;

/** Connections that a client leaves open beside its own; one more, and the oldest is closed. */
const MAX_LEFT = 2;

/** The ways to follow events. */
export type Transport = "websocket" | "sse" | "poll";

/** How a client behaves. */
export interface Habit {
  readonly name: string;
  readonly transports: readonly [Transport, ...Transport[]];
  readonly wanted: Wanted;
  /** Sends the same id with each of its connections. */
  readonly clientId?: string;
  readonly mode?: "latest";
}

/** What a client lived through. */
export interface ClientTally {
  connections: number;
  events: number;
  /** Connections that continued where the one before had ended. */
  resumed: number;
  /** Its cursor was gone, and it got the lists again. */
  resets: number;
  conflated: number;
  /** Connections that it did not close before it opened the next. */
  abandoned: number;
  /** Times that its view was held against the market's own state. */
  compared: number;
  /** Reasons of ends that the server gave. */
  readonly ends: Map<string, number>;
}

/**
 * A client that believes nothing: it follows the gateway over connections that fail, and holds
 * every message against the truth. It throws at a hole, a repeat, a place that moves back, and a
 * view that is not the market's. What it can do is what PROTOCOL.md says; the rest is the
 * independent client's.
 */
export class ChaosClient extends IndependentClient {
  readonly habit: Habit;
  readonly tally: ClientTally = {
    connections: 0,
    events: 0,
    resumed: 0,
    resets: 0,
    conflated: 0,
    abandoned: 0,
    compared: 0,
    ends: new Map(),
  };
  /** What it found wrong. */
  fault: Error | undefined;
  readonly #url: string;
  readonly #truth: Truth;
  readonly #chance: Chance;
  /** Which of its connections it listens to; `undefined`: none. */
  #listening: number | undefined;
  /** Connections that it has left as they are. */
  readonly #left: Connection[] = [];
  /** Ticks of the scenario in which nothing came. */
  #silence = 0;
  #patience = 0;
  #ticks: (() => void)[] = [];

  constructor(url: string, habit: Habit, truth: Truth, chance: Chance) {
    super(url);
    this.#url = url;
    this.habit = habit;
    this.#truth = truth;
    this.#chance = chance;
  }

  /**
   * Follows over one connection after the other until `signal` aborts or it finds something wrong.
   */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.fault) {
      const connection = this.#connect();
      await Promise.race([connection.ended, this.#enough(signal)]);
      this.#leave(connection);
      // Anyone who was refused or cut does not come back within the same moment.
      for (let wait = this.#chance.whole(1, 3); wait > 0 && !signal.aborted; wait -= 1) await this.#tick();
    }
  }

  /** Ends whatever it has left open. */
  close(): void {
    for (const connection of this.#left.splice(0)) connection.close();
  }

  /** Time passes for the client: after enough of it in silence it holds its connection for dead. */
  tick(): void {
    this.#silence += 1;
    for (const wake of this.#ticks.splice(0)) wake();
    if (this.#silence > this.#patience) this.#listening = undefined;
  }

  override take(message: Json): void {
    try {
      this.#silence = 0;
      this.#take(message);
    } catch (error) {
      const what = `${this.habit.name} at ${this.cursor}: ${error instanceof Error ? error.message : error}`;
      this.fault ??= new Error(what, { cause: error });
    }
  }

  /** Holds the view against the state at the client's place; throws when it is another. */
  compare(): void {
    const same = this.#truth.isHeld(this.seq, this.habit.wanted, this.state);
    if (same === false) throw new Error(`the view is not the market's at ${this.seq}`);
    if (same) this.tally.compared += 1;
  }

  #take(message: Json): void {
    switch (message.type) {
      case "event":
        this.#mustSkipNothing(Number(message.seq));
        super.take(message);
        this.tally.events += 1;
        this.received.events.length = 0;
        if (this.#chance.happens(0.02)) this.compare();
        break;
      case "subscribed":
        this.#answered(message);
        break;
      case "conflated":
        this.#conflated(message);
        break;
      case "heartbeat":
      case "place":
        this.#moveTo(message.cursor);
        break;
      case "gone":
        // A poll only learns that the lists must be requested again.
        this.cursor = undefined;
        this.tally.resets += 1;
        break;
      case "close":
        this.#count(String(message.reason));
        break;
      case "error":
        throw new Error(`refused: ${JSON.stringify(message)}`);
    }
  }

  #answered(message: Json): void {
    const before = this.cursor;
    const { cursor, resumed, lost } = message;
    if (resumed === "full" && cursor !== before) throw new Error(`continued at ${cursor}, not ${before}`);
    if (resumed === "reset" && before !== undefined) {
      const { reason } = lost as { reason: string };
      if (reason !== "expired" || seqOf(cursor) < seqOf(before))
        throw new Error(`reset: ${JSON.stringify(lost)}`);
      this.tally.resets += 1;
    }
    if (resumed === "full") this.tally.resumed += 1;
    super.take(message);
    if (resumed === "reset") this.compare();
  }

  #conflated(message: Json): void {
    const { explanations, outcomes, ...lists } = message.snapshot as typeof this.state;
    for (const [resource, held] of Object.entries(lists)) {
      this.state[resource] = { ...this.state[resource], ...held };
    }
    if ((message.channels as string[]).some((channel) => channel.startsWith("flares."))) {
      this.state.explanations = explanations ?? {};
      if (outcomes) this.state.outcomes = outcomes;
    }
    this.tally.conflated += 1;
    this.cursor = String(message.cursor);
    this.seq = seqOf(this.cursor);
    this.compare();
  }

  /** The server says that everything up to there was sent. */
  #moveTo(cursor: unknown): void {
    const seq = seqOf(cursor);
    if (seq < this.seq) throw new Error(`from ${this.seq} back to ${seq}`);
    this.#mustSkipNothing(seq + 1);
    this.cursor = String(cursor);
    this.seq = seq;
  }

  /**
   * Between its place and this event the log holds none of its channels. A filter, and conflation,
   * may leave something out.
   */
  #mustSkipNothing(seq: number): void {
    const { wanted, mode } = this.habit;
    if (isFilter(wanted) || mode === "latest") return;
    const skipped = this.#truth.between(wanted.channels, this.seq, seq);
    if (skipped.length > 0) throw new Error(`hole: ${skipped.join()} left out before ${seq}`);
  }

  #connect(): Connection {
    const chance = this.#chance;
    // Lists under a filter can only begin with a stream (P4).
    const isStart = this.cursor === undefined && this.habit.wanted.channels !== "*";
    const choices = this.habit.transports.filter((transport) => !(isStart && transport === "poll"));
    const transport = chance.pick(choices as [Transport, ...Transport[]]);
    this.tally.connections += 1;
    this.#listening = this.tally.connections;
    this.#silence = 0;
    this.#patience = chance.magnitude(20, 400);
    return this.#open(transport, this.tally.connections);
  }

  #open(transport: Transport, number: number): Connection {
    const { wanted, clientId, mode } = this.habit;
    // What was on its way when the client turned away is not the client's any more.
    const isHeard = () => this.#listening === number;
    const hear = (text: string) => {
      if (isHeard()) this.take(JSON.parse(text));
    };
    const query = new URLSearchParams({ ...wanted });
    if (transport === "poll") {
      if (this.cursor === undefined) return readSnapshot(this.#url, hear);
      query.set("limit", `${this.#chance.pick([7, 100, 1_000])}`);
      query.set("wait", `${this.#chance.pick([0, 5, 60])}`);
      const cursor = () => (isHeard() ? this.cursor : undefined);
      return openPoll({ url: this.#url, query, cursor, hear });
    }
    if (clientId !== undefined) query.set("client", clientId);
    if (mode !== undefined) query.set("mode", mode);
    const byHeader = transport === "sse" && this.#chance.happens(0.5);
    if (this.cursor !== undefined && !byHeader) query.set("after", this.cursor);
    if (transport === "websocket") return openWebSocket(this.#url, query, hear);
    return openSse(this.#url, query, byHeader ? this.cursor : undefined, hear);
  }

  /** Resolves when the client has had enough of its connection, for whatever reason. */
  async #enough(signal: AbortSignal): Promise<void> {
    const number = this.#listening;
    const leaveAfter = this.#chance.happens(0.5) ? this.#chance.magnitude(2, 500) : Number.POSITIVE_INFINITY;
    for (let ticks = 0; ticks < leaveAfter && !signal.aborted && !this.fault; ticks += 1) {
      await this.#tick();
      if (this.#listening !== number) return;
    }
  }

  #leave(connection: Connection): void {
    void connection.ended.then(() => {
      if (connection.reason !== undefined) this.#count(connection.reason);
    });
    const isDead = this.#listening === undefined;
    this.#listening = undefined;
    // One that seems dead is not closed, and of the others some are not either: the next connection
    // is opened beside it.
    if (!isDead && this.#chance.happens(0.7)) {
      connection.close();
      return;
    }
    this.tally.abandoned += 1;
    this.#left.push(connection);
    if (this.#left.length > MAX_LEFT) this.#left.shift()?.close();
  }

  #count(reason: string): void {
    this.tally.ends.set(reason, (this.tally.ends.get(reason) ?? 0) + 1);
  }

  #tick(): Promise<void> {
    return new Promise((resolve) => {
      this.#ticks.push(resolve);
    });
  }
}
