import type { EventName } from "../protocol/event.ts";
import type { View } from "../protocol/view/view.ts";
import type { ConnectionStatus } from "./connection.ts";
import type { DataFreshness } from "./freshness.ts";
import type { Reset, StreamEvent, StreamItem } from "./holding.ts";
import type { StreamError } from "./stream-error.ts";

/** What listeners are told, by name. */
export type Listened = { readonly [N in EventName]: StreamEvent<N> } & {
  /** Every event, whatever its name. */
  readonly event: StreamEvent;
  /** What was known is void. Told at the beginning too. */
  readonly reset: Reset;
  readonly connection: ConnectionStatus;
  /** The stream ended because of this, or a listener threw it. Where nobody listens, and for the end nobody reads either, it becomes an unhandled rejection. */
  readonly error: StreamError;
};

/** Called with what happened; a promise that it returns is not waited for. */
export type Listener<N extends keyof Listened> = (told: Listened[N]) => unknown;

/**
 * A subscription that outlives its connections: it reconnects with its cursor, changes transport where one does not get through, and tells each event once
 * and in order, or plainly how many were lost. Read it with `for await`, or listen with {@link on}; both may be used at once.
 */
export interface Stream extends AsyncIterable<StreamItem, undefined> {
  /**
   * The lists at {@link cursor}: a new object for each change, and never changed. `undefined` before the first answer, after a start with `after` until a
   * reset, and always with `filter.names`, which leaves out what changes the lists.
   */
  readonly view: View | undefined;
  /** Behind everything that was told, to be kept for `after`; `undefined` before the first answer. Who reads with `for await` keeps that of the event in hand. */
  readonly cursor: string | undefined;
  /** How the connection stands. */
  readonly connection: ConnectionStatus;
  /** How old the data is now; `undefined` before the server said so. */
  readonly freshness: DataFreshness | undefined;
  /** Calls `listener` with what happens under this name from now on, in order; the result takes it away. */
  on<N extends keyof Listened>(name: N, listener: Listener<N>): () => void;
  /**
   * Events and resets in order, beginning with a reset that brings the lists as they are. One reader at a time; to break off ends the reading and not the
   * stream. Ends when the stream is closed, with the error if the server refuses it.
   */
  [Symbol.asyncIterator](): AsyncGenerator<StreamItem, undefined>;
  /** Ends it for good. Nothing more is told; a reader gets what waits for it. */
  close(): void;
}
