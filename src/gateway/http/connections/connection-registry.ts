import type { CloseReason } from "../../../base/protocol/index.ts";
import type { Access } from "../access/access.ts";
import { type ConnectionHolder, ConnectionLimiter, type ReachedLimit } from "../access/connection-limiter.ts";
import type { SharedState } from "../access/shared-state.ts";

/** A property of the connection. A map of all connections would take more memory. */
const SLOT = Symbol("slot");

interface ConnectionHandle {
  [SLOT]?: Slot | undefined;
  on(event: "close", listener: (this: ConnectionHandle) => void): unknown;
  destroy(): unknown;
}

/** Why a connection is refused: a limit, or a ticket that is no longer valid. */
export type Refusal = ReachedLimit | "spent";

interface Ending {
  close(reason: CloseReason): void;
}

/** The slot of one connection, from its admission to its close. */
class Slot implements ConnectionHolder {
  readonly address: string;
  readonly access: Access;
  readonly raw: ConnectionHandle;
  /** The client's id, qualified by its key or its address. */
  readonly client: string | undefined;
  /** Counts toward the limits. */
  holdsSlot = true;
  /** The connection that this one replaced, while it may still be open. */
  before: ConnectionHandle | undefined;
  #session: Ending | undefined;
  #ending: CloseReason | undefined;

  constructor(raw: ConnectionHandle, address: string, client: string | undefined, access: Access) {
    this.raw = raw;
    this.address = address;
    this.client = client;
    this.access = access;
  }

  get key(): Access["key"] {
    return this.access.key;
  }

  /** Sets the session, and closes it if {@link end} was called during the handshake. */
  attach(session: Ending): void {
    this.#session = session;
    if (this.#ending) session.close(this.#ending);
  }

  /** Closes the connection with the reason, once its handshake is complete. */
  end(reason: CloseReason): void {
    this.#ending ??= reason;
    this.#session?.close(reason);
    // One closing predecessor per client, or a reconnect loop would accumulate sockets.
    if (this.#session) this.before?.destroy();
    this.before = undefined;
  }
}

/** Admits connections. Each replaces its client's previous one, which may be half-open. */
export class ConnectionRegistry {
  /** Limits shared by connections and waiting polls. */
  readonly limiter: ConnectionLimiter;
  readonly #byClient = new Map<string, Slot>();
  /** One function for all connections: a closure each would cost memory. */
  readonly #closed: (this: ConnectionHandle) => void;
  readonly #spend: (ticket: string) => boolean | Promise<boolean>;
  readonly #claim: (client: string) => void;

  /**
   * `spend` redeems a ticket, or returns false if it is invalid; `claim` announces to other
   * processes that this one serves the client.
   */
  constructor(
    limiter: ConnectionLimiter,
    spend: (ticket: string) => boolean | Promise<boolean> = () => true,
    claim: (client: string) => void = () => {},
  ) {
    this.limiter = limiter;
    this.#spend = spend;
    this.#claim = claim;
    const leave = (raw: ConnectionHandle) => this.#free(raw);
    this.#closed = function closed() {
      leave(this);
    };
  }

  /**
   * Gives a connection a slot until its socket closes, or returns the reason for a refusal; as a
   * promise if another process redeems the ticket. An admitted connection replaces the client's
   * previous one. `name`: the client's id. Ids are not secret, so each counts only within its key
   * or address.
   */
  admit(
    raw: ConnectionHandle,
    address: string,
    name: string | undefined,
    access: Access,
  ): Refusal | undefined | Promise<Refusal | undefined> {
    const owner = access.key ? `key ${access.key.id}` : `address ${address}`;
    const client = name === undefined ? undefined : `${owner} ${name}`;
    const current = client === undefined ? undefined : this.#byClient.get(client);
    const before = current?.holdsSlot ? current : undefined;
    const held = new Slot(raw, address, client, access);
    const full = this.limiter.acquire(held, before);
    if (full) return full;
    raw[SLOT] = held;
    // Release the slot when the socket closes, whether or not the handshake completed.
    raw.on("close", this.#closed);
    const { ticket } = access;
    const settle = (isValid: boolean): Refusal | undefined =>
      isValid ? this.#enter(held) : this.#refuse(held);
    const isValid = ticket === undefined || this.#spend(ticket);
    return typeof isValid === "boolean" ? settle(isValid) : isValid.then(settle);
  }

  slotOf(raw: ConnectionHandle): Slot | undefined {
    return raw[SLOT];
  }

  /** Ends the client's connection, because the client has connected to another process since. */
  supersede(client: string): void {
    const held = this.#byClient.get(client);
    if (held?.holdsSlot) this.#end(held);
  }

  /** Makes the connection the current one of its client, and ends the previous one. */
  #enter(held: Slot): undefined {
    const { client } = held;
    // It may have closed while its ticket was redeemed.
    if (client === undefined || !held.holdsSlot) return;
    const before = this.#byClient.get(client);
    this.#byClient.set(client, held);
    held.before = before?.raw;
    if (before) this.#end(before);
    this.#claim(client);
  }

  #refuse({ raw }: Slot): Refusal {
    this.#free(raw);
    raw[SLOT] = undefined;
    return "spent";
  }

  #release(held: Slot): void {
    if (held.holdsSlot) this.limiter.release(held);
    held.holdsSlot = false;
  }

  #free(raw: ConnectionHandle): void {
    const held = raw[SLOT];
    if (!held) return;
    this.#release(held);
    if (held.client !== undefined && this.#byClient.get(held.client) === held)
      this.#byClient.delete(held.client);
  }

  #end(held: Slot): void {
    this.#release(held);
    held.end("superseded");
  }
}

/** Creates a process's registry, in which a client's stream replaces its streams elsewhere too. */
export function createRegistry(
  { maxSockets, maxSocketsPerIp }: { readonly maxSockets: number; readonly maxSocketsPerIp: number },
  state: SharedState,
): ConnectionRegistry {
  const registry = new ConnectionRegistry(
    new ConnectionLimiter(maxSockets, maxSocketsPerIp),
    (ticket) => state.tickets.spend(ticket),
    (client) => state.claim(client),
  );
  state.onClaimed((client) => registry.supersede(client));
  return registry;
}
