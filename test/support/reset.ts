import type { Socket } from "node:net";

/**
 * Ends a connection by a reset. One of which the end is being told already is destroyed instead:
 * `resetAndDestroy` then leaves it open, emits no `close`, and the process, told to end, turns
 * round for ever in its last cleaning up (libuv's uv_tcp_close_reset is not to be used with a
 * shutdown, and Node takes the socket for closed all the same).
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
