import type { ConnectionStatus, DataFreshness, StreamEvent, View } from "../../client/index.ts";
import type { Access } from "./access.ts";

/** An event, and the token that it is about, if it names one or the lists do. */
export interface ToldEvent {
  readonly event: StreamEvent;
  readonly symbol: string | undefined;
}

/** All that the page knows of the server at one moment. */
export interface Seen {
  /** Nothing but lists that one state of the server has; `undefined` before the first. */
  readonly view: View | undefined;
  readonly connection: ConnectionStatus;
  /** How long there has been no connection, in milliseconds; 0 while there is one, and for a moment after. */
  readonly awayMs: number;
  /** What the server says of itself and the visitor; `undefined` until it did, `null` where it did not. */
  readonly access: Access | null | undefined;
  readonly freshness: DataFreshness | undefined;
  readonly cursor: string | undefined;
  /** The newest events, newest first. */
  readonly events: readonly ToldEvent[];
  /** Events that came since the page was opened. */
  readonly count: number;
  /** Why something was missed, and how much, since the page was opened; the last of them, newest last. */
  readonly gaps: readonly string[];
  /** The server's reason why it does not serve this page. */
  readonly refused: string | undefined;
}
