import type { MqttClient } from "mqtt";
import type { Notify } from "../../../../base/lib/notify.ts";
import { messageOf } from "../../../../base/lib/text/message-of.ts";
import { backOffMs } from "../../../../base/lib/time/back-off.ts";
import type { Clock } from "../../../../base/lib/time/clock.ts";
import { ATTEMPT_TIMEOUT_MS } from "../target.ts";

interface MqttOptions {
  readonly url: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly clientId: string;
  /** Topic with `online` or `offline`. The broker publishes `offline` if the connection breaks. */
  readonly status: string;
  readonly clock: Clock;
}

const RECONNECT = { floorMs: 1_000, ceilingMs: 60_000 };
const KEEP_ALIVE_S = 30;
/** How long a stopping process waits for outstanding acknowledgements. */
const STOP_GRACE_MS = 2_000;

/** A connection, and a promise of the reason for its end. */
interface Session {
  readonly client: MqttClient;
  readonly ended: Promise<string>;
  /** Removes the listener of the signal to stop. */
  readonly over: AbortController;
}

/**
 * A connection to a broker that is opened again after each end. Does not resend messages:
 * undelivered alerts are in the store, and retained messages are published at each connect.
 */
export class MqttConnection {
  readonly #options: MqttOptions;
  readonly #retained = new Map<string, string>();
  /** Unacknowledged messages, each with the function that rejects it. */
  readonly #inFlight = new Map<Promise<void>, (error: Error) => void>();
  #session: Session | undefined;
  /** Why there is no connection. */
  #reason = "the first attempt has not finished";

  constructor(options: MqttOptions) {
    this.#options = options;
    this.#retained.set(options.status, "online");
  }

  /** Connects, and reconnects after each end, until the signal aborts. Never rejects. */
  async run(notify: Notify, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const { ended } = await this.#open(notify, signal);
        if (failures > 0) notify("info", `connected to the broker again; failed attempts: ${failures}`);
        failures = 0;
        this.#reason = await ended;
      } catch (error) {
        this.#reason = messageOf(error);
      }
      await this.#close(signal.aborted);
      if (signal.aborted) return;
      failures += 1;
      if (failures === 1) notify("warn", `not connected to the broker: ${this.#reason}; reconnecting`);
      await clock.sleep(backOffMs(failures, Math.random, RECONNECT), signal).catch(() => {});
    }
  }

  /**
   * Publishes at QoS 1. Resolves once the broker has acknowledged the message. Rejects if it does
   * not, or if there is no connection. Ends the connection if the acknowledgement takes longer than
   * {@link ATTEMPT_TIMEOUT_MS}.
   */
  async publish(topic: string, payload: string, retain = false): Promise<void> {
    const { client } = this.#session ?? {};
    if (!client) throw new Error(`not connected to the broker: ${this.#reason}`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#inFlight.set(promise, reject);
    AbortSignal.timeout(ATTEMPT_TIMEOUT_MS).addEventListener("abort", () => {
      if (!this.#inFlight.has(promise)) return;
      reject(new Error(`the broker did not acknowledge within ${ATTEMPT_TIMEOUT_MS} ms`));
      client.end(true);
    });
    client.publishAsync(topic, payload, { qos: 1, retain }).then(() => resolve(), reject);
    try {
      await promise;
    } finally {
      this.#inFlight.delete(promise);
    }
  }

  /** Sets the topic's retained message, which is also published at each connect. */
  retain(topic: string, payload: string): void {
    this.#retained.set(topic, payload);
    // If it fails, the next connect repeats it.
    if (this.#session) void this.publish(topic, payload, true).catch(() => {});
  }

  async #open(notify: Notify, signal: AbortSignal): Promise<Session> {
    const { url, username, password, clientId, status } = this.#options;
    // Loaded at its first use: most servers need no broker, and start faster without.
    const { connect } = await import("mqtt");
    const { protocol, hostname, port } = new URL(url);
    const isSecure = protocol === "mqtts:";
    const client = connect({
      protocol: isSecure ? "mqtts" : "mqtt",
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port) || (isSecure ? 8_883 : 1_883),
      clientId,
      clean: true,
      protocolVersion: 5,
      keepalive: KEEP_ALIVE_S,
      connectTimeout: ATTEMPT_TIMEOUT_MS,
      reconnectPeriod: 0,
      resubscribe: false,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      will: { topic: status, payload: Buffer.from("offline"), qos: 1, retain: true },
    });
    const over = new AbortController();
    const ended = new Promise<string>((resolve) => {
      client.on("error", (error) => resolve(messageOf(error)));
      client.on("disconnect", ({ reasonCode }) => resolve(`the broker ended it with code ${reasonCode}`));
      client.on("close", () => resolve("the broker closed the connection"));
      signal.addEventListener("abort", () => resolve("stopping"), { once: true, signal: over.signal });
      if (signal.aborted) resolve("stopping");
    });
    this.#session = { client, ended, over };
    const connected = new Promise<void>((resolve) => client.once("connect", () => resolve()));
    const failed = ended.then((reason) => Promise.reject(new Error(reason)));
    await Promise.race([connected.then(() => this.#publishRetained(client, notify)), failed]);
    return this.#session;
  }

  async #publishRetained(client: MqttClient, notify: Notify): Promise<void> {
    for (const [topic, payload] of this.#retained) {
      await this.publish(topic, payload, true).catch((error: unknown) => {
        // A topic that the broker forbids must not block the alerts.
        if (!client.connected) throw error;
        notify("warn", `the broker refused the state ${topic}: ${messageOf(error)}`);
      });
    }
  }

  /** `isWanted`: first publishes `offline` and waits for outstanding acknowledgements. */
  async #close(isWanted: boolean): Promise<void> {
    const { client, over } = this.#session ?? {};
    if (client?.connected && isWanted) {
      const farewell = this.publish(this.#options.status, "offline", true);
      const all = Promise.allSettled([...this.#inFlight.keys(), farewell]).then(() => client.endAsync());
      const grace = AbortSignal.timeout(STOP_GRACE_MS);
      await Promise.race([all, new Promise((resolve) => grace.addEventListener("abort", resolve))]);
    }
    this.#session = undefined;
    over?.abort();
    client?.end(true);
    for (const reject of this.#inFlight.values()) reject(new Error(this.#reason));
  }
}
