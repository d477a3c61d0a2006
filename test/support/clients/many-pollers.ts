import { Agent, get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

interface Page {
  readonly cursor: string;
  readonly events: readonly { readonly seq: number }[];
}

/** Many clients without a key that follow the events by long polls, as the document says. */
export class ManyPollers {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #port: number;
  /** Called for each page of each poller. */
  readonly #onPage: (lastSeq: number) => void;

  constructor(port: number, onPage: (lastSeq: number) => void = () => {}) {
    this.#port = port;
    this.#onPage = onPage;
  }

  /** Starts `count` pollers at the head. Returns their cursors. */
  start(count: number): Promise<readonly string[]> {
    return Promise.all(Array.from({ length: count }, async () => (await this.#ask("/api/v1/events")).cursor));
  }

  /** Polls after a cursor up to the event `last`. Returns the seqs of all events, in order. */
  async follow(cursor: string, last: number): Promise<readonly number[]> {
    const seqs: number[] = [];
    for (let after = cursor; (seqs.at(-1) ?? 0) < last; ) {
      const page = await this.#ask(`/api/v1/events?after=${after}&wait=55`);
      seqs.push(...page.events.map(({ seq }) => seq));
      after = page.cursor;
      this.#onPage(seqs.at(-1) ?? 0);
    }
    return seqs;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #ask(path: string): Promise<Page> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: "127.0.0.1", port: this.#port, path, agent: this.#agent }, resolve).on("error", reject);
    });
    const body = await text(response);
    if (response.statusCode !== 200) throw new Error(`${path} → ${response.statusCode}: ${body}`);
    return JSON.parse(body) as Page;
  }
}
