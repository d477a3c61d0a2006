import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy of a node that can be cut. */
export class TcpLine implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #server;
  #isCut = false;

  /** `target`: the node's address. */
  constructor(target: string) {
    const { port } = new URL(target);
    this.#server = createServer((client) => {
      if (this.#isCut) return void client.destroy();
      const node = connect(Number(port), "127.0.0.1");
      for (const [one, other] of [
        [client, node],
        [node, client],
      ] as const) {
        this.#sockets.add(one);
        one.pipe(other);
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
      }
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  /** Its address for WebSockets. */
  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts open connections and rejects new ones. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }
}
