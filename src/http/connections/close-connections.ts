import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../lib/time/clock.ts";

/** How often a closing server looks for connections that became idle since. */
const LOOK_EVERY_MS = 50;

/**
 * Makes `app.close()` end within `graceMs`. Of itself it ends only the connections that are idle at that moment: to Node one that has
 * sent nothing yet, as browsers open them in advance, is not; one whose answer ends later is kept alive for the client's next
 * request; and the request timeout stops when a server closes. So the first are ended at once, the second when they
 * become idle, and what is still being answered after `graceMs` is cut.
 */
export function boundClosing(app: FastifyInstance, clock: Clock, graceMs: number): void {
  const unheard = new Set<Socket>();
  // One function for all connections: a closure each would be memory that ten thousand idle clients cost.
  function forget(this: Socket): void {
    unheard.delete(this);
  }
  app.server.on("connection", (socket: Socket) => {
    unheard.add(socket);
    socket.on("close", forget);
  });
  const hear = ({ socket }: IncomingMessage) => {
    if (unheard.delete(socket)) socket.off("close", forget);
  };
  // The hook is for upgrades, the event for what is answered before there are hooks.
  app.server.prependListener("request", hear);
  app.addHook("onRequest", (request, _reply, done) => {
    hear(request.raw);
    done();
  });
  app.addHook("preClose", (done) => {
    for (const socket of unheard) socket.destroy();
    if (app.server.listening) {
      const { server } = app;
      const stopLooking = clock.every(LOOK_EVERY_MS, () => server.closeIdleConnections());
      const closed = new AbortController();
      server.once("close", () => {
        stopLooking();
        closed.abort();
      });
      clock.sleep(graceMs, closed.signal).then(
        () => server.closeAllConnections(),
        () => {},
      );
    }
    done();
  });
}
