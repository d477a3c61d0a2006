import { FOLLOWED, IndependentClient } from "./independent-client.ts";
import { SseClient } from "./sse-client.ts";
import { checkedFetch } from "./validate-response.ts";

/*
 * The independent client on the other transports, written from PROTOCOL.md: whatever it receives
 * goes through the same checks and the same state, so that it shows whether one cursor holds on all
 * of them.
 */

type Json = Record<string, unknown>;

const seqOf = (cursor: unknown) => Number(String(cursor).split("-")[1]);

/** Follows all channels over a transport that it may change at any time. */
export class SwitchingClient extends IndependentClient {
  /** Seqs of all events that were applied. */
  readonly applied: number[] = [];

  override take(message: Json): void {
    super.take(message);
    if (message.type === "event") this.applied.push(Number(message.seq));
  }

  /** Follows over a WebSocket until `enough` events came, and cuts it off. */
  async overWebSocket(enough: number): Promise<void> {
    const target = this.seq + enough;
    await this.connect();
    await this.until(() => this.seq >= target || this.closeCode !== undefined);
    await this.disconnect();
  }

  /** The same over server-sent events; `byHeader` resumes as a browser does. */
  async overSse(enough: number, byHeader: boolean): Promise<void> {
    const target = this.seq + enough;
    const cursor = this.cursor;
    const query = new URLSearchParams({
      channels: FOLLOWED,
      ...(cursor && !byHeader ? { after: cursor } : {}),
    });
    const headers: Record<string, string> = cursor && byHeader ? { "last-event-id": cursor } : {};
    let cut = false;
    const url = `${this.base}/api/v1/events?${query}`;
    const stream = await SseClient.open(url, headers, ({ event, lastEventId, message }) => {
      // What was on its way when the client turned away is not the client's any more.
      if (cut) return;
      this.take(message);
      // A browser would continue from here.
      if (event !== "hello" && event !== "heartbeat" && event !== "close" && lastEventId !== this.cursor) {
        throw new Error(`id ${lastEventId} at ${this.cursor}`);
      }
    });
    await stream.until(() => stream.over || (this.seq >= target && this.cursor !== undefined));
    cut = true;
    stream.cut();
    await stream.ended;
  }

  /** The same by asking again and again, `limit` events at a time. */
  async overPolling(enough: number, limit: number, wait: number): Promise<void> {
    if (this.cursor === undefined) await this.#snapshot();
    for (const target = this.seq + enough; this.seq < target; ) await this.#poll(limit, wait);
  }

  async #poll(limit: number, wait: number): Promise<void> {
    const page = { limit: `${limit}`, wait: `${wait}` };
    const query = new URLSearchParams({ channels: FOLLOWED, after: String(this.cursor), ...page });
    const response = await checkedFetch(`${this.base}/api/v1/events?${query}`);
    if (response.status === 410) return this.#snapshot();
    if (response.status === 200) {
      const body = response.json as { cursor: string; events: Json[] };
      for (const event of body.events) this.take(event);
      this.#moveTo(body.cursor);
    } else if (response.status === 204) this.#moveTo(response.headers.get("flarewire-cursor"));
    else throw new Error(`status ${response.status}`);
  }

  #moveTo(cursor: string | null): void {
    if (cursor === null || seqOf(cursor) < this.seq) throw new Error(`cursor ${cursor} behind ${this.seq}`);
    this.cursor = cursor;
    this.seq = seqOf(cursor);
  }

  /** Heals over REST what a poll cannot continue. */
  async #snapshot(): Promise<void> {
    const response = await checkedFetch(`${this.base}/api/v1/snapshot`);
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    const { cursor, observed_at: _observed, ...snapshot } = response.json as Json;
    this.take({ type: "subscribed", cursor, resumed: "reset", snapshot });
  }
}
