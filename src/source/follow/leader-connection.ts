import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { problemDetail, readRefusal } from "../../lib/io/read-refusal.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { LeaderEnd } from "./leader-wait.ts";

/** One connection to a leader. */
export interface LeaderConnectionOptions {
  readonly url: URL;
  readonly key: string | undefined;
  readonly clock: Clock;
  /** Ends the connection. */
  readonly signal: AbortSignal;
  /** Called with each message's text. What it returns ends the connection. Must not throw. */
  readonly onText: (text: string) => LeaderEnd | undefined;
  /** Milliseconds of silence that are borne now. */
  readonly silenceMs: () => number;
}

const HANDSHAKE_MS = 10_000;
/** A snapshot may be large; a server that sends more than this means harm. */
const MAX_FRAME_BYTES = 64 * 2 ** 20;
const TICK_MS = 500;

/** Connects, hands over messages, and resolves when the connection has ended, however it did; never rejects. */
export function followOnce(options: LeaderConnectionOptions): Promise<LeaderEnd> {
  return new Promise((resolve) => new LeaderConnection(options, resolve));
}

class LeaderConnection {
  readonly #options: LeaderConnectionOptions;
  readonly #socket: WebSocket;
  readonly #resolve: (end: LeaderEnd) => void;
  readonly #stop = () => this.#finish({ kind: "closed", code: 1000 });
  readonly #stopTimer: () => void;
  #heardAtMs: number;
  #opened = false;

  constructor(options: LeaderConnectionOptions, resolve: (end: LeaderEnd) => void) {
    const { clock, key, signal } = options;
    this.#options = options;
    this.#resolve = resolve;
    this.#heardAtMs = clock.monotonic();
    this.#socket = new WebSocket(options.url, "flarewire.v1", {
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      // Neither the events nor the key are anybody else's.
      followRedirects: false,
      ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
    });
    this.#socket
      .on("open", () => {
        this.#opened = true;
      })
      .on("message", (data, isBinary) => this.#receive(isBinary ? undefined : data.toString()))
      .on("close", (code) => this.#finish({ kind: "closed", code }))
      .on("unexpected-response", (_request, response) => void this.#refused(response))
      .on("error", (error) => {
        if (!this.#opened) this.#finish({ kind: "unreachable", reason: error.message || error.name });
        else if ("code" in error && String(error.code).startsWith("WS_ERR"))
          this.#finish({ kind: "unfit", reason: error.message });
      });
    this.#stopTimer = clock.every(TICK_MS, () => this.#check());
    signal.addEventListener("abort", this.#stop, { once: true });
    if (signal.aborted) this.#stop();
  }

  #receive(text: string | undefined): void {
    this.#heardAtMs = this.#options.clock.monotonic();
    const end =
      text === undefined
        ? ({ kind: "unfit", reason: "it sends binary messages" } as const)
        : this.#options.onText(text);
    if (end) this.#finish(end);
  }

  #check(): void {
    const afterMs = this.#options.silenceMs();
    if (this.#options.clock.monotonic() - this.#heardAtMs > afterMs)
      this.#finish({ kind: "silent", afterMs });
  }

  async #refused(response: IncomingMessage): Promise<void> {
    const { status, body, retryAfterMs = 0 } = await readRefusal(response);
    this.#finish({ kind: "refused", status, detail: this.#detailOf(body), retryAfterMs });
  }

  /** What is in between may repeat what it was sent; the detail goes into the log, and to clients. */
  #detailOf(body: string): string {
    const { key } = this.#options;
    return problemDetail(key === undefined ? body : body.replaceAll(key, "***"));
  }

  #finish(end: LeaderEnd): void {
    this.#stopTimer();
    this.#options.signal.removeEventListener("abort", this.#stop);
    this.#socket.removeAllListeners();
    // Terminating a socket that is still connecting emits an error.
    this.#socket.on("error", () => {});
    this.#socket.terminate();
    this.#resolve(end);
  }
}
