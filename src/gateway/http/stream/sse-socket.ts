import type { Socket as Connection } from "node:net";
import type { Writable } from "node:stream";
import { CLOSE_CODES, type CloseMessage, type CloseReason } from "../../../base/protocol/index.ts";
import type { Session, Socket } from "../../hub/index.ts";
import { unsentBytes } from "../connections/node-internals.ts";

/** Reconnect delay for browsers after a close with `backoff`. */
const BACKOFF_MS = 5_000;

/**
 * Ends the connection when the other side does, as HTTP does. All connections share this function,
 * because closures would cost memory for each idle client.
 */
function endWithPeer(this: Connection): void {
  this.destroySoon();
}

/**
 * Adapts a server-sent events response to the hub's socket. The last event gives the reason for its
 * end. Buffers at most 64 KiB (the high-water mark) and one batch.
 */
export class SseSocket implements Socket {
  readonly outlet: Writable;
  readonly #raw: Connection;
  #session: Session | undefined;
  #awaitsDrain = false;

  /** `raw`: the connection. `out`: where to write the body, either `raw` or its response. */
  constructor(out: Writable, raw: Connection) {
    this.outlet = out;
    this.#raw = raw;
  }

  /** Forwards the connection's events to the session from now on. */
  attach(session: Session): void {
    this.#session = session;
    this.#raw.on("close", () => session.closed());
    if (this.outlet !== this.#raw) return;
    // Input is ignored but must be read to detect the end of the connection.
    this.#raw.on("end", endWithPeer).resume();
  }

  write(bytes: Buffer, shared?: Buffer): boolean {
    if (!this.#isOpen) return true;
    if (shared) this.outlet.write(bytes);
    if (this.outlet.write(shared ?? bytes)) return true;
    this.awaitDrain();
    return false;
  }

  close(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.outlet.end(closeEvent(reason));
    // Node ends the connection after a response, but not after writes to a detached connection.
    if (this.outlet === this.#raw) this.#raw.destroySoon();
  }

  terminate(): void {
    this.#raw.destroy();
  }

  get progress(): number {
    return unsentBytes(this.#raw) ?? -this.#raw.writableLength;
  }

  get #isOpen(): boolean {
    return !this.outlet.writableEnded && !this.outlet.destroyed;
  }

  /** Adds a drain listener only when needed, because most connections are never full. */
  awaitDrain(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.outlet.once("drain", () => {
      this.#awaitsDrain = false;
      this.#session?.drained();
    });
  }
}

/** Formats the last event, the counterpart of a WebSocket's close frame. */
function closeEvent(reason: CloseReason): string {
  const { code, action } = CLOSE_CODES[reason];
  const message: CloseMessage = { type: "close", reason, code, action };
  const retry = action === "backoff" ? `retry: ${BACKOFF_MS}\n` : "";
  return `event: close\n${retry}data: ${JSON.stringify(message)}\n\n`;
}
