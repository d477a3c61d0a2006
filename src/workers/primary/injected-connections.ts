import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../lib/time/clock.ts";

/** How often a closing server looks for connections that became idle since. */
const LOOK_EVERY_MS = 50;

/** Connections that another process accepted, for an HTTP server that does not listen itself. */
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
    // One function for all connections: a closure each would be memory that idle clients cost.
    this.#forget = function forget() {
      sockets.delete(this);
      if (sockets.size === 0) gone();
    };
    // With this Node begins to look after the time limits of requests; it is all that it does.
    server.emit("listening");
  }

  /** Open connections. */
  get size(): number {
    return this.#sockets.size;
  }

  /** Serves a connection whose bytes nobody has read yet. */
  take(socket: Socket): void {
    if (socket.destroyed) return;
    // As it is on a server that accepts by itself: a client may end its half before it has the answer.
    socket.allowHalfOpen = true;
    this.#sockets.add(socket);
    socket.once("close", this.#forget);
    this.#server.emit("connection", socket);
    socket.resume();
  }

  /** Ends them as they become idle, and all after `graceMs`; resolves when none is left. */
  async close(graceMs: number): Promise<void> {
    if (this.#sockets.size === 0) return;
    const gone = new Promise<void>((resolve) => {
      this.#onGone = resolve;
    });
    const over = new AbortController();
    const stop = this.#clock.every(LOOK_EVERY_MS, () => this.#server.closeIdleConnections());
    this.#clock.sleep(graceMs, over.signal).then(
      () => {
        for (const socket of this.#sockets) socket.destroy();
      },
      () => undefined,
    );
    await gone;
    over.abort();
    stop();
  }
}
