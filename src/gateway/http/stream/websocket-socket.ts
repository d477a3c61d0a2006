import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { CLOSE_CODES, type CloseReason } from "../../../base/protocol/index.ts";
import type { Session, Socket } from "../../hub/index.ts";
import { releaseInflater, unsentBytes } from "../connections/node-internals.ts";
import type { PingTarget, WebSocketPings } from "./websocket-pings.ts";

/** Maximum number of queued pongs, each of at most 125 bytes. */
const MAX_WAITING_PONGS = 60;

const TOO_BIG = CLOSE_CODES["message-too-big"];

/** RFC 6455's code for an oversized message. `ws` closes with it before it emits `error`. */
const RFC_TOO_BIG = 1009;

/** A listener of a connection's end. */
export type EndListener = ReturnType<Duplex["listeners"]>[number];
const NONE: readonly EndListener[] = [];

/** The part of a session that a socket notifies. */
export type SocketSession = Pick<
  Session,
  "receiveText" | "receiveBinary" | "oversize" | "drained" | "silence" | "close" | "closed" | "isBehind"
>;

/** A `ws` socket that closes with Flarewire's code, and not 1009, after an oversized message. */
export class StreamWebSocket extends WebSocket {
  /** The hub's adapter. It is notified before each close frame, even if `ws` sends it itself. */
  owner: WebSocketSocket | undefined;

  /** Notifies the owner of events. Listeners would cost memory for each idle client. */
  override emit(event: string | symbol, ...args: readonly unknown[]): boolean {
    const { owner } = this;
    const [data, isBinary] = args;
    if (event === "message") owner?.received(data, isBinary === true);
    else if (event === "ping" && Buffer.isBuffer(data)) owner?.pinged(data);
    else if (event === "pong" && owner) owner.awaitsPong = false;
    else if (event === "close") owner?.closed();
    else if (event === "error" && owner) owner.failed(data);
    else return super.emit(event, ...args);
    return true;
  }

  override close(code?: number, reason?: string | Buffer): void {
    this.owner?.closing();
    if (code === RFC_TOO_BIG) super.close(TOO_BIG.code, "message-too-big");
    else super.close(code, reason);
  }
}

/**
 * Adapts one WebSocket to the hub's socket. `ws` does the handshake, the parsing and the control
 * frames. The hub's frames bypass it. They stay in order with control frames: `ws` delays one only
 * while it compresses a message of its own, and here it sends no messages.
 */
export class WebSocketSocket implements Socket, PingTarget {
  pingSecond = 0;
  awaitsPong = false;
  readonly outlet: Duplex;
  readonly #ws: StreamWebSocket;
  #session: SocketSession | undefined;
  #pings: WebSocketPings | undefined;
  #ends: readonly EndListener[] = NONE;
  #awaitsDrain = false;
  #waitingPongs = 0;
  /** The newest ping without a pong, while MAX_WAITING_PONGS are queued. */
  #unansweredPing: Buffer | undefined;

  constructor(ws: StreamWebSocket, raw: Duplex) {
    this.#ws = ws;
    this.outlet = raw;
    ws.owner = this;
  }

  /**
   * From now on, forwards events to the session, and pings the client until the connection ends.
   * Then calls `ends` on it.
   */
  attach(session: SocketSession, pings: WebSocketPings, ends: readonly EndListener[] = []): void {
    this.#session = session;
    this.#pings = pings;
    this.#ends = ends;
    pings.add(this);
  }

  received(data: unknown, isBinary: boolean): void {
    if (isBinary) this.#session?.receiveBinary();
    else this.#session?.receiveText(String(data));
    if (this.#ws.extensions !== "") releaseInflater(this.#ws);
  }

  /**
   * Answers a ping. While {@link MAX_WAITING_PONGS} pongs are queued, keeps only the newest ping
   * and answers it later (RFC 6455, 5.5.3). This limits the memory that a client can take.
   */
  pinged(data: Buffer): void {
    if (this.#ws.readyState !== WebSocket.OPEN) return;
    if (this.#waitingPongs >= MAX_WAITING_PONGS) {
      this.#unansweredPing = data;
      return;
    }
    this.#waitingPongs += 1;
    this.#ws.pong(data, false, () => {
      this.#waitingPongs -= 1;
      const unanswered = this.#unansweredPing;
      this.#unansweredPing = undefined;
      if (unanswered) this.pinged(unanswered);
    });
  }

  closed(): void {
    this.#session?.closed();
    this.#pings?.remove(this);
    for (const end of this.#ends) end.call(this.outlet);
  }

  /** Handles an invalid message. `ws` has already sent the close frame. */
  failed(error: unknown): void {
    if (error instanceof Error && "code" in error && error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH")
      this.#session?.oversize();
    else this.#session?.close("bad-request");
  }

  write(bytes: Buffer, shared?: Buffer): boolean {
    if (!this.outlet.writable) return true;
    if (shared) this.outlet.write(bytes);
    if (this.outlet.write(shared ?? bytes)) return true;
    this.awaitDrain();
    return false;
  }

  /** Handles an outgoing close frame, after which nothing may be sent. */
  closing(): void {
    this.#session?.silence();
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

  close(reason: CloseReason): void {
    this.#ws.close(CLOSE_CODES[reason].code, reason);
  }

  terminate(): void {
    this.#ws.terminate();
  }

  get progress(): number {
    return unsentBytes(this.outlet) ?? -this.outlet.writableLength;
  }

  ping(): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.ping();
  }

  /**
   * Closes the connection, unless the session is behind: a slow reader sees the ping late, so only
   * the hub's `slow-consumer` limit applies to it.
   */
  lost(): void {
    if (this.#session && !this.#session.isBehind) this.#session.close("heartbeat-lost");
  }
}
