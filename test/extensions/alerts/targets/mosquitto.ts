import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAsync, type IClientOptions, type MqttClient } from "mqtt";
import { freePort, listens } from "../../../support/servers/free-port.ts";
import { findInstalled } from "../../../support/setup/debian-package.ts";
import { Waiters } from "../../../support/time/waiters.ts";

/** Whether Debian's mosquitto is installed, or could be installed now. */
export const HAS_MOSQUITTO = findInstalled(() => {
  try {
    return execFileSync("sh", ["-c", "command -v mosquitto"]).length > 0;
  } catch {
    return false;
  }
}, "mosquitto");

/** An MQTT broker on loopback and a free port, which stores sessions at each change. */
export class Mosquitto implements AsyncDisposable {
  readonly port: number;
  readonly #directory = mkdtempSync(join(tmpdir(), "flarewire-mosquitto-"));
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  /**
   * Starts a broker.
   *
   * @param lines More lines of its configuration. Default: anyone may connect.
   * @param files Files that `lines` can name as `DIR/name`.
   */
  static async start(
    lines: readonly string[] = ["allow_anonymous true"],
    files: Readonly<Record<string, string>> = {},
  ): Promise<Mosquitto> {
    const broker = new Mosquitto(await freePort());
    const directory = broker.#directory;
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    const config = [
      `listener ${broker.port} 127.0.0.1`,
      ...["persistence true", `persistence_location ${directory}/`, "autosave_on_changes true"],
      ...["autosave_interval 1", "max_queued_messages 0", "user root", ...lines],
    ];
    writeFileSync(
      join(directory, "mosquitto.conf"),
      config.map((line) => line.replaceAll("DIR", directory)).join("\n"),
    );
    await broker.up();
    return broker;
  }

  async up(): Promise<void> {
    this.#process = spawn("mosquitto", ["-c", join(this.#directory, "mosquitto.conf")], { stdio: "ignore" });
    await listens(this.port);
  }

  /** Stops the broker. If it were killed, it would repeat acknowledged messages. */
  async down(): Promise<void> {
    const ending = this.#process;
    this.#process = undefined;
    if (!ending || ending.exitCode !== null) return;
    const ended = once(ending, "exit");
    ending.kill("SIGTERM");
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

interface Received {
  readonly topic: string;
  readonly text: string;
  readonly isRetained: boolean;
}

/** An independent receiver with a persistent session, which reconnects automatically. */
export class MqttReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #client: MqttClient;
  readonly #waiters = new Waiters(() => this.received.slice(-3));

  private constructor(client: MqttClient) {
    this.#client = client;
    client.on("error", () => {});
    client.on("message", (topic, payload, { retain }) => {
      this.received.push({ topic, text: payload.toString(), isRetained: retain });
      this.#waiters.look();
    });
  }

  static async open(port: number, filter: string, more: IClientOptions = {}): Promise<MqttReceiver> {
    const client = await connectAsync(`mqtt://127.0.0.1:${port}`, {
      clientId: `receiver-${filter}`,
      clean: false,
      reconnectPeriod: 20,
      protocolVersion: 4,
      ...more,
    });
    const receiver = new MqttReceiver(client);
    await client.subscribeAsync(filter, { qos: 1 });
    return receiver;
  }

  /** Returns the parsed payloads of the topics that match. */
  of<T = Record<string, unknown>>(topic: RegExp): readonly T[] {
    return this.received.filter((one) => topic.test(one.topic)).map(({ text }) => JSON.parse(text));
  }

  until(condition: () => boolean): Promise<void> {
    return this.#waiters.until(condition);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.endAsync(true);
  }
}

/** A relay between client and broker, which can drop the broker's bytes. */
export class LossyNetwork implements AsyncDisposable {
  /** Whether bytes from the broker are dropped. */
  isMute = false;
  readonly #pairs = new Set<Socket>();
  readonly #server;

  private constructor(brokerPort: number) {
    this.#server = createServer((near) => {
      const far = connectTcp(brokerPort, "127.0.0.1");
      for (const socket of [near, far]) {
        this.#pairs.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far);
      far.on("data", (bytes) => void (this.isMute || near.write(bytes)));
    });
  }

  static async open(brokerPort: number): Promise<LossyNetwork> {
    const network = new LossyNetwork(brokerPort);
    network.#server.listen(0, "127.0.0.1");
    await once(network.#server, "listening");
    return network;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  /** Destroys every connection, without a DISCONNECT packet. */
  cut(): void {
    for (const socket of this.#pairs) socket.destroy();
    this.#pairs.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
