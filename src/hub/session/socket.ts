import type { CloseReason } from "../../protocol/index.ts";

/** A connection. Never calls the session back within a call, but in a later turn. */
export interface Socket {
  /**
   * Sends or buffers bytes, or discards them on a closing connection. False if the socket is full:
   * it then calls the session's `drained()` once everything is written.
   */
  write(bytes: Buffer): boolean;
  /** Closes the connection with this reason, after everything written. */
  close(reason: CloseReason): void;
  terminate(): void;
  /** Changes when the peer accepts buffered data. Read once a second while the socket is full. */
  readonly progress: number;
}
