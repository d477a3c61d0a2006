import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { FairQueue } from "../../hub/index.ts";

/** Time in which turns only accept, while connections arrive. */
const ACCEPT_MS = 5;
/** Time after which a silent connection is served. Its own timeouts begin then. */
const SILENT_MS = 1_000;

/**
 * Returns a function that serves a connection once it has sent something, the addresses in turn.
 *
 * libuv accepts one connection per turn of the event loop (libuv#3696). If each were served in its
 * turn, a client would wait for all that came before it: thousands after a failure. So while
 * connections arrive, most turns only accept. `perTurn`: how many to serve in a turn, few while
 * many requests wait, which take more memory than connections.
 */
export function createIntake(serve: (socket: Socket) => void, clock: Clock, perTurn: () => number) {
  const waiting = new FairQueue<Socket>();
  let isScheduled = false;
  let hasArrived = false;
  let servedAtMs = 0;
  const schedule = () => {
    if (!isScheduled) setImmediate(endTurn);
    isScheduled = true;
  };
  const endTurn = () => {
    const nowMs = clock.monotonic();
    const mustServe = !hasArrived || nowMs - servedAtMs >= ACCEPT_MS;
    isScheduled = hasArrived = false;
    if (mustServe) servedAtMs = nowMs;
    for (let left = mustServe ? perTurn() : 0; left > 0; left -= 1) serveNext();
    if (waiting.size > 0) schedule();
  };
  const serveNext = () => {
    const socket = waiting.shift()?.off("error", ignore);
    // It may have been closed or refused meanwhile.
    if (!socket?.writable) return;
    // The request's microtasks must run before the next tick, in which an upgraded connection ends.
    queueMicrotask(() => {
      const first = socket.read(socket.readableLength);
      // Node would wait for a request, because it learns of the end too late.
      if (socket.readableEnded) return void socket.end();
      socket.emit = emitEndLater;
      setImmediate(() => Object.assign(socket, { emit: EventEmitter.prototype.emit }));
      serve(socket);
      if (first) socket.emit("data", first);
    });
  };
  return (socket: Socket, address: string): void => {
    hasArrived = true;
    const ready = () => {
      socket.off("readable", ready).off("timeout", ready).setTimeout(0);
      waiting.push(socket, { name: address, isKeyed: false });
      schedule();
    };
    socket.on("error", ignore).on("readable", ready).on("timeout", ready).setTimeout(SILENT_MS);
  };
}

/** Emits `end` a turn later, because Node then ends a connection, even before its responses. */
function emitEndLater(this: Socket, name: string | symbol, ...args: unknown[]): boolean {
  if (name !== "end") return EventEmitter.prototype.emit.call(this, name, ...args);
  setImmediate(() => this.emit("end"));
  return true;
}

/** Ignores the error of a connection, which closes after it, or of a wait that was stopped. */
export function ignore(): void {}
