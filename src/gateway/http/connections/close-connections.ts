import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { ignore } from "./intake.ts";

const POLL_EVERY_MS = 50;

/**
 * Makes `app.close()` finish within `graceMs`. By themselves, Fastify and Node close only
 * connections that are idle at the start. This closes unused ones at once, others as they become
 * idle, and the rest after `graceMs`. Maintains `unheard`: the connections without a request so
 * far, each with the monotonic time at which it was accepted.
 */
export function boundClosing(
  app: FastifyInstance,
  clock: Clock,
  graceMs: number,
  unheard: Map<Socket, number>,
): void {
  // One function for all: a closure for each of ten thousand idle clients would cost memory.
  function forget(this: Socket): void {
    unheard.delete(this);
  }
  app.server.on("connection", (socket: Socket) => {
    unheard.set(socket, clock.monotonic());
    socket.on("close", forget);
  });
  const hear = ({ socket }: IncomingMessage) => {
    if (unheard.delete(socket)) socket.off("close", forget);
  };
  // The hook sees upgrades; the event sees requests that are answered before hooks run.
  app.server.prependListener("request", hear);
  app.addHook("onRequest", (request, _reply, done) => {
    hear(request.raw);
    done();
  });
  app.addHook("preClose", (done) => {
    for (const socket of unheard.keys()) socket.destroy();
    if (app.server.listening) {
      const { server } = app;
      const stopPolling = clock.every(POLL_EVERY_MS, () => server.closeIdleConnections());
      const closed = new AbortController();
      server.once("close", () => {
        stopPolling();
        closed.abort();
      });
      clock.sleep(graceMs, closed.signal).then(() => server.closeAllConnections(), ignore);
    }
    done();
  });
}
