import { once } from "node:events";
import { WebSocket } from "ws";
import { z } from "zod";
import { Waiters } from "../../support/time/waiters.ts";

/** The fields of a message that freqtrade validates. It ignores empty lists. */
const Whitelist = z.object({ type: z.literal("whitelist"), data: z.array(z.string()).min(1) });

/** The requests of a stock consumer after it connected, in its order. */
export const REQUESTS = [
  { type: "subscribe", data: ["whitelist", "analyzed_df"] },
  { type: "whitelist" },
  { type: "analyzed_df", data: { limit: 1500 } },
] as const;

/** Stands in for freqtrade's `external_message_consumer`: its requests, and what it accepts. */
export class FreqtradeConsumer {
  readonly ws: WebSocket;
  /** Each list that it would have stored. */
  readonly lists: (readonly string[])[] = [];
  readonly ended: Promise<number>;
  readonly #waiters = new Waiters(() => this.lists);

  /** `token`: the text after `token=` in its URL, where freqtrade inserts it unchanged. */
  constructor(port: number, token: string, headers: Record<string, string> = {}) {
    this.ws = new WebSocket(`ws://127.0.0.1:${port}/api/v1/message/ws?token=${token}`, { headers });
    this.ws.on("message", (data, isBinary) => {
      if (isBinary) throw new Error("freqtrade reads text only");
      this.lists.push(Whitelist.parse(JSON.parse(String(data))).data);
      this.#waiters.look();
    });
    this.ended = once(this.ws, "close").then(([code]) => code);
    this.ended.catch(() => {});
  }

  /** Connects and sends the first requests. */
  async start(): Promise<this> {
    await once(this.ws, "open");
    for (const request of REQUESTS) this.send(request);
    await this.until(1);
    return this;
  }

  send(request: unknown): void {
    this.ws.send(JSON.stringify(request));
  }

  async until(lists: number): Promise<void> {
    await this.#waiters.until(() => this.lists.length >= lists, `${lists} lists`);
  }

  /** Resolves once everything that was sent before has been read. */
  async settled(): Promise<void> {
    this.ws.ping();
    await once(this.ws, "pong");
  }

  /** Status of the refused handshake. */
  async refusal(): Promise<{ readonly status: number | undefined; readonly retryAfter: string | undefined }> {
    const [, response] = await once(this.ws, "unexpected-response");
    this.ws.on("error", () => {});
    response.resume();
    return { status: response.statusCode, retryAfter: response.headers["retry-after"] };
  }
}
