import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * What the proxy forwards: everything, or only the response headers of WebSockets, or of all
 * streams.
 */
type Passing = "all" | "no-websocket-messages" | "no-streams";

/** A proxy to a gateway. The test sets its target and what it forwards, and cuts connections. */
export class HeldProxy implements AsyncDisposable {
  passing: Passing = "all";
  /** Connections so far, by whether they requested a WebSocket, server-sent events, or neither. */
  readonly asked = { websocket: 0, sse: 0, other: 0 };
  port: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(port: number) {
    this.port = port;
    this.#server = createServer((client) => this.#carry(client));
  }

  /** Starts a proxy to this port. */
  static async open(port: number): Promise<HeldProxy> {
    const proxy = new HeldProxy(port);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Destroys every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Stops forwarding on the current connections, but leaves them open. */
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
