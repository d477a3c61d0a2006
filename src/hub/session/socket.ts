import type { CloseReason } from "../../protocol/index.ts";

/**
 * A connection as seen by the hub. Its methods never call the session back synchronously, only in a
 * later turn of the event loop, so that loops over all sockets are not disturbed.
 */
export interface Socket {
  /**
   * Sends or buffers bytes. Returns false if the socket is full; it then calls the session's
   * `drained()` once everything is written. On a closing connection it discards the bytes and
   * returns true.
   */
  write(bytes: Buffer): boolean;
  /** Closes the connection with this reason, after everything written. */
  close(reason: CloseReason): void;
  /** Closes the connection immediately. */
  terminate(): void;
  /**
   * Changes whenever the peer accepts buffered data, even one byte. Read once a second while the
   * socket is full.
   */
  readonly progress: number;
}
