import type { Socket } from "node:net";

/**
 * Ends a connection with a reset. A connection that is already closing is destroyed instead. There
 * `resetAndDestroy` leaves the handle open and emits no `close`, and the process then spins forever
 * at its exit. libuv's uv_tcp_close_reset must not be combined with a shutdown, and Node takes the
 * socket for closed nevertheless.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
