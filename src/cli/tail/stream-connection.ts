import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { problemDetail, readRefusal } from "../../lib/io/read-refusal.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ConnectionEnd } from "./reconnect-plan.ts";
import { type Frame, readFrame } from "./stream-frames.ts";

/** One connection to a server's stream. */
interface ConnectionOptions {
  readonly url: URL;
  /** Goes into `Authorization`. */
  readonly key?: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with each frame. A promise stops the reading until it settles; an end ends the connection. */
  readonly onFrame: (frame: Frame) => Promise<void> | ConnectionEnd | undefined;
}

const HANDSHAKE_MS = 10_000;
/** Silence that is borne before the server has said how much there may be. */
const FIRST_SILENCE_MS = 35_000;
/** How often the connection looks whether the silence has lasted too long. */
const LOOK_MS = 1_000;
/** A snapshot may be large; a server that sends more than this means harm. */
const MAX_FRAME_BYTES = 64 * 1_048_576;

/** Connects, hands over frames, and resolves when the connection has ended, however it did. Never rejects, but with what `onFrame` rejects. */
export function connectOnce(options: ConnectionOptions): Promise<ConnectionEnd> {
  return new Promise((resolve, reject) => new Connection(options, resolve, reject));
}

class Connection {
  readonly #options: ConnectionOptions;
  readonly #socket: WebSocket;
  readonly #resolve: (end: ConnectionEnd) => void;
  readonly #reject: (error: unknown) => void;
  readonly #stop = () =>
    this.#finish({ kind: "closed", code: 1000, reason: "", subscribed: this.#subscribed });
  #silenceMs = FIRST_SILENCE_MS;
  #heardAtMs = 0;
  #stopLooking: () => void = () => {};
  #subscribed = false;
  #opened = false;
  #ended = false;
  #writing = 0;

  constructor(
    options: ConnectionOptions,
    resolve: (end: ConnectionEnd) => void,
    reject: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#socket = new WebSocket(options.url, "flarewire.v1", {
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      ...(options.key === undefined ? {} : { headers: { authorization: `Bearer ${options.key}` } }),
    });
    this.#socket
      .on("open", () => this.#open())
      .on("message", (data) => this.#receive(data.toString()))
      .on("close", (code, reason) =>
        this.#finish({ kind: "closed", code, reason: reason.toString(), subscribed: this.#subscribed }),
      )
      .on("unexpected-response", (_request, response) => void this.#refused(response))
      .on("error", (error) => {
        // Of an open socket the close event follows and tells more.
        if (!this.#opened) this.#finish({ kind: "unreachable", error });
      });
    options.signal.addEventListener("abort", this.#stop, { once: true });
    if (options.signal.aborted) this.#stop();
  }

  #open(): void {
    this.#opened = true;
    const { clock } = this.#options;
    this.#heardAtMs = clock.monotonic();
    this.#stopLooking = clock.every(LOOK_MS, () => this.#look());
  }

  #receive(text: string): void {
    const frame = readFrame(text);
    if (frame?.type === "hello") this.#silenceMs = frame.silence_limit_ms;
    if (frame?.type === "subscribed") this.#subscribed = true;
    this.#heardAtMs = this.#options.clock.monotonic();
    const taken = frame && this.#options.onFrame(frame);
    if (!taken) return;
    if ("kind" in taken) this.#finish(taken);
    else this.#waitFor(taken);
  }

  /** Stops reading until the output has room again: the server's log holds what follows, not our memory. */
  #waitFor(taken: Promise<void>): void {
    this.#writing += 1;
    this.#socket.pause();
    taken.then(
      () => {
        this.#writing -= 1;
        if (this.#writing > 0 || this.#ended) return;
        this.#socket.resume();
        this.#heardAtMs = this.#options.clock.monotonic();
      },
      (error: unknown) => {
        this.#end();
        this.#reject(error);
      },
    );
  }

  #look(): void {
    const afterMs = this.#silenceMs;
    if (this.#writing > 0 || this.#options.clock.monotonic() - this.#heardAtMs < afterMs) return;
    this.#finish({ kind: "silent", afterMs, subscribed: this.#subscribed });
  }

  async #refused(response: IncomingMessage): Promise<void> {
    const { status, body, retryAfterMs } = await readRefusal(response);
    this.#finish({ kind: "refused", status, detail: problemDetail(body), retryAfterMs });
  }

  #finish(end: ConnectionEnd): void {
    this.#end();
    this.#resolve(end);
  }

  #end(): void {
    this.#ended = true;
    this.#stopLooking();
    this.#options.signal.removeEventListener("abort", this.#stop);
    this.#socket.removeAllListeners();
    // Terminating a socket that is still connecting emits an error.
    this.#socket.on("error", () => {});
    this.#socket.terminate();
  }
}
