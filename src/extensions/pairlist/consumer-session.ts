import type { CloseReason } from "../../base/protocol/index.ts";
import type { SocketSession } from "../../gateway/http/index.ts";
import { type Socket, TokenBucket } from "../../gateway/hub/index.ts";
import type { PairQuery } from "./pair-query.ts";

/** The parts of the server that a session uses. */
export interface ConsumerHost {
  /** Returns the frame with the pairs that the query selects now. */
  frameOf(query: PairQuery): Buffer;
  gone(session: ConsumerSession): void;
  monotonicMs(): number;
  readonly limits: { readonly commandsPerSecond: number; readonly commandsBurst: number };
}

/** The only published topic. Consumers may name others, which are ignored. */
const TOPIC = "whitelist";

/** A connected freqtrade. Ignores unknown requests, as freqtrade's own producer does. */
export class ConsumerSession implements SocketSession {
  readonly query: PairQuery;
  /** Always false: at most one frame waits, and pings detect a dead connection. */
  readonly isBehind = false;
  readonly #host: ConsumerHost;
  readonly #socket: Socket;
  readonly #bucket: TokenBucket;
  #follows = false;
  #isFull = false;
  #isClosing = false;
  /** The newest frame, sent when the socket has room again. It replaces older ones. */
  #waiting: Buffer | undefined;

  constructor(host: ConsumerHost, socket: Socket, query: PairQuery) {
    this.#host = host;
    this.#socket = socket;
    this.query = query;
    const { commandsPerSecond, commandsBurst } = host.limits;
    this.#bucket = new TokenBucket(commandsPerSecond, commandsBurst, host.monotonicMs());
  }

  receiveText(text: string): void {
    if (this.#isClosing) return;
    if (!this.#bucket.take(this.#host.monotonicMs())) {
      this.close("rate-limited");
      return;
    }
    const { type, data } = readRequest(text);
    if (type === "subscribe") this.#follows = Array.isArray(data) && data.includes(TOPIC);
    if (type === TOPIC) this.#write(this.#host.frameOf(this.query));
  }

  receiveBinary(): void {
    this.close("bad-request");
  }

  oversize(): void {
    this.close("message-too-big");
  }

  /** Sends changed pairs, if the consumer subscribed to them. */
  publish(frame: Buffer): void {
    if (this.#follows) this.#write(frame);
  }

  drained(): void {
    this.#isFull = false;
    const frame = this.#waiting;
    this.#waiting = undefined;
    if (frame) this.#write(frame);
  }

  silence(): void {
    this.#isClosing = true;
  }

  close(reason: CloseReason): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#socket.close(reason);
  }

  closed(): void {
    this.#isClosing = true;
    this.#host.gone(this);
  }

  #write(frame: Buffer): void {
    if (this.#isClosing) return;
    if (this.#isFull) this.#waiting = frame;
    else this.#isFull = !this.#socket.write(frame);
  }
}

function readRequest(text: string): { readonly type?: unknown; readonly data?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
