import type { CloseReason } from "../../../src/base/protocol/index.ts";
import type { Session, Socket } from "../../../src/gateway/hub/index.ts";
import { readServerFrames, textsOf } from "../../support/clients/server-frames.ts";
import { checkMessage } from "../../support/expect/contract.ts";

export type Message = Readonly<Record<string, unknown>> & { readonly type: string };

/** An in-memory socket: the peer gets what the hub writes at once, or when it reads again. */
export class MockSocket implements Socket {
  /** The socket is full from this number of unread bytes. */
  highWater = 4_096;
  /** Every buffer that was written, unchanged. */
  readonly writes: Buffer[] = [];
  /** Messages that the peer has read, oldest first. */
  readonly messages: Message[] = [];
  closed: CloseReason | undefined;
  terminated = false;
  /** The peer negotiated compression. */
  isDeflated = false;
  /** Makes the next write throw. */
  broken = false;
  progress = 0;
  readonly writable = true;
  readonly outlet = this;
  session: Session | undefined;
  onMessage: (message: Message) => void = () => {};
  #frozen = false;
  #full = false;
  #waiting: Buffer[] = [];

  /** Bytes that wait to be read. */
  get waitingBytes(): number {
    return this.#waiting.reduce((total, { length }) => total + length, 0);
  }

  write(opening: Buffer, shared?: Buffer): boolean {
    const bytes = shared ? Buffer.concat([opening, shared]) : opening;
    if (this.broken) throw new Error("the socket is broken");
    if (this.closed || this.terminated) throw new Error("a write after the close");
    this.writes.push(bytes);
    this.#waiting.push(bytes);
    if (!this.#frozen) this.#read();
    this.#full = this.waitingBytes >= this.highWater;
    return !this.#full;
  }

  /** Does nothing: `thaw` and `readOnce` notify the session whenever the socket was full. */
  awaitDrain(): void {}

  close(reason: CloseReason): void {
    this.closed ??= reason;
  }

  terminate(): void {
    this.terminated = true;
  }

  /** The peer stops reading. */
  freeze(): void {
    this.#frozen = true;
  }

  /** The peer reads again; if the socket was full, the session is notified. */
  thaw(): void {
    this.#frozen = false;
    this.#read();
    this.#notifyDrained();
  }

  /** The peer reads the waiting bytes once, even if it is frozen. */
  readOnce(): void {
    this.#read();
    this.#notifyDrained();
  }

  /** Ends the connection, as either side might. Unread bytes are lost. */
  end(): void {
    this.closed ??= "going-away";
    this.#waiting = [];
    this.session?.closed();
  }

  /** Messages of this type that were read. */
  of(type: string): readonly Message[] {
    return this.messages.filter((message) => message.type === type);
  }

  #read(): void {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.progress += bytes.length;
    for (const text of this.isDeflated ? textsOf(readServerFrames(bytes)) : decodeTextFrames(bytes)) {
      const message: Message = JSON.parse(text);
      checkMessage(message);
      this.messages.push(message);
      this.onMessage(message);
    }
  }

  #notifyDrained(): void {
    if (!this.#full) return;
    this.#full = false;
    this.session?.drained();
  }
}

/**
 * Returns the texts of uncompressed frames, as RFC 6455, 5.2, defines them. Throws on anything
 * else.
 */
export function decodeTextFrames(bytes: Buffer): readonly string[] {
  const frames = readServerFrames(bytes);
  if (frames.some(({ isDeflated }) => isDeflated)) throw new Error("a compressed frame");
  return textsOf(frames);
}
