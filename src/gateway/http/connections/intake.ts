import type { Socket } from "node:net";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { FairQueue } from "../../hub/index.ts";

/** Time in which turns only accept, while connections arrive. */
const ACCEPT_MS = 5;
/** Connections served in one turn. */
const MOST_SERVED = 4;
/** Time after which a connection is served that has sent nothing. Its own timeouts begin then. */
const SILENT_MS = 1_000;

/**
 * Returns a function that serves a connection once it has sent something, the addresses in turn.
 *
 * libuv accepts one connection per turn of the event loop (libuv#3696). If each were served in its
 * turn, a client would wait for all that came before it: thousands after a failure. So while
 * connections arrive, most turns only accept. `mayServe`: false while enough requests wait, which
 * take more memory than connections.
 */
export function createIntake(serve: (socket: Socket) => void, clock: Clock, mayServe: () => boolean) {
  const waiting = new FairQueue<Socket>();
  let [isScheduled, hasArrived, servedAtMs] = [false, false, 0];
  const schedule = () => {
    if (!isScheduled) setImmediate(endTurn);
    isScheduled = true;
  };
  const endTurn = () => {
    const nowMs = clock.monotonic();
    const mustServe = !hasArrived || nowMs - servedAtMs >= ACCEPT_MS;
    [isScheduled, hasArrived, servedAtMs] = [false, false, mustServe ? nowMs : servedAtMs];
    for (let count = 0; count < MOST_SERVED && mustServe && mayServe(); count += 1) {
      const socket = waiting.shift()?.off("error", ignore);
      if (socket?.destroyed !== false) continue;
      // The request's microtasks must run before the next tick, which may emit `end`.
      queueMicrotask(() => {
        const first = socket.read(socket.readableLength);
        serve(socket);
        if (first) socket.emit("data", first);
      });
    }
    if (waiting.size > 0) schedule();
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

/** Ignores an error of a connection that is not served. */
export function ignore(): void {}
