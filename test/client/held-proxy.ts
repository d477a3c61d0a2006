import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * What passes: everything; or of a WebSocket, or of every answer, the header fields and then
 * nothing more.
 */
type Passing = "all" | "no-websocket-messages" | "no-streams";

/** A way to a gateway that the test leads: where to, what passes, and when it breaks. */
export class HeldProxy implements AsyncDisposable {
  passing: Passing = "all";
  /** Connections so far that asked for a WebSocket, for server-sent events, and others. */
  readonly asked = { websocket: 0, sse: 0, other: 0 };
  port: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(port: number) {
    this.port = port;
    this.#server = createServer((client) => this.#carry(client));
  }

  /** Listens, and leads to this port. */
  static async open(port: number): Promise<HeldProxy> {
    const proxy = new HeldProxy(port);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts every connection without a word. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** From now on nothing passes on the connections that are there, and nothing is reported. */
  freeze(): void {
    for (const socket of this.#sockets) socket.unpipe().removeAllListeners("data").resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #carry(client: Socket): void {
    const server = connect(this.port, "127.0.0.1");
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          this.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
    }
    client.once("data", (first: Buffer) => {
      const head = first.toString("latin1").toLowerCase();
      const kind = head.includes("upgrade: websocket")
        ? "websocket"
        : head.includes("text/event-stream")
          ? "sse"
          : "other";
      this.asked[kind] += 1;
      server.write(first);
      client.pipe(server);
      const muted =
        (kind === "websocket" && this.passing !== "all") || (kind === "sse" && this.passing === "no-streams");
      if (muted)
        server.once("data", (answer: Buffer) =>
          client.write(answer.subarray(0, answer.indexOf("\r\n\r\n") + 4)),
        );
      else server.pipe(client);
    });
  }
}
