import type { CloseReason } from "../../protocol/index.ts";
import type { Access } from "../access/access.ts";
import type { ConnectionHolder, ConnectionLimiter, Full } from "../access/connection-limiter.ts";

/** What is known of a connection here: its end, and how to cut it. A socket is one; so is the socket of another process. */
export interface ConnectionHandle {
  on(event: "close", listener: (this: ConnectionHandle) => void): unknown;
  destroy(): unknown;
}

/** Why there is no place: a bound, in words; a ticket that was spent meanwhile; a key that has ended meanwhile. */
export type Refusal =
  | ({ readonly kind: "full" } & Full)
  | { readonly kind: "spent" }
  | { readonly kind: "ended" };

/** Where places are given: by this process, or by the one that it works for. */
export interface SlotAllocator {
  /** See {@link ConnectionRegistry.seat}. */
  seat(
    raw: ConnectionHandle,
    address: string,
    name: string | undefined,
    access: Access,
  ): Refusal | undefined | Promise<Refusal | undefined>;
  /** The place of a connection that was seated. */
  placeOf(raw: ConnectionHandle): Slot | undefined;
  /** A seat without a place, for whoever only waits; why there is none. */
  sit(guest: ConnectionHolder): Refusal | undefined | Promise<Refusal | undefined>;
  /** Gives back what `sit` took. */
  leave(guest: ConnectionHolder): void;
}

/** What may end before its socket does. */
export interface Ending {
  close(reason: CloseReason): void;
}

/** The place of one connection, from its admission to its end. */
export class Slot implements ConnectionHolder {
  readonly address: string;
  /** What the connection may have. */
  readonly access: Access;
  readonly raw: ConnectionHandle;
  /** What the client calls itself, with its key or else its address. */
  readonly client: string | undefined;
  /** It counts. */
  seated = true;
  /** The connection whose place it took, as long as that may still be open. */
  before: ConnectionHandle | undefined;
  #session: Ending | undefined;

  constructor(raw: ConnectionHandle, address: string, client: string | undefined, access: Access) {
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
export class ConnectionRegistry implements SlotAllocator {
  /** Those that the places are on, and that whoever only waits takes without a place. */
  readonly seats: ConnectionLimiter;
  readonly #byClient = new Map<string, Slot>();
  readonly #byRaw = new WeakMap<ConnectionHandle, Slot>();
  /** One for all connections: see `on("close")`. */
  readonly #closed: (this: ConnectionHandle) => void;
  readonly #spend: (ticket: string) => boolean;

  /** `spend`: uses a ticket, for whoever comes with one; false where it is good for nothing. */
  constructor(seats: ConnectionLimiter, spend: (ticket: string) => boolean = () => true) {
    this.seats = seats;
    this.#spend = spend;
    const leave = (raw: ConnectionHandle) => this.#free(raw);
    this.#closed = function closed() {
      leave(this);
    };
  }

  /**
   * Seats a connection until its socket ends, and spends the ticket that it came with; where there is no seat, why. `name` is what the client
   * calls itself: its connection before is superseded, and its seat free, before the bounds are looked at; not when it is refused all the same. The
   * same name under another key, or without a key from another address, is another client's: names are no secrets.
   */
  seat(
    raw: ConnectionHandle,
    address: string,
    name: string | undefined,
    access: Access,
  ): Refusal | undefined {
    const owner = access.key ? `key ${access.key.id}` : `address ${address}`;
    const client = name === undefined ? undefined : `${owner} ${name}`;
    const before = client === undefined ? undefined : this.#byClient.get(client);
    const held = new Slot(raw, address, client, access);
    held.before = before?.raw;
    if (before?.seated) this.seats.leave(before);
    const refusal = this.#take(held);
    if (refusal) {
      if (before?.seated) this.seats.take(before);
      return refusal;
    }
    this.#byRaw.set(raw, held);
    if (client !== undefined) this.#byClient.set(client, held);
    if (before) this.#end(before);
    // Whatever becomes of the handshake, the socket's end is the seat's end.
    raw.on("close", this.#closed);
    return undefined;
  }

  /** The place of a connection that was seated. */
  placeOf(raw: ConnectionHandle): Slot | undefined {
    return this.#byRaw.get(raw);
  }

  /** See PlaceGiver. */
  sit(guest: ConnectionHolder): Refusal | undefined {
    const full = this.seats.take(guest);
    return full && { kind: "full", ...full };
  }

  /** See PlaceGiver. */
  leave(guest: ConnectionHolder): void {
    this.seats.leave(guest);
  }

  #take(held: Slot): Refusal | undefined {
    const refusal = this.sit(held);
    const { ticket } = held.access;
    if (refusal || ticket === undefined || this.#spend(ticket)) return refusal;
    this.seats.leave(held);
    return { kind: "spent" };
  }

  #free(raw: ConnectionHandle): void {
    const held = this.#byRaw.get(raw);
    if (!held) return;
    if (held.seated) this.seats.leave(held);
    if (held.client !== undefined && this.#byClient.get(held.client) === held)
      this.#byClient.delete(held.client);
  }

  #end(held: Slot): void {
    held.seated = false;
    // One that says farewell has no seat: at most one a client, or whoever comes again and again would be without bound.
    held.before?.destroy();
    held.before = undefined;
    held.end("superseded");
  }
}
