import { checkedFetch } from "../expect/validate-response.ts";
import { FOLLOWED, IndependentClient } from "./independent-client.ts";
import { SseClient } from "./sse-client.ts";

/*
 * The independent client on the other transports, written from PROTOCOL.md. All messages pass the
 * same checks and change the same state, so a test sees whether a cursor is valid on all
 * transports.
 */

type Json = Record<string, unknown>;

const seqOf = (cursor: unknown) => Number(String(cursor).split("-")[1]);

/** Follows all channels over a transport that it may change at any time. */
export class SwitchingClient extends IndependentClient {
  /** Seqs of all applied events. */
  readonly applied: number[] = [];

  override take(message: Json): void {
    super.take(message);
    if (message.type === "event") this.applied.push(Number(message.seq));
  }

  /** Follows over a WebSocket until `enough` events have arrived, then cuts it. */
  async overWebSocket(enough: number): Promise<void> {
    const target = this.seq + enough;
    await this.connect();
    await this.until(() => this.seq >= target || this.closeCode !== undefined);
    await this.disconnect();
  }

  /**
   * Follows over server-sent events. `byHeader`: resumes with `Last-Event-ID`, as a browser does.
   */
  async overSse(enough: number, byHeader: boolean): Promise<void> {
    const target = this.seq + enough;
    const cursor = this.cursor;
    const query = new URLSearchParams({
      channels: FOLLOWED,
      ...(cursor && !byHeader ? { after: cursor } : {}),
    });
    const headers: Record<string, string> = cursor && byHeader ? { "last-event-id": cursor } : {};
    let isCut = false;
    const url = `${this.base}/api/v1/events?${query}`;
    const stream = await SseClient.open(url, headers, ({ event, lastEventId, message }) => {
      // Ignore messages that were in flight when the client left.
      if (isCut) return;
      this.take(message);
      // A browser would resume from this id.
      if (event !== "hello" && event !== "heartbeat" && event !== "close" && lastEventId !== this.cursor) {
        throw new Error(`the event id is ${lastEventId}, but the cursor is ${this.cursor}`);
      }
    });
    await stream.until(() => stream.over || (this.seq >= target && this.cursor !== undefined));
    isCut = true;
    stream.cut();
    await stream.ended;
  }

  /** Follows by polling, `limit` events at a time. */
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
    if (cursor === null || seqOf(cursor) < this.seq)
      throw new Error(`cursor ${cursor} is behind seq ${this.seq}`);
    this.cursor = cursor;
    this.seq = seqOf(cursor);
  }

  /** Fetches a snapshot over REST when polling cannot resume. */
  async #snapshot(): Promise<void> {
    const response = await checkedFetch(`${this.base}/api/v1/snapshot`);
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    const { cursor, observed_at: _observed, ...snapshot } = response.json as Json;
    this.take({ type: "subscribed", cursor, resumed: "reset", snapshot });
  }
}
