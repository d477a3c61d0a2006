import { closeAction } from "../protocol/close-codes.ts";
import { ended, endOf } from "./end.ts";
import { openHttpLine } from "./http-line.ts";
import type { Line, LineListener } from "./line.ts";
import type { Platform, SocketClass } from "./platform.ts";

/**
 * Opens a WebSocket on this address. `why` is one where HTTP tells what a WebSocket that does not open hides: whether the server refuses it,
 * is not there, or is behind something that lets no WebSocket through.
 */
export function openWebSocketLine(
  platform: Platform,
  listener: LineListener,
  url: string,
  why: string,
): Line {
  const { onMessage, onEnd } = listener;
  const socket = new (platform.WebSocket as SocketClass)(url, "flarewire.v1");
  let heard = false;
  let asked: Line | undefined;
  const close = () => {
    // A dead line never answers a close: neither wait for it nor listen to it.
    socket.onmessage = socket.onclose = null;
    socket.close();
    asked?.close();
  };
  // The package ws throws what nobody listens to.
  socket.onerror = () => {};
  socket.onmessage = ({ data }) => {
    heard = true;
    try {
      onMessage(JSON.parse(String(data)));
    } catch (error) {
      close();
      onEnd(endOf(error));
    }
  };
  socket.onclose = ({ code }) => {
    // Codes of the server's own say what to do; others come from whatever is in between, and say nothing.
    const end = ended(code >= 4000 && code < 4300 ? closeAction(code) : "cut", `close code ${code}`);
    if (heard || end.action !== "cut" || !platform.fetch) onEnd(end);
    else {
      asked = openHttpLine(platform, {}, listener, async ({ get }) => {
        await get(why, "application/json", 200, 410);
        return end;
      });
    }
  };
  return { close };
}
