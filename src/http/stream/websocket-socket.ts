import type { Duplex } from "node:stream";
import { type RawData, WebSocket } from "ws";
import type { Session, Socket } from "../../hub/index.ts";
import { CLOSE_CODES, type CloseReason } from "../../protocol/index.ts";
import { unsentBytes } from "./unsent-bytes.ts";
import type { PingTarget, WebSocketPings } from "./websocket-pings.ts";

/** Pongs that wait for the socket at most, with 125 bytes each. */
const MAX_WAITING_PONGS = 60;

const TOO_BIG = CLOSE_CODES["message-too-big"];

/** RFC 6455's code for a message above the limit, which `ws` sends by itself before anyone is told. */
const RFC_TOO_BIG = 1009;

/** A `ws` socket that says "too big" as the protocol does: with the code whose range tells the client to stop. */
export class StreamWebSocket extends WebSocket {
  /** The hub's view of it, once there is one. Told before a close frame goes out: `ws` sends one by itself when the client does, and when it cannot read what the client sent. */
  owner: WebSocketSocket | undefined;

  override close(code?: number, reason?: string | Buffer): void {
    this.owner?.closing();
    if (code === RFC_TOO_BIG) super.close(TOO_BIG.code, "message-too-big");
    else super.close(code, reason);
  }
}

/** Of `ws` with compression: what inflates the messages of a client. The types do not know it. */
interface Inflating {
  cleanup(): void;
}

function isInflating(value: unknown): value is Inflating {
  return typeof value === "object" && value !== null && "cleanup" in value;
}

/**
 * Lets go of what inflated a client's message, about 15 KiB that `ws` would else keep for the next one until the connection ends: nothing of it is needed,
 * as nothing is taken over from one message to the next, and most clients send a message or none. To be called behind a whole message.
 */
function releaseInflater(this: WebSocket): void {
  const extensions: unknown = Reflect.get(this, "_extensions");
  if (typeof extensions !== "object" || extensions === null) return;
  const deflate: unknown = Reflect.get(extensions, "permessage-deflate");
  if (isInflating(deflate)) deflate.cleanup();
}

/*
 * One function each for all connections: a closure each would be memory that ten thousand idle clients cost.
 */
function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  ownerOf(this)?.received(data, isBinary);
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
 * One WebSocket as the hub sees it. `ws` keeps handshake, parsing, ping, pong and close; events are frames that the hub has
 * built and that many sockets share, so they are written to the raw socket. Both write to the same stream, and `ws`, which compresses
 * nothing here, holds nothing back, so the order of the calls is the order on the wire.
 */
export class WebSocketSocket implements Socket, PingTarget {
  /** See PingTarget. */
  pingSlot = 0;
  /** See PingTarget. */
  awaitsPong = false;
  readonly #ws: StreamWebSocket;
  readonly #raw: Duplex;
  #session: Session | undefined;
  /** Known here, so that a write need not look at the `ws` socket. */
  #isClosing = false;
  #pings: WebSocketPings | undefined;
  #awaitsDrain = false;
  #waitingPongs = 0;
  /** The newest ping that got no pong yet, because enough of them wait. */
  #unansweredPing: Buffer | undefined;

  constructor(ws: StreamWebSocket, raw: Duplex) {
    this.#ws = ws;
    this.#raw = raw;
    ws.owner = this;
  }

  /** Calls the session with what happens to the connection, from now on, and has it pinged until it is over. */
  attach(session: Session, pings: WebSocketPings): void {
    this.#session = session;
    this.#pings = pings;
    this.#ws
      .on("message", onMessage)
      .on("ping", onPing)
      .on("pong", onPong)
      .on("close", onClose)
      .on("error", onError);
    if (this.#ws.extensions !== "") this.#ws.on("message", releaseInflater);
    pings.add(this);
  }

  /** A message came in. */
  received(data: RawData, isBinary: boolean): void {
    if (isBinary) this.#session?.receiveBinary();
    else this.#session?.receiveText(String(data));
  }

  /**
   * Answers a ping. While {@link MAX_WAITING_PONGS} wait to be sent, only the newest ping is remembered and answered later, as
   * RFC 6455, 5.5.3, permits: a client may send any number of pings at once, and its memory here stays bounded.
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

  /** The connection is over. */
  closed(): void {
    this.#session?.closed();
    this.#pings?.remove(this);
  }

  /** What came in cannot be taken. `ws` has sent its close frame already; the session only has to know that it is over. */
  failed(error: Error): void {
    if ("code" in error && error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") this.#session?.oversize();
    else this.#session?.close("bad-request");
  }

  /** See Socket. Full is what Node calls so: the socket's high-water mark, 64 KiB, is what waits in this process at most, and one batch. */
  write(bytes: Buffer): boolean {
    if (this.#isClosing || !this.#raw.writable || this.#raw.write(bytes)) return true;
    this.#awaitDrain();
    return false;
  }

  /** A close frame is about to go out: nothing may follow it. */
  closing(): void {
    this.#isClosing = true;
  }

  /** Most connections are never full: they need no listener for it. */
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

  /** See Socket. */
  get progress(): number {
    return unsentBytes(this.#raw) ?? -this.#raw.writableLength;
  }

  /** See PingTarget. */
  ping(): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.ping();
  }

  /** See PingTarget. Who is slow to take what was written is slow to see the ping behind it, and has a limit of its own. */
  lost(): void {
    if (this.#session && !this.#session.isBehind) this.#session.close("heartbeat-lost");
  }
}
