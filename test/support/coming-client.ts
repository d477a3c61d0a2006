import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import { eventually } from "./waiters.ts";

/**
 * A client that comes back with its cursor, is refused, comes again, and holds the server to its
 * word: no hole, no repeat. Light enough for hundreds of them.
 */
export class ComingClient {
  /** Seqs in the order in which they came, over all connections. */
  readonly seqs: number[] = [];
  /** `Retry-After` of each refusal. */
  readonly refusals: string[] = [];
  /** What it received with each connection: `full` or `reset`. */
  readonly resumed: string[] = [];
  cursor: string;
  /** Of the last connection that ended. */
  closeCode: number | undefined;
  ws: WebSocket | undefined;
  readonly #url: string;
  readonly #onFault: (fault: string) => void;

  /** `url`: the stream's, with its query; `cursor`: where it continues; empty: at the head. */
  constructor(url: string, cursor: string, onFault: (fault: string) => void) {
    this.#url = url;
    this.#onFault = onFault;
    this.cursor = cursor;
  }

  /**
   * Asks once, over `socket` if there is one. Resolves with true when it is answered with its
   * place, with false when it was refused or cut.
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

  /** Comes again until it is in. */
  async comeBack(socket?: Socket): Promise<void> {
    for (let first = socket; !(await this.ask(first)); first = undefined);
  }

  /** Resolves when the connection is over. */
  async ended(): Promise<void> {
    const { ws } = this;
    if (!ws || ws.readyState === WebSocket.CLOSED) return;
    await new Promise((resolve) => ws.once("close", resolve));
  }

  #event({ seq, prev }: { seq: number; prev: number }): void {
    const held = Number(this.cursor.split("-")[1]);
    if (seq <= held) this.#onFault(`event ${seq} came again after ${held}`);
    if (prev > held) this.#onFault(`hole: event ${seq} follows ${prev}, held was ${held}`);
    this.seqs.push(seq);
  }
}

/**
 * Connections that the server has accepted, and over which nothing was said yet, so that all can
 * ask in one moment. `accepted`: how many the server has.
 */
export async function openSockets(
  port: number,
  count: number,
  accepted: () => number,
): Promise<readonly Socket[]> {
  const before = accepted();
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  await eventually(() => accepted() >= before + count, accepted, { what: `${count} accepted sockets` });
  return sockets;
}
