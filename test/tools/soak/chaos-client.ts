import { IndependentClient } from "../../support/clients/independent-client.ts";
import type { Chance } from "../../support/random/chance.ts";
import { isFilter, seqOf, type Truth, type Wanted } from "./chaos-truth.ts";
import { type Connection, openPoll, openSse, openWebSocket, readSnapshot } from "./connections.ts";

type Json = Record<string, unknown>;

/**
 * Maximum connections that a client leaves open in addition to its own. Above it, the oldest is
 * closed.
 */
const MAX_LEFT = 2;

/** The transports. */
export type Transport = "websocket" | "sse" | "poll";

/** The behavior of a client. */
export interface Profile {
  readonly name: string;
  readonly transports: readonly [Transport, ...Transport[]];
  readonly wanted: Wanted;
  /** Sends the same id with each of its connections. */
  readonly clientId?: string;
  readonly mode?: "latest";
}

/** Counts of a client's run. */
export interface ClientTally {
  connections: number;
  events: number;
  /** Connections that resumed where the previous one had ended. */
  resumed: number;
  /** Resets, because the cursor was no longer stored. */
  resets: number;
  conflated: number;
  /** Connections that were still open when the client opened the next. */
  abandoned: number;
  /** Comparisons of the view with the market's own state. */
  compared: number;
  /** Reasons of the server for ending connections. */
  readonly ends: Map<string, number>;
}

/**
 * A client that checks everything. It follows the gateway over failing connections and compares
 * every message with the truth. It throws on a gap, a repeat, a position that moves back, and a
 * view that differs from the market. It uses only PROTOCOL.md, and the independent client's code.
 */
export class ChaosClient extends IndependentClient {
  readonly profile: Profile;
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
  /** The first violation found. */
  fault: Error | undefined;
  readonly #url: string;
  readonly #truth: Truth;
  readonly #chance: Chance;
  /** Number of the connection whose messages it accepts; `undefined`: none. */
  #listening: number | undefined;
  /** Connections that it has left open. */
  readonly #left: Connection[] = [];
  /** Ticks without a message. */
  #silence = 0;
  #patience = 0;
  #ticks: (() => void)[] = [];

  constructor(url: string, profile: Profile, truth: Truth, chance: Chance) {
    super(url);
    this.#url = url;
    this.profile = profile;
    this.#truth = truth;
    this.#chance = chance;
  }

  /** Follows over one connection after another until `signal` aborts or a violation is found. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.fault) {
      const connection = this.#connect();
      await Promise.race([connection.ended, this.#untilLeaving(signal)]);
      this.#leave(connection);
      // A client that was rejected or cut waits before it reconnects.
      for (let wait = this.#chance.whole(1, 3); wait > 0 && !signal.aborted; wait -= 1) await this.#tick();
    }
  }

  /** Closes all connections that are still open. */
  close(): void {
    for (const connection of this.#left.splice(0)) connection.close();
  }

  /** Advances the client's time. After enough silence it treats its connection as dead. */
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
      const what = `${this.profile.name} at ${this.cursor}: ${error instanceof Error ? error.message : error}`;
      this.fault ??= new Error(what, { cause: error });
    }
  }

  /** Compares the view with the market's state at the client's position. Throws if they differ. */
  compare(): void {
    const isEqual = this.#truth.matches(this.seq, this.profile.wanted, this.state);
    if (isEqual === false) throw new Error(`the view differs from the market at ${this.seq}`);
    if (isEqual) this.tally.compared += 1;
  }

  #take(message: Json): void {
    switch (message.type) {
      case "event":
        this.#checkNothingSkipped(Number(message.seq));
        super.take(message);
        this.tally.events += 1;
        this.received.events.length = 0;
        if (this.#chance.happens(0.02)) this.compare();
        break;
      case "subscribed":
        this.#subscribed(message);
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
        throw new Error(`the server sent an error: ${JSON.stringify(message)}`);
    }
  }

  #subscribed(message: Json): void {
    const before = this.cursor;
    const { cursor, resumed, lost } = message;
    if (resumed === "full" && cursor !== before) throw new Error(`resumed at ${cursor} instead of ${before}`);
    if (resumed === "reset" && before !== undefined) {
      const { reason } = lost as { reason: string };
      if (reason !== "expired" || seqOf(cursor) < seqOf(before))
        throw new Error(`unexpected reset: ${JSON.stringify(lost)}`);
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

  /** Moves the position: the server states that it has sent all events up to the cursor. */
  #moveTo(cursor: unknown): void {
    const seq = seqOf(cursor);
    if (seq < this.seq) throw new Error(`the position moved back from ${this.seq} to ${seq}`);
    this.#checkNothingSkipped(seq + 1);
    this.cursor = String(cursor);
    this.seq = seq;
  }

  /**
   * Checks that the log has no event of the client's channels between its position and this seq.
   * With a filter or conflation, events may be omitted.
   */
  #checkNothingSkipped(seq: number): void {
    const { wanted, mode } = this.profile;
    if (isFilter(wanted) || mode === "latest") return;
    const skipped = this.#truth.between(wanted.channels, this.seq, seq);
    if (skipped.length > 0) throw new Error(`gap: events ${skipped.join()} omitted before ${seq}`);
  }

  #connect(): Connection {
    const chance = this.#chance;
    // Filtered lists must start with a stream (P4).
    const isStart = this.cursor === undefined && this.profile.wanted.channels !== "*";
    const choices = this.profile.transports.filter((transport) => !(isStart && transport === "poll"));
    const transport = chance.pick(choices as [Transport, ...Transport[]]);
    this.tally.connections += 1;
    this.#listening = this.tally.connections;
    this.#silence = 0;
    this.#patience = chance.magnitude(20, 400);
    return this.#open(transport, this.tally.connections);
  }

  #open(transport: Transport, number: number): Connection {
    const { wanted, clientId, mode } = this.profile;
    // Ignore messages that were in flight when the client left.
    const isCurrent = () => this.#listening === number;
    const onText = (text: string) => {
      if (isCurrent()) this.take(JSON.parse(text));
    };
    const query = new URLSearchParams({ ...wanted });
    if (transport === "poll") {
      if (this.cursor === undefined) return readSnapshot(this.#url, onText);
      query.set("limit", `${this.#chance.pick([7, 100, 1_000])}`);
      query.set("wait", `${this.#chance.pick([0, 5, 60])}`);
      const cursor = () => (isCurrent() ? this.cursor : undefined);
      return openPoll({ url: this.#url, query, cursor, onText });
    }
    if (clientId !== undefined) query.set("client", clientId);
    if (mode !== undefined) query.set("mode", mode);
    const byHeader = transport === "sse" && this.#chance.happens(0.5);
    if (this.cursor !== undefined && !byHeader) query.set("after", this.cursor);
    if (transport === "websocket") return openWebSocket(this.#url, query, onText);
    return openSse(this.#url, query, byHeader ? this.cursor : undefined, onText);
  }

  /** Resolves when the client leaves its connection, for whatever reason. */
  async #untilLeaving(signal: AbortSignal): Promise<void> {
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
    // A connection that seems dead is not closed, nor are some others, so that the next one is
    // opened in parallel.
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
