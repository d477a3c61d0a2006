import type { TransportContext } from "./attempt.ts";
import { closed, type End } from "./end.ts";
import type { Platform, SocketClass } from "./platform.ts";

interface WebSocketUrls {
  /** Builds the URL with extra parameters. */
  readonly urlOf: (more: Readonly<Record<string, string>>) => string;
  /** Issues tickets for a key, as WebSockets cannot send one; `undefined` without a key. */
  readonly tickets: string | undefined;
  /** Shows over HTTP why a WebSocket did not open: rejected, absent, or blocked on the way. */
  readonly why: string;
}

/** Reads a WebSocket until it ends. With a key, each connection fetches a single-use ticket. */
export async function runWebSocket(
  { request, deliver, signal }: TransportContext,
  { WebSocket }: Platform,
  { urlOf, tickets, why }: WebSocketUrls,
): Promise<End> {
  // A server without keys neither issues tickets nor requires them.
  const response = tickets && (await request(tickets, [201, 404], {}, "POST"));
  const { ticket } = response ? Object(await response.json()) : {};
  signal.throwIfAborted();
  const socket = new (WebSocket as SocketClass)(urlOf(ticket && { ticket }), "flarewire.v1");
  let heard = false;
  const end = await new Promise<End>((resolve, reject) => {
    const stop = () => {
      // A dead connection never answers a close, so neither wait for it nor listen to it.
      socket.onmessage = socket.onclose = null;
      socket.close();
    };
    signal.addEventListener("abort", stop);
    // The package ws throws errors without a listener.
    socket.onerror = () => {};
    socket.onmessage = ({ data }) => {
      heard = true;
      try {
        // `JSON.parse` turns a binary frame into text, too, and then rejects it.
        deliver(JSON.parse(data as string));
      } catch (error) {
        stop();
        reject(error);
      }
    };
    socket.onclose = ({ code, reason }) => resolve(closed(code, reason));
  });
  if (!heard && end.action === "fallback") await request(why, [200, 410]);
  return end;
}
