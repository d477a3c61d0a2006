import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { JsonObject } from "./json.ts";

/** The faults of a server. An omitted part is passed on unchanged. */
export interface Breakage {
  /** Returns the address to request from the real server. */
  readonly address?: (path: string) => string;
  /** Returns the header fields to send to the real server. */
  readonly fields?: (headers: IncomingMessage["headers"]) => IncomingMessage["headers"];
  /** Returns the command to send over the WebSocket. */
  readonly command?: (text: string) => string;
  /** Returns the messages of a stream to send in place of one. */
  readonly message?: (message: JsonObject, memory: Memory) => readonly JsonObject[];
  /** Returns the id of a server-sent event. */
  readonly id?: (id: string) => string | undefined;
  readonly closeCode?: (code: number) => number;
  readonly answer?: (answer: PlainAnswer, incoming: IncomingMessage) => PlainAnswer;
}

/** Per-connection state of a fault: the number of events so far, and a message to remember. */
export interface Memory {
  events: number;
  kept: JsonObject | undefined;
  ended?: boolean;
}

/** A response that is not a stream. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A server with one fault. It forwards requests to a real server and changes the responses. */
export class BrokenServer implements AsyncDisposable {
  readonly #target: URL;
  readonly #breakage: Breakage;
  readonly #server = createServer((incoming, reply) => this.#serve(incoming, reply));
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has("flarewire.v1") ? "flarewire.v1" : false),
  });

  constructor(target: string, breakage: Breakage) {
    this.#target = new URL(target);
    this.#breakage = breakage;
    this.#server.on("upgrade", (incoming, socket: Duplex, head) => this.#upgrade(incoming, socket, head));
  }

  /** Starts to listen. Resolves with the address. */
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

  #serve(incoming: IncomingMessage, reply: ServerResponse): void {
    const { method = "GET" } = incoming;
    const upstream = request(this.#addressOf(incoming), {
      method,
      headers: this.#fieldsOf(incoming),
      agent: false,
    });
    upstream.on("error", () => reply.destroy());
    reply.once("close", () => upstream.destroy());
    upstream.once("response", (response: IncomingMessage) => {
      const isStream = response.headers["content-type"]?.startsWith("text/event-stream");
      (isStream ? this.#stream(response, reply) : this.#answer(incoming, response, reply)).catch(() =>
        reply.destroy(),
      );
    });
    upstream.end();
  }

  async #answer(incoming: IncomingMessage, response: IncomingMessage, reply: ServerResponse): Promise<void> {
    const plain = {
      status: response.statusCode ?? 502,
      headers: response.headers,
      body: Buffer.concat(await response.toArray()).toString(),
    };
    const { status, headers, body } = this.#breakage.answer?.(plain, incoming) ?? plain;
    for (const [name, value] of Object.entries(headers)) {
      const isOwn = ["content-length", "connection", "keep-alive", "transfer-encoding"].includes(name);
      if (value !== undefined && !isOwn) reply.setHeader(name, value);
    }
    reply.writeHead(status).end(body === "" ? undefined : body);
  }

  async #stream(response: IncomingMessage, reply: ServerResponse): Promise<void> {
    reply.writeHead(response.statusCode ?? 502, { "content-type": "text/event-stream" });
    const memory: Memory = { events: 0, kept: undefined };
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) {
      const blocks = `${text}${chunk}`.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) reply.write(this.#changeBlock(block, memory));
    }
    reply.end();
  }

  #changeBlock(block: string, memory: Memory): string {
    const data = /^data: ?(.*)$/m.exec(block)?.[1];
    if (data === undefined) return `${block}\n\n`;
    const messages = this.#change(JSON.parse(data), memory);
    return messages.map((message) => this.#blockOf(message, block)).join("");
  }

  #blockOf(message: JsonObject, block: string): string {
    const own = /^id: ?(.*)$/m.exec(block)?.[1];
    const cursor = own === undefined ? undefined : String(message.cursor);
    const id = cursor === undefined || !this.#breakage.id ? cursor : this.#breakage.id(cursor);
    const event = message.type === "event" ? message.name : /^event: ?(.*)$/m.exec(block)?.[1];
    return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
  }

  #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const address = this.#addressOf(incoming);
    address.protocol = "ws:";
    const offered = incoming.headers["sec-websocket-protocol"]?.split(", ") ?? [];
    const { authorization } = this.#fieldsOf(incoming);
    const upstream = new WebSocket(address, offered, {
      perMessageDeflate: false,
      headers: authorization === undefined ? {} : { authorization },
    });
    const early: string[] = [];
    upstream.on("message", (data) => early.push(String(data)));
    upstream.on("error", () => socket.destroy());
    upstream.once("unexpected-response", (_asked, response: IncomingMessage) => refuse(response, socket));
    upstream.once("open", () => {
      // The client may have disconnected meanwhile.
      if (socket.destroyed) return upstream.terminate();
      this.#sockets.handleUpgrade(incoming, socket, head, (client) => this.#join(client, upstream, early));
    });
  }

  #join(client: WebSocket, upstream: WebSocket, early: readonly string[]): void {
    const { command = (text: string) => text, closeCode = (code: number) => code } = this.#breakage;
    const memory: Memory = { events: 0, kept: undefined };
    const pass = (text: string) => {
      for (const message of this.#change(JSON.parse(text), memory)) client.send(JSON.stringify(message));
    };
    upstream.removeAllListeners("message");
    for (const text of early) pass(text);
    upstream.on("message", (data) => pass(String(data)));
    client.on("message", (data, isBinary) =>
      upstream.send(isBinary ? data : command(String(data)), { binary: isBinary }),
    );
    upstream.on("close", (code, reason) => client.close(code === 1005 ? 1000 : closeCode(code), reason));
    client.on("close", () => upstream.close());
    client.on("error", () => upstream.terminate());
  }

  #change(message: JsonObject, memory: Memory): readonly JsonObject[] {
    if (message.type === "event") memory.events += 1;
    return this.#breakage.message?.(message, memory) ?? [message];
  }
}

/** Sends the real server's rejection of the upgrade to the client. */
function refuse(response: IncomingMessage, socket: Duplex): void {
  const fields = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n${fields.join("")}\r\n`);
  response.pipe(socket);
}
