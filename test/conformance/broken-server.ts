import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { JsonObject } from "./json.ts";

/** What is not as it should be. Each part that is left out passes things on as they are. */
export interface Breakage {
  /** The address that the server behind is asked for, in place of this one. */
  readonly address?: (path: string) => string;
  /** The header fields that it is sent. */
  readonly fields?: (headers: IncomingMessage["headers"]) => IncomingMessage["headers"];
  /** A command of a WebSocket. */
  readonly command?: (text: string) => string;
  /**
   * What becomes of a message of a stream; `count` is how many there were before on this
   * connection, by type.
   */
  readonly message?: (message: JsonObject, memory: Memory) => readonly JsonObject[];
  /** The id of a server-sent event. */
  readonly id?: (id: string) => string | undefined;
  readonly closeCode?: (code: number) => number;
  readonly answer?: (answer: PlainAnswer, asked: IncomingMessage) => PlainAnswer;
}

/**
 * What a breakage knows of a connection: how many events there were, and whatever it wants to keep.
 */
export interface Memory {
  events: number;
  kept: JsonObject | undefined;
  ended?: boolean;
}

/** An answer that is no stream. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/**
 * A server that is broken in one way: what it is asked it passes on to a whole one, and spoils what
 * comes back.
 */
export class BrokenServer implements AsyncDisposable {
  readonly #target: URL;
  readonly #breakage: Breakage;
  readonly #server = createServer((asked, answer) => this.#serve(asked, answer));
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has("flarewire.v1") ? "flarewire.v1" : false),
  });

  constructor(target: string, breakage: Breakage) {
    this.#target = new URL(target);
    this.#breakage = breakage;
    this.#server.on("upgrade", (asked, socket: Duplex, head) => this.#upgrade(asked, socket, head));
  }

  /** Resolves with its address. */
  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate();
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  #addressOf({ url = "/" }: IncomingMessage): URL {
    return new URL(this.#breakage.address?.(url) ?? url, this.#target);
  }

  #fieldsOf({ headers }: IncomingMessage): IncomingMessage["headers"] {
    const { host: _host, ...others } = this.#breakage.fields?.(headers) ?? headers;
    return others;
  }

  #serve(asked: IncomingMessage, answer: ServerResponse): void {
    const { method = "GET" } = asked;
    const behind = request(this.#addressOf(asked), { method, headers: this.#fieldsOf(asked), agent: false });
    behind.on("error", () => answer.destroy());
    answer.once("close", () => behind.destroy());
    behind.once("response", (reported: IncomingMessage) => {
      const isStream = reported.headers["content-type"]?.startsWith("text/event-stream");
      (isStream ? this.#stream(reported, answer) : this.#answer(asked, reported, answer)).catch(() =>
        answer.destroy(),
      );
    });
    behind.end();
  }

  async #answer(asked: IncomingMessage, reported: IncomingMessage, answer: ServerResponse): Promise<void> {
    const plain = {
      status: reported.statusCode ?? 502,
      headers: reported.headers,
      body: Buffer.concat(await reported.toArray()).toString(),
    };
    const { status, headers, body } = this.#breakage.answer?.(plain, asked) ?? plain;
    for (const [name, value] of Object.entries(headers)) {
      const isOwn = ["content-length", "connection", "keep-alive", "transfer-encoding"].includes(name);
      if (value !== undefined && !isOwn) answer.setHeader(name, value);
    }
    answer.writeHead(status).end(body === "" ? undefined : body);
  }

  async #stream(reported: IncomingMessage, answer: ServerResponse): Promise<void> {
    answer.writeHead(reported.statusCode ?? 502, { "content-type": "text/event-stream" });
    const memory: Memory = { events: 0, kept: undefined };
    let text = "";
    for await (const chunk of reported.setEncoding("utf8")) {
      const blocks = `${text}${chunk}`.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) answer.write(this.#spoilBlock(block, memory));
    }
    answer.end();
  }

  #spoilBlock(block: string, memory: Memory): string {
    const data = /^data: ?(.*)$/m.exec(block)?.[1];
    if (data === undefined) return `${block}\n\n`;
    const messages = this.#spoil(JSON.parse(data), memory);
    return messages.map((message) => this.#blockOf(message, block)).join("");
  }

  #blockOf(message: JsonObject, block: string): string {
    const own = /^id: ?(.*)$/m.exec(block)?.[1];
    const cursor = own === undefined ? undefined : String(message.cursor);
    const id = cursor === undefined || !this.#breakage.id ? cursor : this.#breakage.id(cursor);
    const event = message.type === "event" ? message.name : /^event: ?(.*)$/m.exec(block)?.[1];
    return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
  }

  #upgrade(asked: IncomingMessage, socket: Duplex, head: Buffer): void {
    const address = this.#addressOf(asked);
    address.protocol = "ws:";
    const offered = asked.headers["sec-websocket-protocol"]?.split(", ") ?? [];
    const { authorization } = this.#fieldsOf(asked);
    const behind = new WebSocket(address, offered, {
      perMessageDeflate: false,
      headers: authorization === undefined ? {} : { authorization },
    });
    const early: string[] = [];
    behind.on("message", (data) => early.push(String(data)));
    behind.on("error", () => socket.destroy());
    behind.once("unexpected-response", (_asked, reported: IncomingMessage) => refuse(reported, socket));
    behind.once("open", () => {
      // Anyone who asked may have given up meanwhile.
      if (socket.destroyed) return behind.terminate();
      this.#sockets.handleUpgrade(asked, socket, head, (client) => this.#join(client, behind, early));
    });
  }

  #join(client: WebSocket, behind: WebSocket, early: readonly string[]): void {
    const { command = (text: string) => text, closeCode = (code: number) => code } = this.#breakage;
    const memory: Memory = { events: 0, kept: undefined };
    const pass = (text: string) => {
      for (const message of this.#spoil(JSON.parse(text), memory)) client.send(JSON.stringify(message));
    };
    behind.removeAllListeners("message");
    for (const text of early) pass(text);
    behind.on("message", (data) => pass(String(data)));
    client.on("message", (data, isBinary) =>
      behind.send(isBinary ? data : command(String(data)), { binary: isBinary }),
    );
    behind.on("close", (code, reason) => client.close(code === 1005 ? 1000 : closeCode(code), reason));
    client.on("close", () => behind.close());
    client.on("error", () => behind.terminate());
  }

  #spoil(message: JsonObject, memory: Memory): readonly JsonObject[] {
    if (message.type === "event") memory.events += 1;
    return this.#breakage.message?.(message, memory) ?? [message];
  }
}

/** Tells the client what the server behind said instead of an upgrade. */
function refuse(reported: IncomingMessage, socket: Duplex): void {
  const fields = Object.entries(reported.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${reported.statusCode} ${reported.statusMessage}\r\n${fields.join("")}\r\n`);
  reported.pipe(socket);
}
