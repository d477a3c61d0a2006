import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import { eventually } from "../time/waiters.ts";

/**
 * A client that reconnects with its cursor until it is accepted, and reports each gap or repeated
 * event. It is light enough for hundreds of them.
 */
export class ComingClient {
  /** Seqs in order of arrival, over all connections. */
  readonly seqs: number[] = [];
  /** `Retry-After` of each refusal. */
  readonly refusals: string[] = [];
  /** Result of each subscription: `full` or `reset`. */
  readonly resumed: string[] = [];
  cursor: string;
  /** Close code of the last connection that ended. */
  closeCode: number | undefined;
  ws: WebSocket | undefined;
  readonly #url: string;
  readonly #onFault: (fault: string) => void;

  /**
   * @param url The stream's URL, with its query.
   * @param cursor Starting position; empty: at the head.
   */
  constructor(url: string, cursor: string, onFault: (fault: string) => void) {
    this.#url = url;
    this.#onFault = onFault;
    this.cursor = cursor;
  }

  /**
   * Connects once, over `socket` if given. Resolves with true on `subscribed`, and with false if
   * the connection is refused or ends.
   */
  ask(socket?: Socket): Promise<boolean> {
    const after = this.cursor === "" ? "" : `&after=${this.cursor}`;
    const ws = new WebSocket(`${this.#url}${after}`, socket ? { createConnection: () => socket } : {});
    this.ws = ws;
    return new Promise((resolve) => {
      ws.on("unexpected-response", (_request, response) => {
        const retry = String(response.headers["retry-after"]);
        if (response.statusCode !== 503) this.#onFault(`refused with ${response.statusCode}`);
        this.refusals.push(retry);
        ws.terminate();
        resolve(false);
      });
      ws.on("message", (data) => {
        const message = JSON.parse(String(data));
        if (message.type === "subscribed") {
          this.resumed.push(message.resumed);
          resolve(true);
        }
        if (message.type === "event") this.#event(message);
        if (message.cursor !== undefined && message.type !== "hello") this.cursor = message.cursor;
      });
      ws.on("close", (code) => {
        this.closeCode = code;
        resolve(false);
      });
      ws.on("error", () => resolve(false));
    });
  }

  /** Reconnects until it is accepted. */
  async comeBack(socket?: Socket): Promise<void> {
    for (let first = socket; !(await this.ask(first)); first = undefined);
  }

  /** Resolves when the connection has closed. */
  async ended(): Promise<void> {
    const { ws } = this;
    if (!ws || ws.readyState === WebSocket.CLOSED) return;
    await new Promise((resolve) => ws.once("close", resolve));
  }

  #event({ seq, prev }: { seq: number; prev: number }): void {
    const held = Number(this.cursor.split("-")[1]);
    if (seq <= held) this.#onFault(`event ${seq} was repeated after ${held}`);
    if (prev > held) this.#onFault(`gap: event ${seq} follows ${prev}, but the client is at ${held}`);
    this.seqs.push(seq);
  }
}

/**
 * Opens connections on which the server has already answered a request, so that all can send
 * another at the same moment. It serves new ones a few at a time.
 * @param accepted Returns the number of connections that the server has accepted.
 */
export async function openSockets(
  port: number,
  count: number,
  accepted: () => number,
): Promise<readonly Socket[]> {
  const before = accepted();
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  await eventually(() => accepted() >= before + count, accepted, { what: `${count} accepted sockets` });
  const answers = sockets.map(async (socket) => {
    socket.write("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "data");
  });
  await Promise.all(answers);
  return sockets;
}
