import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { checkMessage } from "./contract.ts";
import { Waiters } from "./waiters.ts";

/** One event as a browser would dispatch it. */
interface SseEvent {
  readonly event: string;
  /** The last id that came, with this event or before. */
  readonly lastEventId: string;
  /** The data, read as JSON. */
  readonly message: Record<string, unknown>;
}

/**
 * Reads a stream of server-sent events as the HTML standard, 9.2.6, says; sharing no code with the
 * server.
 */
export class SseClient {
  readonly events: SseEvent[] = [];
  /** Seqs of the market's events so far. */
  readonly seqs: unknown[] = [];
  lastEventId = "";
  /** Milliseconds that the server asked to wait before a reconnect. */
  retry: number | undefined;
  /** Resolves when the answer is over, from whichever side. */
  readonly ended: Promise<void>;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  readonly #onEvent: (event: SseEvent) => void;
  readonly #waiters = new Waiters(() => ({ over: this.#over, events: this.events.slice(-3) }));
  #rest = "";
  #block: { event: string; data: string[] } = { event: "", data: [] };
  #over = false;

  private constructor(asked: ClientRequest, response: IncomingMessage, onEvent: (event: SseEvent) => void) {
    this.#onEvent = onEvent;
    this.#request = asked;
    this.#response = response;
    response.setEncoding("utf8");
    response.on("data", (text: string) => this.#read(text));
    response.on("error", () => {});
    this.ended = new Promise((resolve) => {
      response.once("close", () => {
        this.#over = true;
        this.#waiters.look();
        resolve();
      });
    });
  }

  /**
   * Resolves when the header fields are there; rejects when the answer is no stream. `onEvent` is
   * called with each event.
   */
  static async open(
    url: string,
    headers: Record<string, string> = {},
    onEvent: (event: SseEvent) => void = () => {},
  ): Promise<SseClient> {
    const asked = request(url, { headers: { accept: "text/event-stream", ...headers }, agent: false }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    // Cutting the stream off is the client's own doing.
    asked.on("error", () => {});
    const type = response.headers["content-type"] ?? "";
    if (response.statusCode !== 200 || !type.startsWith("text/event-stream")) {
      asked.destroy();
      throw new Error(`status ${response.statusCode}, type ${type}`);
    }
    return new SseClient(asked, response, onEvent);
  }

  get headers(): IncomingMessage["headers"] {
    return this.#response.headers;
  }

  /** The stream is over. */
  get over(): boolean {
    return this.#over;
  }

  /** The messages of the events of this name, or of all, read as JSON. */
  messages(event?: string): readonly Record<string, unknown>[] {
    return this.events
      .filter((one) => event === undefined || one.event === event)
      .map(({ message }) => message);
  }

  /** Resolves once `check` holds, which is looked at after each piece and at the end. */
  until(check: () => boolean): Promise<void> {
    return this.#waiters.until(check);
  }

  /** Stops reading from the connection; what the kernel takes, it takes. */
  freeze(): void {
    this.#response.pause();
  }

  thaw(): void {
    this.#response.resume();
  }

  /** Cuts the connection. */
  cut(): void {
    this.#request.destroy();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    this.#waiters.look();
  }

  #line(line: string): void {
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (line === "") this.#dispatch();
    else if (field === "event") this.#block.event = value;
    else if (field === "data") this.#block.data.push(value);
    else if (field === "id") this.lastEventId = value;
    else if (field === "retry") this.retry = Number(value);
    else throw new Error(`a line that is none of the protocol's: ${line}`);
  }

  #dispatch(): void {
    const { event, data } = this.#block;
    this.#block = { event: "", data: [] };
    if (data.length === 0) return;
    const message: Record<string, unknown> = JSON.parse(data.join("\n"));
    checkMessage(message);
    const one = { event: event || "message", lastEventId: this.lastEventId, message };
    this.events.push(one);
    if (message.type === "event") this.seqs.push(message.seq);
    this.#onEvent(one);
  }
}
