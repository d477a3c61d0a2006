import type { Session, Socket } from "../../src/hub/index.ts";
import type { CloseReason } from "../../src/protocol/index.ts";
import { readServerFrames, textsOf } from "../support/clients/server-frames.ts";
import { checkMessage } from "../support/expect/contract.ts";

export type Message = Readonly<Record<string, unknown>> & { readonly type: string };

/** A socket in memory: what the hub writes arrives at once, or when the peer reads again. */
export class MockSocket implements Socket {
  /** Bytes waiting from which it is full. */
  highWater = 4_096;
  /** Every buffer that was written, as it was given. */
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
  session: Session | undefined;
  onMessage: (message: Message) => void = () => {};
  #frozen = false;
  #full = false;
  #waiting: Buffer[] = [];

  /** Bytes that wait to be read. */
  get waitingBytes(): number {
    return this.#waiting.reduce((total, { length }) => total + length, 0);
  }

  write(bytes: Buffer): boolean {
    if (this.broken) throw new Error("the socket is broken");
    if (this.closed || this.terminated) throw new Error("a write behind the close frame");
    this.writes.push(bytes);
    this.#waiting.push(bytes);
    if (!this.#frozen) this.#read();
    this.#full = this.waitingBytes >= this.highWater;
    return !this.#full;
  }

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

  /** The peer reads again; if the socket was full, the session hears that it is not. */
  thaw(): void {
    this.#frozen = false;
    this.#read();
    this.#tellDrained();
  }

  /** The peer reads what waits, and then stops again. */
  readOnce(): void {
    this.#read();
    this.#tellDrained();
  }

  /** The connection ends, whichever side ended it; what was not read is lost. */
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

  #tellDrained(): void {
    if (!this.#full) return;
    this.#full = false;
    this.session?.drained();
  }
}

/**
 * The texts of frames as RFC 6455, 5.2, describes them, none of which is compressed; throws on
 * anything else.
 */
export function decodeTextFrames(bytes: Buffer): readonly string[] {
  const frames = readServerFrames(bytes);
  if (frames.some(({ isDeflated }) => isDeflated)) throw new Error("a compressed frame");
  return textsOf(frames);
}
