import type { Clock } from "../../base/lib/time/clock.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import type { KeyGrant } from "./key-file.ts";
import { idOf, isSecretOf, type MintedSecret, mintSecret } from "./secret.ts";

/** Lifetime of a ticket, which should be used at once. */
export const TICKET_MS = 30_000;
/** Maximum number of a key's unused tickets. */
export const TICKETS_OF_KEY = 64;
/** Maximum number of unused tickets in total. */
const MAX_TICKETS = 10_000;

/** Separates the id from the grant. No id contains it. */
const BORDER = "|";

/**
 * Returns what a ticket stores to find its grant again: for a key its id; for a token the id and
 * the whole grant, because another process may not have seen the token. No client gets it.
 */
export function refOf(grant: KeyGrant): string {
  return grant.signer === undefined ? grant.id : `${grant.id}${BORDER}${JSON.stringify(grant)}`;
}

/** Returns the grant in a token's reference ({@link refOf}); `undefined` for a key's reference. */
export function grantIn(ref: string): KeyGrant | undefined {
  const index = ref.indexOf(BORDER);
  return index < 0 ? undefined : JSON.parse(ref.slice(index + 1));
}

/** Returns the id in a reference of {@link refOf}. */
export function idIn(ref: string): string {
  return ref.split(BORDER, 1)[0] ?? "";
}

interface Ticket {
  /** See {@link refOf}. */
  readonly ref: string;
  readonly digest: Buffer;
  readonly untilMs: number;
}

export interface IssuedTicket {
  readonly text: string;
  /** Wall-clock milliseconds since 1970 UTC. */
  readonly expiresAtMs: number;
}

/** Unused tickets. Each opens one connection with a key's rights. Bounded, in memory. */
export class TicketTable {
  readonly #clock: Clock;
  readonly #mint: () => MintedSecret;
  readonly #tickets = new Map<string, Ticket>();
  readonly #byKey = new Map<string, number>();

  constructor(clock: Clock, mint: () => MintedSecret = () => mintSecret("fwt")) {
    this.#clock = clock;
    this.#mint = mint;
  }

  get size(): number {
    this.#removeExpired();
    return this.#tickets.size;
  }

  /**
   * Creates a ticket. Throws `rate-limited` at the key's limit, `over-capacity` at the total limit.
   */
  issue(ref: string): IssuedTicket {
    this.#removeExpired();
    const own = this.#byKey.get(idIn(ref)) ?? 0;
    if (own >= TICKETS_OF_KEY) {
      const message = `the key has ${own} unused tickets; the limit is ${TICKETS_OF_KEY}`;
      throw new FlarewireError("rate-limited", message, { bound: `${TICKETS_OF_KEY}` });
    }
    if (this.#tickets.size >= MAX_TICKETS) {
      const message = `the server has ${this.#tickets.size} unused tickets; the limit is ${MAX_TICKETS}`;
      throw new FlarewireError("over-capacity", message, { bound: `${MAX_TICKETS}` });
    }
    let minted = this.#mint();
    while (this.#tickets.has(minted.id)) minted = this.#mint();
    const untilMs = this.#clock.monotonic() + TICKET_MS;
    this.#tickets.set(minted.id, { ref, digest: minted.digest, untilMs });
    this.#byKey.set(idIn(ref), own + 1);
    return { text: minted.text, expiresAtMs: this.#clock.now() + TICKET_MS };
  }

  /** Returns the reference of a valid ticket, or `undefined`. Compares in constant time. */
  refOfTicket(text: string): string | undefined {
    this.#removeExpired();
    const ticket = this.#tickets.get(idOf("fwt", text) ?? "");
    return isSecretOf(ticket?.digest, text) ? ticket?.ref : undefined;
  }

  /** Uses up a ticket. Returns false if it is invalid. */
  spend(text: string): boolean {
    if (this.refOfTicket(text) === undefined) return false;
    this.#remove(idOf("fwt", text) ?? "");
    return true;
  }

  /**
   * Removes the tickets with this reference. Call it for a removed key, because a later key may get
   * the same id.
   */
  forget(ref: string): void {
    for (const [id, ticket] of this.#tickets) if (ticket.ref === ref) this.#remove(id);
  }

  #removeExpired(): void {
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
    const owner = idIn(ticket.ref);
    const left = (this.#byKey.get(owner) ?? 0) - 1;
    if (left > 0) this.#byKey.set(owner, left);
    else this.#byKey.delete(owner);
  }
}
