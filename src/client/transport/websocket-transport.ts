import type { LineRun } from "./attempt.ts";
import { closed, type End } from "./end.ts";
import type { Platform, SocketClass } from "./platform.ts";

/** Where a WebSocket is opened. */
export interface WebSocketPlace {
  /** The address, with these parameters on top. */
  readonly urlOf: (more: Readonly<Record<string, string>>) => string;
  /** Where a key gets tickets, as WebSockets cannot carry one; `undefined`: there is no key. */
  readonly tickets: string | undefined;
  /** Where HTTP tells what a WebSocket that does not open hides: whether the server refuses it, is not there, or is behind something that lets none through. */
  readonly why: string;
}

/** Reads a WebSocket until it ends. With a key it is opened by a ticket, which is of use once, so that each connection fetches its own. */
export async function runWebSocket(
  { ask, tell, signal }: LineRun,
  { WebSocket, fetch }: Platform,
  { urlOf, tickets, why }: WebSocketPlace,
): Promise<End> {
  // An open server has none to give, and needs none.
  const given = tickets && (await ask(tickets, [201, 404], "*/*", "POST"));
  const { ticket } = given ? Object(await given.json()) : {};
  signal.throwIfAborted();
  const socket = new (WebSocket as SocketClass)(urlOf(ticket && { ticket }), "flarewire.v1");
  let heard = false;
  const end = await new Promise<End>((resolve, reject) => {
    const stop = () => {
      // A dead line never answers a close: neither wait for it nor listen to it.
      socket.onmessage = socket.onclose = null;
      socket.close();
    };
    signal.addEventListener("abort", stop);
    // The package ws throws what nobody listens to.
    socket.onerror = () => {};
    socket.onmessage = ({ data }) => {
      heard = true;
      try {
        tell(JSON.parse(String(data)));
      } catch (error) {
        stop();
        reject(error);
      }
    };
    socket.onclose = ({ code, reason }) => resolve(closed(code, reason));
  });
  if (!heard && end.action === "cut" && fetch) await ask(why, [200, 410]);
  return end;
}
