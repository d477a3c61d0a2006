import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { problemDetail, readRefusal } from "../../base/lib/io/read-refusal.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { LeaderEnd } from "./leader-wait.ts";

interface LeaderConnectionOptions {
  readonly url: URL;
  readonly key: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with each message's text. A returned value ends the connection. Must not throw. */
  readonly onText: (text: string) => LeaderEnd | undefined;
  /** Returns the current maximum silence in milliseconds. */
  readonly silenceMs: () => number;
}

const HANDSHAKE_MS = 10_000;
/** Snapshots may be large, but a server that sends more than this is malicious. */
const MAX_FRAME_BYTES = 64 * 2 ** 20;
const TICK_MS = 500;

/** Connects and hands over messages. Resolves when the connection ends; never rejects. */
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
      // A redirect would reveal the key to another host, and take events from it.
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
          this.#finish({ kind: "incompatible", reason: error.message });
      });
    this.#stopTimer = clock.every(TICK_MS, () => this.#check());
    signal.addEventListener("abort", this.#stop, { once: true });
    if (signal.aborted) this.#stop();
  }

  #receive(text: string | undefined): void {
    this.#heardAtMs = this.#options.clock.monotonic();
    const end =
      text === undefined
        ? ({ kind: "incompatible", reason: "it sent a binary message" } as const)
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

  /** Redacts the key, which a proxy may echo. The detail goes to the log and to clients. */
  #detailOf(body: string): string {
    const { key } = this.#options;
    return problemDetail(key === undefined ? body : body.replaceAll(key, "***"));
  }

  #finish(end: LeaderEnd): void {
    this.#stopTimer();
    this.#options.signal.removeEventListener("abort", this.#stop);
    this.#socket.removeAllListeners();
    // Terminating a connecting socket emits an error.
    this.#socket.on("error", () => {});
    this.#socket.terminate();
    this.#resolve(end);
  }
}
