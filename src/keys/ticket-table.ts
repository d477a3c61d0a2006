import type { Clock } from "../lib/time/clock.ts";
import { FlarewireError } from "../protocol/index.ts";
import { idOf, isSecretOf, type MintedSecret, mintSecret } from "./secret.ts";

/** How long a ticket holds; it is to be used at once. */
export const TICKET_MS = 30_000;
/** Tickets that are not used yet, of one key and in all. */
export const TICKETS_OF_KEY = 64;
const TICKETS_IN_ALL = 10_000;

interface Ticket {
  readonly keyId: string;
  readonly digest: Buffer;
  readonly untilMs: number;
}

/** A ticket as it is handed out. */
export interface IssuedTicket {
  readonly text: string;
  /** Wall-clock milliseconds since 1970 UTC. */
  readonly expiresAtMs: number;
}

/** Tickets that were handed out and not used: each opens one connection, soon, in the name of a key. Bounded, and forgotten with the process. */
export class TicketTable {
  readonly #clock: Clock;
  readonly #mint: () => MintedSecret;
  /** In the order of their ends. */
  readonly #tickets = new Map<string, Ticket>();
  readonly #byKey = new Map<string, number>();

  constructor(clock: Clock, mint: () => MintedSecret = () => mintSecret("fwt")) {
    this.#clock = clock;
    this.#mint = mint;
  }

  /** Tickets that can be used. */
  get size(): number {
    this.#forgetOld();
    return this.#tickets.size;
  }

  /** A new ticket of this key. Throws FlarewireError `rate-limited` when the key has too many that are not used, `over-capacity` when all together are. */
  issue(keyId: string): IssuedTicket {
    this.#forgetOld();
    const own = this.#byKey.get(keyId) ?? 0;
    if (own >= TICKETS_OF_KEY) {
      const message = `the key has ${own} tickets that are not used; ${TICKETS_OF_KEY} is the most`;
      throw new FlarewireError("rate-limited", message, { bound: `${TICKETS_OF_KEY}` });
    }
    if (this.#tickets.size >= TICKETS_IN_ALL) {
      const message = `${TICKETS_IN_ALL} tickets are not used yet, which is the most`;
      throw new FlarewireError("over-capacity", message, { bound: `${TICKETS_IN_ALL}` });
    }
    let minted = this.#mint();
    while (this.#tickets.has(minted.id)) minted = this.#mint();
    const untilMs = this.#clock.monotonic() + TICKET_MS;
    this.#tickets.set(minted.id, { keyId, digest: minted.digest, untilMs });
    this.#byKey.set(keyId, own + 1);
    return { text: minted.text, expiresAtMs: this.#clock.now() + TICKET_MS };
  }

  /** The id of the key in whose name this ticket is, as long as it can be used. Another text takes no longer the more of it is right. */
  keyOf(text: string): string | undefined {
    this.#forgetOld();
    const ticket = this.#tickets.get(idOf("fwt", text) ?? "");
    return isSecretOf(ticket?.digest, text) ? ticket?.keyId : undefined;
  }

  /** Uses the ticket, which is then good for nothing any more; false where it was not good for anything before. */
  spend(text: string): boolean {
    if (this.keyOf(text) === undefined) return false;
    this.#remove(idOf("fwt", text) ?? "");
    return true;
  }

  /** The key is gone: its tickets are good for nothing, whatever key has its id later. */
  forget(keyId: string): void {
    for (const [id, ticket] of this.#tickets) if (ticket.keyId === keyId) this.#remove(id);
  }

  #forgetOld(): void {
    const nowMs = this.#clock.monotonic();
    for (const [id, { untilMs }] of this.#tickets) {
      if (untilMs > nowMs) return;
      this.#remove(id);
    }
  }

  #remove(id: string): void {
    const ticket = this.#tickets.get(id);
    if (!ticket) return;
    this.#tickets.delete(id);
    const left = (this.#byKey.get(ticket.keyId) ?? 0) - 1;
    if (left > 0) this.#byKey.set(ticket.keyId, left);
    else this.#byKey.delete(ticket.keyId);
  }
}
