import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { parseAlertFile } from "../../../src/extensions/alerts/targets/alert-file.ts";
import type { Target } from "../../../src/extensions/alerts/targets/target.ts";
import { webhookTarget } from "../../../src/extensions/alerts/targets/webhook.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { Waiters } from "../../support/time/waiters.ts";

/** The secret of the reference implementation's own test. */
export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/**
 * Returns the text of a file with one webhook, which has defaults and may have a private address.
 */
export function webhookFile(given: object): string {
  const whole = {
    id: "desk",
    url: "https://example.org/hook",
    secret: SECRET,
    allow_private_addresses: true,
    rules: [{ name: "all" }],
    ...given,
  };
  return JSON.stringify({ webhooks: [whole] });
}

/** Returns the webhook target of {@link webhookFile}. */
export function webhookOf(given: object, clock = systemClock): Target {
  const [webhook] = parseAlertFile(webhookFile(given), "alerts.json").webhooks;
  if (!webhook) throw new Error("no webhook");
  return webhookTarget(webhook, clock);
}

/** A received message. */
interface Delivery {
  readonly id: string;
  readonly type: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A receiver's response. */
type Answer = (response: ServerResponse, delivery: Delivery) => void;
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end();

/** An independent receiver, which verifies each signature as in the standard. */
export class Receiver implements AsyncDisposable {
  answer: Answer = status(204);
  /** All attempts, in order, whatever the response. */
  readonly attempts: Delivery[] = [];
  /** The accepted attempts. */
  readonly taken: Delivery[] = [];
  #port = 0;
  readonly #waiters = new Waiters(() => ({ attempts: this.attempts.slice(-3), taken: this.taken.length }));
  #server = this.#create();

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  /** Listens, after {@link down} on the same port. */
  async up(): Promise<void> {
    this.#server = this.#create();
    this.#port ||= await freePort();
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async down(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Resolves when the condition holds. Checked after each attempt. */
  until(condition: () => boolean): Promise<void> {
    return this.#waiters.until(condition);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down();
  }

  #create() {
    return createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString();
      const delivery = read(request.headers, body);
      this.attempts.push(delivery);
      response.on("finish", () => {
        if (response.statusCode < 300) this.taken.push(delivery);
        this.#waiters.look();
      });
      this.answer(response, delivery);
      this.#waiters.look();
    });
  }
}

function read(headers: IncomingHttpHeaders, body: string): Delivery {
  const id = String(headers["webhook-id"]);
  const signed = `${id}.${headers["webhook-timestamp"]}.${body}`;
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const expected = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  if (headers["webhook-signature"] !== expected) throw new Error(`${id} has a wrong signature`);
  const { type, data, timestamp } = JSON.parse(body);
  if (Number.isNaN(Date.parse(timestamp))) throw new Error(`${id} has the invalid timestamp ${timestamp}`);
  return { id, type, headers, body, data };
}
