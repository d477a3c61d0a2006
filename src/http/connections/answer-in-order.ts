import type { FastifyReply, FastifyRequest } from "fastify";

/** Requests that may wait on a connection for the answer before theirs. No browser sends any ahead; a client that sends more has its connection cut. */
export const MAX_AHEAD = 16;

/**
 * A hook that begins a request when the answers before it on its connection are in the system's hands. Node begins pipelined requests at once and holds their
 * answers in memory: a client that asks for large ones and does not read would have as many made as it likes. `onCut`: told of each connection that is cut.
 */
export function createOrderHook(
  onCut: (request: FastifyRequest) => void,
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  const ahead = new WeakMap<object, number>();
  return (request, reply, done) => {
    // Node gives a response its socket when the one before has been written.
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
