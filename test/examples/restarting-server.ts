import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConfig } from "../../src/config/config.ts";
import { type Gateway, startGateway } from "../../src/gateway/app.ts";
import { writePumpedMarket } from "../support/pumped-market.ts";

/** The server that the examples follow. */
const FLARES = "channels=flares.pro&names=flare-started,flare-finished";

/**
 * A gateway with a data directory that can be stopped and started again at the same address. It
 * runs in the test's process behind a proxy, which cuts all connections as a killed process does.
 */
export class RestartingServer implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "flarewire-examples-"));
  readonly #data = join(this.#directory, "data");
  readonly #market = writePumpedMarket(join(this.#directory, "market.csv"), 6);
  readonly #sockets = new Set<Socket>();
  readonly #proxy = createServer((client) => this.#connect(client));
  #gateway: Gateway | undefined;
  url = "";

  /** Plays the market, from just before its first flare or from the last end. */
  async start(): Promise<void> {
    const market = { file: this.#market, group: "bsc", loop: true, speed: 600, warmup: "1h" } as const;
    const serving = { port: 0, data: this.#data, drain: "2100ms", logLevel: "silent" } as const;
    this.#gateway = await startGateway(createConfig({ ...market, ...serving }));
    if (this.#proxy.listening) return;
    this.#proxy.listen(0, "127.0.0.1");
    await once(this.#proxy, "listening");
    const { port } = this.#proxy.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Stops it with a drain. Resolves when it has ended. */
  async stop(): Promise<void> {
    const gateway = this.#gateway;
    await gateway?.stop();
    this.#gateway = undefined;
  }

  /** Ends it without a word to its clients, and deletes its data. */
  async loseData(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    for (const socket of this.#sockets) socket.destroy();
    await gateway?.stop();
    rmSync(this.#data, { recursive: true });
  }

  /** Returns the cursors of all starts and finishes of this epoch in the server's history. */
  async history(): Promise<readonly string[]> {
    const answer = await fetch(`${this.url}/api/v1/events?after=oldest&limit=1000&${FLARES}`);
    const { events } = (await answer.json()) as { events: { cursor: string }[] };
    return events.map(({ cursor }) => cursor);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.loseData();
    this.#proxy.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Connects a client to the gateway; without one the connection ends at once. */
  #connect(client: Socket): void {
    if (!this.#gateway) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(new URL(this.#gateway.url).port), "127.0.0.1");
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket);
      socket
        .on("error", () => {})
        .once("close", () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  }
}
