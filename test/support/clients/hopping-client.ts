import { setTimeout as pause } from "node:timers/promises";
import type { Chance } from "../random/chance.ts";
import { SwitchingClient } from "./switching-client.ts";

/** Follows a cluster over all transports, one node after another. */
export class HoppingClient extends SwitchingClient {
  readonly epochs = new Set<string>();
  readonly trouble: string[] = [];
  /** All applied events as text, by epoch and seq. */
  readonly delivered = new Map<string, string>();
  readonly #urls: () => readonly string[];
  readonly #chance: Chance;
  #isOver = false;

  /** @param urls Returns the running nodes. */
  constructor(urls: () => readonly string[], chance: Chance) {
    super("");
    this.#urls = urls;
    this.#chance = chance;
  }

  override take(message: Record<string, unknown>): void {
    super.take(message);
    if (message.type !== "event") return;
    const { name, channel, observed_at, data } = message;
    const [epoch] = String(this.cursor).split("-");
    this.delivered.set(`${epoch}-${this.seq}`, JSON.stringify({ name, channel, observed_at, data }));
  }

  /** Follows until {@link end}. After an error of a dead or starting node it tries the next. */
  async follow(): Promise<void> {
    while (!this.#isOver) {
      this.#hop();
      try {
        await this.#leg();
      } catch (error) {
        if (!isOfDeadNode(error)) this.trouble.push(String(error));
        await pause(50);
      }
      // A node that has no data yet gives no cursor.
      if (this.cursor !== undefined) this.epochs.add(this.cursor.split("-")[0] ?? "");
    }
  }

  end(): void {
    this.#isOver = true;
  }

  #hop(): void {
    const [first = "", ...others] = this.#urls();
    this.base = this.#chance.pick([first, ...others]);
  }

  async #leg(): Promise<void> {
    const enough = this.#chance.whole(1, 40);
    const over = this.#chance.pick(["websocket", "sse", "poll"]);
    if (over === "websocket") await this.overWebSocket(enough);
    else if (over === "sse") await this.overSse(enough, this.#chance.happens(0.5));
    else await this.overPolling(enough, 100, 2);
  }
}

/** Whether a node that was killed or has just started explains the error. */
function isOfDeadNode(error: unknown): boolean {
  return /fetch failed|ECONNREFUSED|ECONNRESET|terminated|other side closed|socket hang up|status 503/.test(
    String(error),
  );
}
