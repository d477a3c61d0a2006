import type { Duplex } from "node:stream";
import { type RawData, WebSocket } from "ws";
import { CLOSE_CODES, type CloseReason } from "../../../base/protocol/index.ts";
import type { Session, Socket } from "../../hub/index.ts";
import { releaseInflater, unsentBytes } from "../connections/node-internals.ts";
import type { PingTarget, WebSocketPings } from "./websocket-pings.ts";

/** Maximum number of queued pongs, each of at most 125 bytes. */
const MAX_WAITING_PONGS = 60;

const TOO_BIG = CLOSE_CODES["message-too-big"];

/** RFC 6455's code for an oversized message. `ws` closes with it before it emits `error`. */
const RFC_TOO_BIG = 1009;

/** The part of a session that a socket notifies. */
export type SocketSession = Pick<
  Session,
  "receiveText" | "receiveBinary" | "oversize" | "drained" | "close" | "closed" | "isBehind"
>;

/** A `ws` socket that closes with Flarewire's code, and not 1009, after an oversized message. */
export class StreamWebSocket extends WebSocket {
  /** The hub's adapter. It is notified before each close frame, even if `ws` sends it itself. */
  owner: WebSocketSocket | undefined;

  override close(code?: number, reason?: string | Buffer): void {
    this.owner?.closing();
    if (code === RFC_TOO_BIG) super.close(TOO_BIG.code, "message-too-big");
    else super.close(code, reason);
  }
}

/*
 * All connections share these functions, because closures would cost memory for each idle client.
 */
function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  ownerOf(this)?.received(data, isBinary);
}

function onCompressed(this: WebSocket): void {
  releaseInflater(this);
}

function onPong(this: WebSocket): void {
  const owner = ownerOf(this);
  if (owner) owner.awaitsPong = false;
}

function onPing(this: WebSocket, data: Buffer): void {
  ownerOf(this)?.pinged(data);
}

function onClose(this: WebSocket): void {
  ownerOf(this)?.closed();
}

function onError(this: WebSocket, error: Error): void {
  ownerOf(this)?.failed(error);
}

function ownerOf(ws: WebSocket): WebSocketSocket | undefined {
  return ws instanceof StreamWebSocket ? ws.owner : undefined;
}

/**
 * Adapts one WebSocket to the hub's socket. `ws` does the handshake, the parsing and the control
 * frames. The hub's frames bypass it. They stay in order with control frames: `ws` delays one only
 * while it compresses a message of its own, and here it sends no messages.
 */
export class WebSocketSocket implements Socket, PingTarget {
  pingSecond = 0;
  awaitsPong = false;
  readonly #ws: StreamWebSocket;
  readonly #raw: Duplex;
  #session: SocketSession | undefined;
  /** Whether a close frame was sent. Stored here, so that each write need not ask `ws`. */
  #isClosing = false;
  #pings: WebSocketPings | undefined;
  #awaitsDrain = false;
  #waitingPongs = 0;
  /** The newest ping without a pong, while MAX_WAITING_PONGS are queued. */
  #unansweredPing: Buffer | undefined;

  constructor(ws: StreamWebSocket, raw: Duplex) {
    this.#ws = ws;
    this.#raw = raw;
    ws.owner = this;
  }

  /**
   * From now on, forwards events to the session, and pings the client until the connection ends.
   */
  attach(session: SocketSession, pings: WebSocketPings): void {
    this.#session = session;
    this.#pings = pings;
    this.#ws
      .on("message", onMessage)
      .on("ping", onPing)
      .on("pong", onPong)
      .on("close", onClose)
      .on("error", onError);
    if (this.#ws.extensions !== "") this.#ws.on("message", onCompressed);
    pings.add(this);
  }

  received(data: RawData, isBinary: boolean): void {
    if (isBinary) this.#session?.receiveBinary();
    else this.#session?.receiveText(String(data));
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
  }

  /** Handles an invalid message. `ws` has already sent the close frame. */
  failed(error: Error): void {
    if ("code" in error && error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") this.#session?.oversize();
    else this.#session?.close("bad-request");
  }

  write(bytes: Buffer, shared?: Buffer): boolean {
    if (this.#isClosing || !this.#raw.writable) return true;
    if (shared) this.#raw.write(bytes);
    if (this.#raw.write(shared ?? bytes)) return true;
    this.#awaitDrain();
    return false;
  }

  /** Handles an outgoing close frame, after which nothing may be sent. */
  closing(): void {
    this.#isClosing = true;
  }

  /** Adds a drain listener only when needed, because most connections are never full. */
  #awaitDrain(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.#raw.once("drain", () => {
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
    return unsentBytes(this.#raw) ?? -this.#raw.writableLength;
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
