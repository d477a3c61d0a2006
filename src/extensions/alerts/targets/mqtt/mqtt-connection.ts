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
/** Maximum bytes of a message besides its topic and payload. */
const MAX_HEADER_BYTES = 16;
/** How long a stopping process waits for outstanding acknowledgements. */
const STOP_GRACE_MS = 2_000;

/**
 * Reason codes of MQTT 5 that refuse one message: its topic is forbidden or invalid, it is too
 * large, or its payload is invalid. Brokers also use the two unspecific ones for it.
 */
const OF_MESSAGE: ReadonlySet<unknown> = new Set([128, 131, 135, 144, 149, 153]);
/** Reason codes with which a broker ends the connection because of the last message. */
const ENDED_BY_MESSAGE: ReadonlySet<unknown> = new Set([144, 149, 153]);

/** The broker refuses a message for its content, and would accept others. */
export class MessageRefusedError extends Error {
  override readonly name = "MessageRefusedError";
}

/** Why a session ended, and whether because of a message in flight. */
interface End {
  readonly reason: string;
  readonly isOfMessage: boolean;
}

/** A connection, and a promise of its end. */
interface Session {
  readonly client: MqttClient;
  readonly ended: Promise<End>;
  /** Removes the listener of the signal to stop. */
  readonly over: AbortController;
  /** Once connected: the maximum size of a message, as the broker said. */
  readonly maxBytes: Promise<number>;
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
  #end: End = { reason: "the first attempt has not finished", isOfMessage: false };

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
        this.#end = await ended;
      } catch (error) {
        this.#end = { reason: messageOf(error), isOfMessage: error instanceof MessageRefusedError };
      }
      await this.#close(signal.aborted);
      if (signal.aborted) return;
      failures += 1;
      if (failures === 1) notify("warn", `not connected to the broker: ${this.#end.reason}; reconnecting`);
      await clock.sleep(backOffMs(failures, Math.random, RECONNECT), signal).catch(() => {});
    }
  }

  /**
   * Publishes at QoS 1. Resolves once the broker has acknowledged the message. Rejects if it does
   * not, or if there is no connection; with {@link MessageRefusedError} if it refuses the message.
   * Ends the connection if the acknowledgement takes longer than {@link ATTEMPT_TIMEOUT_MS}.
   */
  async publish(topic: string, payload: string, retain = false): Promise<void> {
    const session = this.#session;
    if (!session) throw new Error(`not connected to the broker: ${this.#end.reason}`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#inFlight.set(promise, reject);
    AbortSignal.timeout(ATTEMPT_TIMEOUT_MS).addEventListener("abort", () => {
      if (!this.#inFlight.has(promise)) return;
      reject(new Error(`the broker did not acknowledge within ${ATTEMPT_TIMEOUT_MS} ms`));
      session.client.end(true);
    });
    send(session, topic, payload, retain).then(resolve, reject);
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
    const ended = new Promise<End>((resolve) => {
      const end = (reason: string, isOfMessage = false) => resolve({ reason, isOfMessage });
      client.on("error", (error) => end(messageOf(error)));
      client.on("disconnect", ({ reasonCode }) =>
        end(`the broker ended it with code ${reasonCode}`, ENDED_BY_MESSAGE.has(reasonCode)),
      );
      client.on("close", () => end("the broker closed the connection"));
      signal.addEventListener("abort", () => end("stopping"), { once: true, signal: over.signal });
      if (signal.aborted) end("stopping");
    });
    const maxBytes = new Promise<number>((resolve) =>
      client.once("connect", ({ properties }) => resolve(properties?.maximumPacketSize ?? Infinity)),
    );
    const session = { client, ended, over, maxBytes };
    this.#session = session;
    const failed = ended.then((end) => Promise.reject(errorOf(end)));
    await Promise.race([maxBytes.then(() => this.#publishRetained(client, notify)), failed]);
    return session;
  }

  async #publishRetained(client: MqttClient, notify: Notify): Promise<void> {
    for (const [topic, payload] of this.#retained) {
      await this.publish(topic, payload, true).catch((error: unknown) => {
        // A state that the broker refuses must not block the alerts.
        const isOver = this.#session?.client !== client || !client.connected;
        if (isOver && !(error instanceof MessageRefusedError)) throw error;
        if (isOver) this.#retained.delete(topic);
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
    for (const reject of this.#inFlight.values()) reject(errorOf(this.#end));
  }
}

/** Sends a message once connected, and waits for its acknowledgement. */
async function send({ client, maxBytes }: Session, topic: string, payload: string, retain: boolean) {
  const bytes = Buffer.byteLength(topic) + Buffer.byteLength(payload) + MAX_HEADER_BYTES;
  const most = await maxBytes;
  // The library would send a larger one, and the broker would end the connection.
  if (bytes > most) throw new MessageRefusedError(`it has ${bytes} bytes, and the broker accepts ${most}`);
  try {
    await client.publishAsync(topic, payload, { qos: 1, retain });
  } catch (error) {
    const isOfMessage = error instanceof Error && "code" in error && OF_MESSAGE.has(error.code);
    throw isOfMessage ? new MessageRefusedError(messageOf(error)) : error;
  }
}

function errorOf({ reason, isOfMessage }: End): Error {
  return isOfMessage ? new MessageRefusedError(reason) : new Error(reason);
}
