import type { FastifyReply, FastifyRequest } from "fastify";

/** Maximum pipelined requests that wait; one more cuts the connection. Browsers send none. */
export const MAX_AHEAD = 16;

/**
 * Creates a hook that delays a pipelined request until the previous responses on its connection are
 * written, because Node would buffer them without bound. `onCut`: called for each connection cut.
 */
export function createOrderHook(
  onCut: (request: FastifyRequest) => void,
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  const ahead = new WeakMap<object, number>();
  return (request, reply, done) => {
    // Node assigns a response its socket once the previous response has been written.
    if (reply.raw.socket) return done();
    const { socket } = request.raw;
    const waiting = (ahead.get(socket) ?? 0) + 1;
    ahead.set(socket, waiting);
    if (waiting > MAX_AHEAD) {
      if (!socket.destroyed) onCut(request);
      socket.destroy();
      return;
    }
    reply.raw.once("socket", () => {
      ahead.set(socket, (ahead.get(socket) ?? 1) - 1);
      done();
    });
  };
}
