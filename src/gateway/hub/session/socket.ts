import type { CloseReason } from "../../../base/protocol/index.ts";

/** A connection. Calls the session back asynchronously, never from within a call. */
export interface Socket {
  /**
   * Sends or buffers bytes, and then `shared`, which it does not copy; discards them on a closing
   * connection. Returns false if the socket is full. The socket then calls the session's
   * `drained()` once everything is written.
   */
  write(bytes: Buffer, shared?: Buffer): boolean;
  /** Closes the connection with this reason, after everything written. */
  close(reason: CloseReason): void;
  terminate(): void;
  /**
   * A number that changes when the peer accepts buffered data. Read once a second while the socket
   * is full.
   */
  readonly progress: number;
}
