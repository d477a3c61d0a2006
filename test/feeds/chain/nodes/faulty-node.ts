import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import * as Hex from "ox/Hex";
import { decodeResults, encodeResults } from "../../../support/world/multicall.ts";
import { post } from "./post.ts";

/**
 * How a node misbehaves. `lag`: blocks that it is behind. `ahead`: blocks that it claims although
 * they do not exist. `invents`: it also invents their headers. `forgets`: it has the state of only
 * this many blocks.
 */
export type Fault =
  | { readonly kind: "none" }
  | {
      readonly kind:
        | "alters-logs"
        | "other-hash"
        | "down"
        | "html"
        | "hangs"
        | "wrong-types"
        | "foreign"
        | "no-receipts"
        | "lies-about-decimals"
        | "lacks-contracts";
    }
  | { readonly kind: "busy"; readonly times: number; readonly retryAfter?: string }
  | { readonly kind: "lag" | "ahead" | "invents" | "forgets"; readonly blocks: number };

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** A proxy of a real node that forwards its responses or falsifies them. */
export class FaultyNode implements AsyncDisposable {
  fault: Fault = { kind: "none" };
  /** Number of requests by method. */
  readonly asked = new Map<string, number>();
  /** Number of requests for a state that it has pruned. */
  askedForgotten = 0;
  /** Whether it compresses responses for clients that accept that. */
  compresses = false;
  readonly #target: string;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  #busy = 0;

  constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/secret-key`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const request = JSON.parse(text) as Request;
    this.asked.set(request.method, (this.asked.get(request.method) ?? 0) + 1);
    const { fault } = this;
    if (fault.kind === "down") return void incoming.destroy();
    if (fault.kind === "hangs") return;
    if (fault.kind === "html")
      return void response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
    if (fault.kind === "busy" && this.#busy++ < fault.times) {
      const headers = fault.retryAfter === undefined ? {} : { "retry-after": fault.retryAfter };
      return void response.writeHead(429, headers).end("Too Many Requests");
    }
    try {
      const answer = await this.#ask(text);
      const result = "result" in answer ? (answer.result ?? (await this.#invented(request))) : undefined;
      const falsified = "result" in answer ? { ...answer, result: this.#falsify(request, result) } : answer;
      const refused = fault.kind === "no-receipts" && request.method === "eth_getBlockReceipts";
      const error = {
        code: -32_601,
        message: "the method eth_getBlockReceipts does not exist/is not available",
      };
      const forgotten = await this.#hasForgotten(request);
      const pruned = { code: -32_000, message: "missing trie node 5c3d (path ) state is not available" };
      if (forgotten) this.askedForgotten += 1;
      if (forgotten) return send(response, { jsonrpc: "2.0", id: request.id, error: pruned });
      const body = refused ? { jsonrpc: "2.0", id: request.id, error } : falsified;
      const isZipped = this.compresses && incoming.headers["accept-encoding"]?.includes("gzip") === true;
      if (isZipped) return void sendZipped(response, body);
      send(response, body);
    } catch {
      response.destroy();
    }
  }

  /** Returns whether this is a call at a block whose state is pruned. */
  async #hasForgotten({ method, params }: Request): Promise<boolean> {
    const { fault } = this;
    const [, block] = params ?? [];
    if (fault.kind !== "forgets" || method !== "eth_call" || block === "latest") return false;
    const ask = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
    const answer = await this.#ask(ask);
    return "result" in answer && Number(block) <= Number(answer.result) - fault.blocks;
  }

  /** Returns the header of a block that does not exist, one second after the previous block. */
  async #invented({ method, params }: Request): Promise<unknown> {
    if (this.fault.kind !== "invents" || method !== "eth_getBlockByNumber") return null;
    const ask = { jsonrpc: "2.0", id: 1, method, params: ["latest", false] };
    const answer = await this.#ask(JSON.stringify(ask));
    if (!("result" in answer)) return null;
    const { number, timestamp } = answer.result as { number: string; timestamp: string };
    const [wanted] = params ?? [];
    const later = Number(timestamp) + Number(wanted) - Number(number);
    return { ...(answer.result as object), number: wanted, timestamp: hex(later), transactions: [] };
  }

  #ask(body: string): Promise<{ result: unknown } | { error: unknown }> {
    return post(this.#target, body, this.#agent);
  }

  #falsify({ method, params }: Request, result: unknown): unknown {
    const { fault } = this;
    const [first] = params ?? [];
    if (
      first === "finalized" &&
      (fault.kind === "lag" || fault.kind === "ahead" || fault.kind === "invents")
    ) {
      const { number } = result as { number: string };
      const blocks = fault.kind === "lag" ? -fault.blocks : fault.blocks;
      return { ...(result as object), number: hex(Math.max(0, Number(number) + blocks)) };
    }
    if (fault.kind === "lies-about-decimals" && method === "eth_call") return withSixDecimals(result);
    if (fault.kind === "lacks-contracts" && method === "eth_call") return withoutResults(result);
    if (fault.kind === "foreign" && method === "eth_chainId") return "0x1";
    if (fault.kind === "wrong-types" && method.startsWith("eth_getBlock")) return { number: 7, hash: null };
    if (fault.kind === "other-hash" && method === "eth_getBlockByNumber" && typeof result === "object")
      return { ...result, hash: `0x${"ee".repeat(32)}` };
    if (fault.kind === "alters-logs" && method === "eth_getBlockReceipts") {
      // Changes the last digit of every log's data.
      return JSON.parse(JSON.stringify(result).replace(/"data":"0x([0-9a-f]+)[0-9a-f]"/g, '"data":"0x$17"'));
    }
    return result;
  }
}

/** Returns the results of a Multicall3 request with 6 in place of each 18. */
function withSixDecimals(result: unknown): unknown {
  const [eighteen, six] = [18, 6].map((count) => Hex.fromNumber(count, { size: 32 }));
  if (!Hex.validate(result)) return result;
  const results = decodeResults(result).map((one) =>
    one.returnData === eighteen && six ? { ...one, returnData: six } : one,
  );
  return encodeResults(results);
}

/** Returns a Multicall3 request's results as of before its contracts were created. */
function withoutResults(result: unknown): unknown {
  if (!Hex.validate(result)) return result;
  const results = decodeResults(result);
  // The last one belongs to no contract.
  const empty = results.slice(0, -1).map(() => ({ success: true, returnData: "0x" as const }));
  return encodeResults([...empty, ...results.slice(-1)]);
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function sendZipped(response: ServerResponse, body: object): void {
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  response.writeHead(200, headers).end(gzipSync(JSON.stringify(body)));
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
