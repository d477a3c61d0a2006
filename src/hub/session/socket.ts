import type { CloseReason } from "../../protocol/index.ts";

/**
 * All that the hub needs to know of a connection. It never calls the session back from within one of these: what it has
 * to say it says in a later turn of the event loop, so that a loop over all sockets is not disturbed.
 */
export interface Socket {
  /**
   * Sends bytes as they are; takes them in any case. False: it is full, and will call the session's `drained()` when all that
   * was written is on its way. Bytes for a connection that is ending go nowhere and yield true.
   */
  write(bytes: Buffer): boolean;
  /** Ends the connection in order, behind all that was written, and tells the client why. */
  close(reason: CloseReason): void;
  /** Ends it at once. */
  terminate(): void;
  /** A number that changes whenever the peer takes something of what waits, be it one byte. Read once a second while it is full. */
  readonly progress: number;
}
