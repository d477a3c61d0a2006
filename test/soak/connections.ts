import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { SseClient } from "../support/sse-client.ts";

/*
 * One connection each, over the three transports, as it may fail at any moment: nothing here
 * rejects or throws.
 */

type Json = Record<string, unknown>;
/** Takes one message as JSON text. */
type Hear = (text: string) => void;

/** A way to the gateway, open or on its way to be. */
export interface Connection {
  /** Resolves when it is over, from whichever side. */
  readonly ended: Promise<void>;
  /** Why the server ended it, if it said so. */
  readonly reason?: string | undefined;
  /**
   * Ends it in order. A connection that is not closed is left as it is: half open, for all that
   * anybody knows.
   */
  close(): void;
}

/** Follows over the runtime's own WebSocket. */
export function openWebSocket(url: string, query: URLSearchParams, hear: Hear): Connection {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/v1/stream?${query}`, "flarewire.v1");
  const ended = Promise.withResolvers<void>();
  const connection = {
    ended: ended.promise,
    reason: undefined as string | undefined,
    close: () => socket.close(),
  };
  socket.onmessage = ({ data }) => hear(String(data));
  socket.onerror = () => {};
  socket.onclose = ({ reason }) => {
    if (reason !== "") connection.reason = reason;
    ended.resolve();
  };
  return connection;
}

/** Follows server-sent events; `lastEventId` resumes as a browser does. */
export function openSse(
  url: string,
  query: URLSearchParams,
  lastEventId: string | undefined,
  hear: Hear,
): Connection {
  const ended = Promise.withResolvers<void>();
  let stream: SseClient | undefined;
  let isClosed = false;
  const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  void SseClient.open(`${url}/api/v1/events?${query}`, headers, ({ message }) =>
    hear(JSON.stringify(message)),
  ).then(
    (opened) => {
      stream = opened;
      if (isClosed) opened.cut();
      void opened.ended.then(ended.resolve);
    },
    () => ended.resolve(),
  );
  const close = () => {
    isClosed = true;
    stream?.cut();
    ended.resolve();
  };
  return { ended: ended.promise, close };
}

/** What a client that polls asks, and whom it tells. */
interface PollOptions {
  readonly url: string;
  readonly query: URLSearchParams;
  /** Where the next answer begins; `undefined`: nobody wants one. */
  readonly cursor: () => string | undefined;
  readonly hear: Hear;
}

/**
 * Asks again and again; ends with the first answer that does not come whole, and when the cursor is
 * gone. Beside events it tells `{type: "place", cursor}` and `{type: "gone"}`.
 */
export function openPoll({ url, query, cursor, hear }: PollOptions): Connection {
  const over = new AbortController();
  const follow = async () => {
    for (let after = cursor(); after !== undefined; after = cursor()) {
      query.set("after", after);
      const { status, fields, body } = await get(`${url}/api/v1/events?${query}`, over.signal);
      if (status === 410) return hear(JSON.stringify({ type: "gone" }));
      if (status !== 200 && status !== 204) return;
      const page = (body ?? { events: [], cursor: fields["flarewire-cursor"] }) as {
        cursor: string;
        events: Json[];
      };
      for (const event of page.events) hear(JSON.stringify(event));
      hear(JSON.stringify({ type: "place", cursor: page.cursor }));
      if (page.events.length === 0 && query.get("wait") === "0") return;
    }
  };
  return { ended: follow().catch(() => {}), close: () => over.abort() };
}

/** Reads the snapshot over REST and tells it as a stream would. */
export function readSnapshot(url: string, hear: Hear): Connection {
  const over = new AbortController();
  const read = async () => {
    const { status, body } = await get(`${url}/api/v1/snapshot`, over.signal);
    if (status !== 200 || !body) return;
    const { cursor, observed_at: _observed, ...snapshot } = body;
    hear(JSON.stringify({ type: "subscribed", cursor, resumed: "reset", snapshot }));
  };
  return { ended: read().catch(() => {}), close: () => over.abort() };
}

/** One request on a connection of its own. Rejects when the answer does not come whole. */
export async function get(url: string, signal: AbortSignal) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { agent: false, signal, headers: { accept: "application/json" } })
      .on("response", resolve)
      .on("error", reject)
      .end();
  });
  const content = await text(response);
  const body: Json | undefined = content === "" ? undefined : JSON.parse(content);
  return { status: response.statusCode ?? 0, fields: response.headers, body };
}
