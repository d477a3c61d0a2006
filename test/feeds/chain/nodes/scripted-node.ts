import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

export const CHAIN = 56;
export const BROKEN: Answer = { status: 500 };
export const BUSY: Answer = { status: 429 };

export type Answer =
  | { readonly result: unknown }
  /** The result as JSON. */
  | { readonly resultText: string }
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly status: number; readonly retryAfter?: string };

/** The root of the receipts of a block without any: the hash of an empty trie. */
const EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

/** Returns the hash of a block on a branch, which a hexadecimal digit names. */
export function hashOn(branch: string, number: number): string {
  return `0x${branch.repeat(8)}${number.toString(16).padStart(56, "0")}`;
}

/** A node on loopback with empty blocks. The test can replace any response. */
export class ScriptedNode implements AsyncDisposable {
  readonly asked: string[] = [];
  head = 100;
  /** Blocks between the final block that it reports and its head. */
  finality = 2;
  chainId = CHAIN;
  /** Returns a response that replaces the default one; `undefined` for the default. */
  answer: ((method: string, params: readonly unknown[]) => Answer | Promise<Answer> | undefined) | undefined;
  #isDown = false;
  /** Returns the branch of the block with that number. */
  branchAt: (number: number) => string = () => "a";
  /** Returns the block's time, in seconds since 1970. */
  secondAt: (number: number) => number = (number) => 1_700_000_000 + number;
  readonly #server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += String(part);
    if (this.#isDown) return response.destroy();
    // A response that a test forwards fails if the other node ends first.
    const reply = await this.#handle(text).catch(() => undefined);
    if (!reply) return response.destroy();
    const { id, answer } = reply;
    if ("status" in answer) {
      const { status, retryAfter } = answer;
      response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end("no");
    } else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(textOf(id, answer));
    }
  });
  readonly #sockets = new WebSocketServer({ server: this.#server });

  async listen(): Promise<this> {
    this.#sockets.on("connection", (socket) => {
      if (this.#isDown) return socket.terminate();
      socket.on("message", async (data) => {
        const reply = await this.#handle(String(data)).catch(() => undefined);
        if (!reply) return socket.terminate();
        socket.send(textOf(reply.id, reply.answer));
      });
    });
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of open WebSockets. */
  get openSockets(): number {
    return this.#sockets.clients.size;
  }

  /** Pushes a new head to WebSocket subscribers. */
  tellHead(head: number, subscription = "0x"): void {
    this.head = head;
    const params = { subscription, result: { number: `0x${head.toString(16)}` } };
    for (const socket of this.#sockets.clients)
      socket.send(JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params }));
  }

  count(method: string): number {
    return this.asked.filter((one) => one === method).length;
  }

  /** Returns a block's header as served. */
  headerOf(number: number): Readonly<Record<string, unknown>> {
    const before = Math.max(0, number - 1);
    return {
      number: `0x${number.toString(16)}`,
      hash: hashOn(this.branchAt(number), number),
      parentHash: hashOn(this.branchAt(before), before),
      timestamp: `0x${this.secondAt(number).toString(16)}`,
      receiptsRoot: EMPTY_ROOT,
      transactions: [],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Closes every connection until it is set to false. */
  set isDown(isDown: boolean) {
    this.#isDown = isDown;
    if (!isDown) return;
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.closeAllConnections();
  }

  async #handle(text: string): Promise<{ readonly id: unknown; readonly answer: Answer }> {
    const { id, method, params } = JSON.parse(text);
    this.asked.push(method);
    return { id, answer: (await this.answer?.(method, params)) ?? { result: this.#usual(method, params) } };
  }

  #usual(method: string, [id]: readonly unknown[]): unknown {
    if (method === "eth_chainId") return `0x${this.chainId.toString(16)}`;
    if (id === "finalized") return this.headerOf(this.head - this.finality);
    if (method === "eth_blockNumber") return `0x${this.head.toString(16)}`;
    if (method === "eth_getBlockReceipts") return [];
    return method === "eth_getBlockByNumber" ? this.headerOf(Number(id)) : "0x";
  }
}

function textOf(id: unknown, answer: Answer): string {
  if (!("resultText" in answer)) return JSON.stringify({ jsonrpc: "2.0", id, ...answer });
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${answer.resultText}}`;
}
