import type { CloseReason } from "../../../base/protocol/index.ts";

/** The part of a stream that a group uses. A stream that has ended is not writable. */
export interface Outlet {
  readonly writable: boolean;
  write(bytes: Buffer): boolean;
}

/** A connection. Calls the session back asynchronously, never from within a call. */
export interface Socket {
  /** Where a group writes, which saves a cache miss per client. Call `awaitDrain` after false. */
  readonly outlet: Outlet;
  /**
   * Sends or buffers bytes, and then `shared`, which it does not copy; discards them on a closing
   * connection. Returns false if the socket is full, and then acts as after `awaitDrain`.
   */
  write(bytes: Buffer, shared?: Buffer): boolean;
  /** Calls the session's `drained()` once everything is written. */
  awaitDrain(): void;
  /** Closes the connection with this reason, after everything written. */
  close(reason: CloseReason): void;
  terminate(): void;
  /**
   * A number that changes when the peer accepts buffered data. Read once a second while the socket
   * is full.
   */
  readonly progress: number;
}
