import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConfig } from "../../src/app/config/config.ts";
import { startGateway } from "../../src/app/serve.ts";
import type { Gateway } from "../../src/gateway/start/run-gateway.ts";
import { HeldProxy } from "../clients/sdk/held-proxy.ts";
import { freePort } from "../support/servers/free-port.ts";
import { writePumpedMarket } from "../support/world/pumped-market.ts";

/** A port on which nothing listens. */
const CLOSED_PORT = 9;
/** Selects the events that the examples follow. */
const FLARES = "channels=flares.pro&names=flare-started,flare-surged,flare-finished";

/**
 * A gateway with a data directory that can be stopped and started again at the same address. It
 * runs in the test's process behind a proxy, which cuts all connections as a killed process does.
 */
export class RestartingServer implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "flarewire-examples-"));
  readonly #data = join(this.#directory, "data");
  readonly #market = writePumpedMarket(join(this.#directory, "market.csv"), 6);
  #proxy: HeldProxy | undefined;
  #gateway: Gateway | undefined;
  #port = 0;
  url = "";

  /** Starts the gateway. It plays from just before the first flare, or from where it stopped. */
  async start(): Promise<void> {
    const market = { file: this.#market, group: "bsc", loop: true, speed: 600, warmup: "1h" } as const;
    this.#port ||= await freePort();
    const serving = { port: this.#port, data: this.#data, drain: "2100ms", logLevel: "silent" } as const;
    this.#gateway = await startGateway(createConfig({ ...market, ...serving }));
    this.#proxy ??= await HeldProxy.open(this.#port);
    this.#setTarget(this.#port);
    this.url = this.#proxy.url;
  }

  /** Stops the gateway with a drain. Resolves when it has ended. */
  async stop(): Promise<void> {
    await this.#gateway?.stop();
    this.#setTarget(CLOSED_PORT);
  }

  /** Cuts all connections, stops the gateway, and deletes its data. */
  async loseData(): Promise<void> {
    this.#setTarget(CLOSED_PORT);
    this.#proxy?.cut();
    await this.#gateway?.stop();
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
    await this.#proxy?.[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #setTarget(port: number): void {
    if (this.#proxy) this.#proxy.port = port;
  }
}
