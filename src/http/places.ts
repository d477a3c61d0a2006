import type { Socket } from "node:net";
import type { CloseReason } from "../protocol/index.ts";
import type { Access } from "./access.ts";
import type { Guest, Seats } from "./seats.ts";

/** What may end before its socket does. */
export interface Ending {
  close(reason: CloseReason): void;
}

/** The place of one connection, from its admission to its end. */
export class Place implements Guest {
  readonly address: string;
  /** What the connection may have. */
  readonly access: Access;
  readonly raw: Socket;
  /** What the client calls itself, with its key. */
  readonly client: string | undefined;
  /** It counts. */
  seated = true;
  /** The connection whose place it took, as long as that may still be open. */
  before: Socket | undefined;
  #session: Ending | undefined;

  constructor(raw: Socket, address: string, client: string | undefined, access: Access) {
    this.raw = raw;
    this.address = address;
    this.client = client;
    this.access = access;
  }

  get key(): Access["key"] {
    return this.access.key;
  }

  /** From now on {@link end} is this one's to tell. */
  taken(session: Ending): void {
    this.#session = session;
  }

  /** Ends the connection, and tells it why; until something is there to be told, cuts it. */
  end(reason: CloseReason): void {
    if (this.#session) this.#session.close(reason);
    else this.raw.destroy();
  }
}

/**
 * Gives seats to connections, over whatever transport, and lets a client that names itself take over the seat of its own connection before: that one may be
 * half open, dead without anybody having noticed, and would count against the client that comes back.
 */
export class Places {
  /** Those that the places are on, and that whoever only waits takes without a place. */
  readonly seats: Seats;
  readonly #byClient = new Map<string, Place>();
  readonly #byRaw = new WeakMap<Socket, Place>();
  /** One for all connections: see `on("close")`. */
  readonly #closed: (this: Socket) => void;

  constructor(seats: Seats) {
    this.seats = seats;
    const leave = (raw: Socket) => this.#leave(raw);
    this.#closed = function closed() {
      leave(this);
    };
  }

  /**
   * Seats a connection until its socket ends; the bound that stands in the way where there is no seat. `name` is what the client calls
   * itself: its connection before is superseded, and its seat free, before the bounds are looked at; not when it is refused all the same. The
   * same name under another key is another client's.
   */
  seat(raw: Socket, address: string, name: string | undefined, access: Access): string | undefined {
    const client = name === undefined ? undefined : `${access.key?.id ?? ""} ${name}`;
    const before = client === undefined ? undefined : this.#byClient.get(client);
    const held = new Place(raw, address, client, access);
    held.before = before?.raw;
    if (before?.seated) this.seats.leave(before);
    const bound = this.seats.take(held);
    if (bound !== undefined) {
      if (before?.seated) this.seats.take(before);
      return bound;
    }
    this.#byRaw.set(raw, held);
    if (client !== undefined) this.#byClient.set(client, held);
    if (before) this.#end(before);
    // Whatever becomes of the handshake, the socket's end is the seat's end.
    raw.on("close", this.#closed);
    return undefined;
  }

  /** The place of a connection that was seated. */
  placeOf(raw: Socket): Place | undefined {
    return this.#byRaw.get(raw);
  }

  #leave(raw: Socket): void {
    const held = this.#byRaw.get(raw);
    if (!held) return;
    if (held.seated) this.seats.leave(held);
    if (held.client !== undefined && this.#byClient.get(held.client) === held)
      this.#byClient.delete(held.client);
  }

  #end(held: Place): void {
    held.seated = false;
    // One that says farewell has no seat: at most one a client, or whoever comes again and again would be without bound.
    held.before?.destroy();
    held.before = undefined;
    held.end("superseded");
  }
}
