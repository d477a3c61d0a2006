import type { Socket } from "node:net";
import type { Access } from "./access.ts";
import type { Guest, Seats } from "./seats.ts";

/** The place of one connection, from its admission to its end. Its `end` tells the connection why; until a session is there, cuts it. */
export interface Place extends Guest {
  /** What the connection may have. */
  readonly access: Access;
}

interface Held extends Place {
  readonly raw: Socket;
  seated: boolean;
  /** The connection whose place it took, as long as that may still be open. */
  before: Socket | undefined;
}

/**
 * Gives seats to connections, over whatever transport, and lets a client that names itself take over the seat of its own connection before: that one may be
 * half open, dead without anybody having noticed, and would count against the client that comes back.
 */
export class Places {
  /** Those that the places are on, and that whoever only waits takes without a place. */
  readonly seats: Seats;
  readonly #byClient = new Map<string, Held>();
  readonly #byRaw = new WeakMap<Socket, Held>();

  constructor(seats: Seats) {
    this.seats = seats;
  }

  /**
   * Seats a connection until its socket ends; the bound that stands in the way where there is no seat. `name` is what the client calls
   * itself: its connection before is superseded, and its seat free, before the bounds are looked at; not when it is refused all the same. The
   * same name under another key is another client's.
   */
  seat(raw: Socket, address: string, name: string | undefined, access: Access): string | undefined {
    const { key } = access;
    const client = name === undefined ? undefined : `${key?.id ?? ""} ${name}`;
    const before = client === undefined ? undefined : this.#byClient.get(client);
    const end = () => void raw.destroy();
    const held: Held = { address, key, access, raw, seated: true, before: before?.raw, end };
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
    raw.on("close", () => {
      if (held.seated) this.seats.leave(held);
      if (client !== undefined && this.#byClient.get(client) === held) this.#byClient.delete(client);
    });
    return undefined;
  }

  /** The place of a connection that was seated. */
  placeOf(raw: Socket): Place | undefined {
    return this.#byRaw.get(raw);
  }

  #end(held: Held): void {
    held.seated = false;
    // One that says farewell has no seat: at most one a client, or whoever comes again and again would be without bound.
    held.before?.destroy();
    held.before = undefined;
    held.end("superseded");
  }
}
