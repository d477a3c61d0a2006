import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { checkMessage } from "../expect/contract.ts";
import { Waiters } from "../time/waiters.ts";

/** One event as a browser dispatches it. */
interface SseEvent {
  readonly event: string;
  /** The last id received, with this event or an earlier one. */
  readonly lastEventId: string;
  /** The data, parsed as JSON. */
  readonly message: Record<string, unknown>;
}

/** Reads server-sent events by the HTML standard, 9.2.6. It shares no code with the server. */
export class SseClient {
  readonly events: SseEvent[] = [];
  /** Seqs of the market's events received so far. */
  readonly seqs: unknown[] = [];
  lastEventId = "";
  /** Reconnection time in ms that the server sent. */
  retry: number | undefined;
  /** Resolves when the response has ended, from either side. */
  readonly ended: Promise<void>;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  readonly #onEvent: (event: SseEvent) => void;
  readonly #waiters = new Waiters(() => ({ over: this.#isOver, events: this.events.slice(-3) }));
  #rest = "";
  #block: { event: string; data: string[] } = { event: "", data: [] };
  #isOver = false;

  private constructor(sent: ClientRequest, response: IncomingMessage, onEvent: (event: SseEvent) => void) {
    this.#onEvent = onEvent;
    this.#request = sent;
    this.#response = response;
    response.setEncoding("utf8");
    response.on("data", (text: string) => this.#read(text));
    response.on("error", () => {});
    this.ended = new Promise((resolve) => {
      response.once("close", () => {
        this.#isOver = true;
        this.#waiters.look();
        resolve();
      });
    });
  }

  /**
   * Resolves once the response's header has arrived. Rejects unless the response is a stream.
   * @param onEvent Called with each event.
   */
  static async open(
    url: string,
    headers: Record<string, string> = {},
    onEvent: (event: SseEvent) => void = () => {},
  ): Promise<SseClient> {
    const sent = request(url, { headers: { accept: "text/event-stream", ...headers }, agent: false }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    // The client itself may cut the stream.
    sent.on("error", () => {});
    const type = response.headers["content-type"] ?? "";
    if (response.statusCode !== 200 || !type.startsWith("text/event-stream")) {
      sent.destroy();
      throw new Error(`expected a stream; received status ${response.statusCode}, type ${type}`);
    }
    return new SseClient(sent, response, onEvent);
  }

  get headers(): IncomingMessage["headers"] {
    return this.#response.headers;
  }

  /** The stream has ended. */
  get over(): boolean {
    return this.#isOver;
  }

  /** Returns the messages of the events with this name, or of all. */
  messages(event?: string): readonly Record<string, unknown>[] {
    return this.events
      .filter((one) => event === undefined || one.event === event)
      .map(({ message }) => message);
  }

  /** Resolves once `check` returns true. It is checked after each chunk and at the end. */
  until(check: () => boolean): Promise<void> {
    return this.#waiters.until(check);
  }

  /** Stops reading from the connection. The kernel still receives data into its buffer. */
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
    else throw new Error(`the line is not in the protocol: ${line}`);
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
