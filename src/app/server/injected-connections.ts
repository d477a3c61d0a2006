import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/lib/time/clock.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";

/** How often a closing server looks for newly idle connections. */
const POLL_EVERY_MS = 50;

/** Serves connections that another listener accepted, on an HTTP server that does not listen. */
export class InjectedConnections {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #sockets = new Set<Socket>();
  readonly #forget: (this: Socket) => void;
  #onGone: () => void = () => {};

  constructor(server: Server, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
    const sockets = this.#sockets;
    const gone = () => this.#onGone();
    // One function for all connections: a closure for each would cost memory per idle client.
    this.#forget = function forget() {
      sockets.delete(this);
      if (sockets.size === 0) gone();
    };
    // On this event Node starts enforcing its request timeouts. It has no other effect.
    server.emit("listening");
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** Serves a connection from which nothing was read yet. */
  take(socket: Socket): void {
    if (socket.destroyed) return;
    // As on a listening server, a client may half-close before it has the response.
    socket.allowHalfOpen = true;
    this.#sockets.add(socket);
    socket.once("close", this.#forget);
    this.#server.emit("connection", socket);
    socket.resume();
  }

  /**
   * Closes connections once they are idle, and the rest after `graceMs`. Resolves when all have
   * closed.
   */
  async close(graceMs: number): Promise<void> {
    if (this.#sockets.size === 0) return;
    const { promise: gone, resolve } = Promise.withResolvers<true>();
    this.#onGone = () => resolve(true);
    const stop = this.#clock.every(POLL_EVERY_MS, () => this.#server.closeIdleConnections());
    const isGone = await waitAtMost(gone, graceMs, this.#clock);
    if (!isGone) for (const socket of this.#sockets) socket.destroy();
    await gone;
    stop();
  }
}
