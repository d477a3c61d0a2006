import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { freePort } from "../../../support/servers/free-port.ts";
import type { ManualClock } from "../../../support/time/manual-clock.ts";

/** A message as a person sees it. */
export interface Shown {
  /** The whole message as it arrived. */
  readonly raw: string;
  /** Texts that are shown literally, as code. */
  readonly literals: readonly string[];
  /** The rest, as plain text in which the service looks for links and mentions. */
  readonly rest: string;
  /** Links that the message contains as markup. */
  readonly links: readonly string[];
}

/** Thrown for a request that the service rejects. */
export class Refusal extends Error {}

/** One service: how it checks and shows a message, and how it responds. */
export interface Service {
  /** Minimum time between two messages; sooner ones get 429. */
  readonly gapMs: number;
  /** Matches what the service would turn into links and mentions in {@link Shown.rest}. */
  readonly finds: RegExp;
  /** Throws {@link Refusal}. */
  read(request: IncomingMessage, body: Record<string, unknown>): Shown;
  accept(response: ServerResponse, shown: Shown): void;
  refuse(response: ServerResponse, reason: string): void;
  limit(response: ServerResponse, seconds: number): void;
}

export const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  void response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(JSON.stringify(body));

/** Ways in which a service fails. */
export const OUTAGES = ["refuses connections", "bad gateway", "login page", "cut", "limit"] as const;
type Mode = (typeof OUTAGES)[number] | "up";

/** A local stand-in for a chat service. Messages count as accepted when the response is sent. */
export class ServiceStandIn implements AsyncDisposable {
  readonly accepted: Shown[] = [];
  /** Reasons for rejected requests. Flarewire's messages must cause none. */
  readonly refused: string[] = [];
  /** Requests that came too soon after the last message. */
  tooSoon = 0;
  attempts = 0;
  /** If set, every message is rejected with this reason. */
  refusal: string | undefined;
  #held: PromiseWithResolvers<() => void> | undefined;
  readonly #service: Service;
  readonly #clock: ManualClock;
  #mode: Mode = "up";
  #acceptedAtMs = Number.NEGATIVE_INFINITY;
  #port = 0;
  #server = this.#create();

  constructor(service: Service, clock: ManualClock) {
    this.#service = service;
    this.#clock = clock;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async set(mode: Mode): Promise<void> {
    const wasListening = this.#server.listening;
    this.#mode = mode;
    if (mode === "refuses connections") await this.#close();
    else if (!wasListening) await this.listen();
  }

  /**
   * Holds back the response to the next request. Once the request arrives, resolves with a function
   * that sends the response.
   */
  hold(): Promise<() => void> {
    this.#held = Promise.withResolvers();
    return this.#held.promise;
  }

  async listen(): Promise<void> {
    this.#server = this.#create();
    this.#port ||= await freePort();
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  async #close(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  #create() {
    return createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      this.attempts += 1;
      const respond = () => this.#respond(request, Buffer.concat(chunks).toString(), response);
      const held = this.#held;
      this.#held = undefined;
      if (held) held.resolve(respond);
      else respond();
    });
  }

  #respond(request: IncomingMessage, text: string, response: ServerResponse): void {
    if (this.#mode === "bad gateway") response.writeHead(502).end("<html>Bad Gateway</html>");
    else if (this.#mode === "login page") response.writeHead(200).end("<html>Sign in to this network</html>");
    else if (this.#mode === "cut") response.destroy();
    else if (this.#mode === "limit") this.#service.limit(response, 90);
    else this.#take(request, text, response);
  }

  #take(request: IncomingMessage, text: string, response: ServerResponse): void {
    try {
      if (this.refusal !== undefined) throw new Refusal(this.refusal);
      const shown = this.#service.read(request, JSON.parse(text));
      const nowMs = this.#clock.monotonic();
      if (nowMs - this.#acceptedAtMs < this.#service.gapMs) {
        this.tooSoon += 1;
        this.#service.limit(response, 1);
        return;
      }
      this.#acceptedAtMs = nowMs;
      this.accepted.push(shown);
      this.#service.accept(response, shown);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refused.push(error.message);
      this.#service.refuse(response, error.message);
    }
  }
}
