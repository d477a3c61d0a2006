import type { AnyFlare, Flare } from "../../base/model/index.ts";
import type { EventName } from "../../base/protocol/event.ts";
import type { Hello } from "../../base/protocol/messages.ts";
import type { View } from "../../base/protocol/view/view.ts";
import type { Reset, StreamEvent, StreamItem } from "./client-state.ts";
import type { ConnectionStatus } from "./connection.ts";
import type { DataFreshness } from "./freshness.ts";
import type { Selection } from "./options.ts";
import type { StreamError } from "./stream-error.ts";

/** The values passed to listeners, by name. */
export type Listened<F extends AnyFlare = Flare> = { readonly [N in EventName]: StreamEvent<N, F> } & {
  /** Every event, whatever its name. */
  readonly event: StreamEvent<EventName, F>;
  /** The lists were replaced. Also emitted at the start. */
  readonly reset: Reset;
  readonly connection: ConnectionStatus;
  /**
   * The server refused the stream, or a listener threw. An error without a listener is an unhandled
   * rejection. A refusal goes to the reader instead, if there is one.
   */
  readonly error: StreamError;
};

/** Called with each value. A returned promise is not awaited. */
export type Listener<N extends keyof Listened, F extends AnyFlare = Flare> = (
  value: Listened<F>[N],
) => unknown;

/**
 * A subscription that outlives its connections. It emits each event once and in order, or reports
 * how many were lost. Read it with `for await`, or listen with {@link on}, or both. `F`: the form
 * of its flares, which follows from the channels of {@link connect}.
 */
export interface Stream<F extends AnyFlare = Flare> extends AsyncIterable<StreamItem<F>, undefined> {
  /**
   * The lists at {@link cursor}: a new object for each change. `undefined` before the first
   * response, after a start with `after` until a reset, and always with `filter.names`.
   */
  readonly view: View | undefined;
  /**
   * The position after everything emitted. `undefined` before the first response, unless the stream
   * resumes, and after a mismatch until the reset. With `for await`, store the event's cursor
   * instead.
   */
  readonly cursor: string | undefined;
  readonly connection: ConnectionStatus;
  /**
   * The latest greeting of a server: what its data is, and its limits. `undefined` before the
   * first. Long polls have none.
   */
  readonly server: Hello | undefined;
  /** Current age of the data; `undefined` before the server's first report. */
  readonly freshness: DataFreshness | undefined;
  /** Calls `listener` with all later values of this name. Returns a function that removes it. */
  on<N extends keyof Listened>(name: N, listener: Listener<N, F>): () => void;
  /** Calls `listener` with the next value of this name only. Returns a function that removes it. */
  once<N extends keyof Listened>(name: N, listener: Listener<N, F>): () => void;
  /** Removes a listener, however often it was added with {@link on} or {@link once}. */
  off<N extends keyof Listened>(name: N, listener: Listener<N, F>): void;
  /**
   * Replaces the channels, the filter, or both; what is omitted stays, and `undefined` stands for
   * the default. The stream emits every event of the earlier selection up to a cursor, then a reset
   * `changed` with the new lists at that cursor, then every event of the new selection. If the
   * server rejects the new selection, the stream ends.
   */
  update(selection: Selection): void;
  /**
   * Yields events and resets in order. Starts with a reset, unless it reads from the beginning of a
   * stream that resumes after `after` without a loss. Allows one reader at a time. Breaking out of
   * the loop does not end the stream. Throws StreamError if the server refuses the stream.
   */
  [Symbol.asyncIterator](): AsyncGenerator<StreamItem<F>, undefined>;
  /**
   * Closes the stream permanently. Listeners get only the status `closed` of the connection, and a
   * reader gets what is queued.
   */
  close(): void;
}
