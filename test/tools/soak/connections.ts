import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { SseClient } from "../../support/clients/sse-client.ts";

/*
 * One connection over each of the three transports. Connections may fail at any moment, so nothing
 * here rejects or throws, except `get`.
 */

type Json = Record<string, unknown>;
/** Receives one message as JSON text. */
type OnText = (text: string) => void;

/** A connection to the gateway, open or being opened. */
export interface Connection {
  /** Resolves when it has ended, from either side. */
  readonly ended: Promise<void>;
  /** The server's reason for ending it, if any. */
  readonly reason?: string | undefined;
  /** Closes it in order. A connection that is never closed stays half-open. */
  close(): void;
}

/** Follows over the runtime's WebSocket. */
export function openWebSocket(url: string, query: URLSearchParams, onText: OnText): Connection {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/v1/stream?${query}`, "flarewire.v1");
  const ended = Promise.withResolvers<void>();
  const connection = {
    ended: ended.promise,
    reason: undefined as string | undefined,
    close: () => socket.close(),
  };
  socket.onmessage = ({ data }) => onText(String(data));
  socket.onerror = () => {};
  socket.onclose = ({ reason }) => {
    if (reason !== "") connection.reason = reason;
    ended.resolve();
  };
  return connection;
}

/** Follows server-sent events. `lastEventId` resumes as a browser does. */
export function openSse(
  url: string,
  query: URLSearchParams,
  lastEventId: string | undefined,
  onText: OnText,
): Connection {
  const ended = Promise.withResolvers<void>();
  let stream: SseClient | undefined;
  let isClosed = false;
  const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  void SseClient.open(`${url}/api/v1/events?${query}`, headers, ({ message }) =>
    onText(JSON.stringify(message)),
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

interface PollOptions {
  readonly url: string;
  readonly query: URLSearchParams;
  /** Returns the cursor of the next request; `undefined` ends the polling. */
  readonly cursor: () => string | undefined;
  readonly onText: OnText;
}

/**
 * Polls repeatedly. Ends at the first incomplete response, and if the cursor is gone. In addition
 * to events it reports `{type: "place", cursor}` and `{type: "gone"}`.
 */
export function openPoll({ url, query, cursor, onText }: PollOptions): Connection {
  const closing = new AbortController();
  const follow = async () => {
    for (let after = cursor(); after !== undefined; after = cursor()) {
      query.set("after", after);
      const { status, fields, body } = await get(`${url}/api/v1/events?${query}`, closing.signal);
      if (status === 410) return onText(JSON.stringify({ type: "gone" }));
      if (status !== 200 && status !== 204) return;
      const page = (body ?? { events: [], cursor: fields["flarewire-cursor"] }) as {
        cursor: string;
        events: Json[];
      };
      for (const event of page.events) onText(JSON.stringify(event));
      onText(JSON.stringify({ type: "place", cursor: page.cursor }));
      if (page.events.length === 0 && query.get("wait") === "0") return;
    }
  };
  return { ended: follow().catch(() => {}), close: () => closing.abort() };
}

/** Reads the snapshot over REST and reports it like a stream. */
export function readSnapshot(url: string, onText: OnText): Connection {
  const closing = new AbortController();
  const read = async () => {
    const { status, body } = await get(`${url}/api/v1/snapshot`, closing.signal);
    if (status !== 200 || !body) return;
    const { cursor, observed_at: _observed, ...snapshot } = body;
    onText(JSON.stringify({ type: "subscribed", cursor, resumed: "reset", snapshot }));
  };
  return { ended: read().catch(() => {}), close: () => closing.abort() };
}

/** Sends one request on its own connection. Rejects if the response is incomplete. */
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
