import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Session, Socket } from "../hub/index.ts";
import { CLOSE_CODES, type CloseMessage, type CloseReason } from "../protocol/index.ts";
import { unsentBytes } from "./unsent-bytes.ts";

/** How long a browser is told to wait before it connects again after a close that says `backoff`. */
const BACKOFF_MS = 5_000;

/**
 * One answer of server-sent events as the hub sees it: back-pressure is the response's own, and the last event says why it ends.
 * Full is what Node calls so: the socket's high-water mark, 64 KiB, is what waits in this process at most, and one batch.
 */
export class SseSocket implements Socket {
  readonly #response: ServerResponse;
  readonly #raw: Duplex;

  /** `raw`: the connection under the response. */
  constructor(response: ServerResponse, raw: Duplex) {
    this.#response = response;
    this.#raw = raw;
  }

  /** Calls the session with what happens to the connection, from now on. */
  attach(session: Session): void {
    this.#response.on("drain", () => session.drained());
    // What is written into a connection that just broke fails; its end is told by the next line.
    this.#response.on("error", () => {});
    this.#raw.once("close", () => session.closed());
  }

  /** See Socket. */
  write(bytes: Buffer): boolean {
    return !this.#isOpen || this.#response.write(bytes);
  }

  close(reason: CloseReason): void {
    if (this.#isOpen) this.#response.end(closeEvent(reason));
  }

  terminate(): void {
    this.#raw.destroy();
  }

  /** See Socket. */
  get progress(): number {
    return unsentBytes(this.#raw) ?? -this.#raw.writableLength;
  }

  get #isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }
}

/** The counterpart of a WebSocket's close frame. */
function closeEvent(reason: CloseReason): string {
  const { code, action } = CLOSE_CODES[reason];
  const message: CloseMessage = { type: "close", reason, code, action };
  const retry = action === "backoff" ? `retry: ${BACKOFF_MS}\n` : "";
  return `event: close\n${retry}data: ${JSON.stringify(message)}\n\n`;
}
