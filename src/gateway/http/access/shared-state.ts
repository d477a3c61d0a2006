import type { Clock } from "../../../base/lib/time/clock.ts";
import { type IssuedTicket, TicketTable } from "../../keys/ticket-table.ts";

/** Tickets, which one process may issue and another redeem. `ref`: see refOf. */
export interface Tickets {
  issue(ref: string): IssuedTicket | Promise<IssuedTicket>;
  refOfTicket(text: string): string | undefined | Promise<string | undefined>;
  /** See TicketTable. If several processes try at once, exactly one succeeds. */
  spend(text: string): boolean | Promise<boolean>;
  forget(ref: string): void;
}

/** State that all processes of one service share. */
export interface SharedState {
  readonly tickets: Tickets;
  /** Announces to the other processes that this one now serves the client. */
  claim(client: string): void;
  /** Sets the listener for clients that were connected here and now use another process. */
  onClaimed(listener: (client: string) => void): void;
  /** Announces one request of a key, which counts toward its rate in every process. */
  count(keyId: string): void;
  /** Sets the listener for requests that other processes served. */
  onCounted(listener: (keyId: string, requests: number) => void): void;
}

/** Returns the state of a service with a single process. */
export function createLocalState(clock: Clock): SharedState {
  return {
    tickets: new TicketTable(clock),
    claim: () => {},
    onClaimed: () => {},
    count: () => {},
    onCounted: () => {},
  };
}
