import type { Socket as Connection } from "node:net";
import type { Writable } from "node:stream";
import type { Session, Socket } from "../../hub/index.ts";
import { CLOSE_CODES, type CloseMessage, type CloseReason } from "../../protocol/index.ts";
import { unsentBytes } from "./unsent-bytes.ts";

/** How long a browser is told to wait before it connects again after a close that says `backoff`. */
const BACKOFF_MS = 5_000;

/*
 * One function each for all connections: a closure each would be memory that ten thousand idle clients cost.
 */

/** What is written into a connection that just broke fails; its end is told by `close`. */
function ignore(): void {}

/** Who sends nothing more than it has sent reads nothing more either: so HTTP takes it. */
function endToo(this: Connection): void {
  this.destroySoon();
}

/**
 * One answer of server-sent events as the hub sees it: back-pressure is the answer's own, and the last event says why it ends.
 * Full is what Node calls so: the socket's high-water mark, 64 KiB, is what waits in this process at most, and one batch.
 */
export class SseSocket implements Socket {
  readonly #out: Writable;
  readonly #raw: Connection;
  #session: Session | undefined;
  #awaitsDrain = false;

  /** `out`: what takes the answer's body; `raw`, the connection, or the response on it. */
  constructor(out: Writable, raw: Connection) {
    this.#out = out;
    this.#raw = raw;
  }

  /** Calls the session with what happens to the connection, from now on. */
  attach(session: Session): void {
    this.#session = session;
    this.#out.on("error", ignore);
    this.#raw.on("close", () => session.closed());
    if (this.#out !== this.#raw) return;
    // What may still come in is ignored, but has to be read, or the connection's end would not be seen.
    this.#raw.on("end", endToo).resume();
  }

  /** See Socket. */
  write(bytes: Buffer): boolean {
    if (!this.#isOpen || this.#out.write(bytes)) return true;
    this.#awaitDrain();
    return false;
  }

  close(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.#out.end(closeEvent(reason));
    // A response does that by itself.
    if (this.#out === this.#raw) this.#raw.destroySoon();
  }

  terminate(): void {
    this.#raw.destroy();
  }

  /** See Socket. */
  get progress(): number {
    return unsentBytes(this.#raw) ?? -this.#raw.writableLength;
  }

  get #isOpen(): boolean {
    return !this.#out.writableEnded && !this.#out.destroyed;
  }

  /** Most connections are never full: they need no listener for it. */
  #awaitDrain(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.#out.once("drain", () => {
      this.#awaitsDrain = false;
      this.#session?.drained();
    });
  }
}

/** The counterpart of a WebSocket's close frame. */
function closeEvent(reason: CloseReason): string {
  const { code, action } = CLOSE_CODES[reason];
  const message: CloseMessage = { type: "close", reason, code, action };
  const retry = action === "backoff" ? `retry: ${BACKOFF_MS}\n` : "";
  return `event: close\n${retry}data: ${JSON.stringify(message)}\n\n`;
}
