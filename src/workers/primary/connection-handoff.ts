import { createServer, type Server, type Socket } from "node:net";
import { listenOnHost } from "../../base/lib/io/listen-on-host.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import { LISTEN_BACKLOG, type Refusals, refuseConnection } from "../../gateway/http/index.ts";
import { chooseReceiver, type ReceiverState } from "./choose-receiver.ts";
import type { WorkerProcess } from "./worker-process.ts";

export interface ConnectionHandoffOptions {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly receivers: () => readonly (ReceiverState & Pick<WorkerProcess, "handOver">)[];
  readonly refusals: Refusals;
}

/** Maximum connections that wait for a receiver. */
const MAX_WAITING = 2_048;
/** From this number on, speed matters more than even distribution. */
const MANY_WAITING = MAX_WAITING / 2;
/** How long a connection waits while no receiver is ready. */
const MAX_WAIT_MS = 5_000;
const TICK_MS = 500;

interface Waiting {
  readonly socket: Socket;
  readonly untilMs: number;
}

/**
 * Listens on the port that all workers share. Hands each connection, unread, to the worker with the
 * fewest connections, one at a time per worker. If a worker dies before it takes its connection,
 * another worker gets that connection.
 *
 * In a burst, the next connection waits for the worker with the fewest connections, unless that
 * worker is stuck or very many wait. While no worker is ready, connections that have waited for 5 s
 * are refused. When 2,048 are waiting, further ones are refused immediately.
 */
export class ConnectionHandoff {
  readonly #options: ConnectionHandoffOptions;
  #servers: readonly Server[] = [];
  #waiting: Waiting[] = [];
  #stopTicking: () => void = () => {};
  #turn = 0;
  #isClosed = false;

  constructor(options: ConnectionHandoffOptions) {
    this.#options = options;
  }

  /** Listens. Resolves with the URL, or rejects with the system's error. */
  async listen(): Promise<string> {
    const { host, port, clock, refusals } = this.#options;
    // The same as an HTTP server: small responses are sent at once, and clients may half-close.
    const options = { pauseOnConnect: true, noDelay: true, allowHalfOpen: true };
    const create = () => createServer(options, (socket) => this.#receive(socket));
    const onError = (error: Error) => refusals.countFailedAccept(error);
    const listening = await listenOnHost({ host, port, backlog: LISTEN_BACKLOG, create, onError });
    this.#servers = listening.servers;
    this.#stopTicking = clock.every(TICK_MS, () => {
      this.#refuseLate();
      // The worker that the next connection waits for may be stuck by now.
      this.pump();
    });
    return `http://${listening.authority}`;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Hands over waiting connections. Call it when a receiver can take one. */
  pump(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (next.socket.destroyed) this.#waiting.shift();
      else {
        this.#turn += 1;
        const inHurry = this.#waiting.length >= MANY_WAITING;
        const receiver = chooseReceiver(this.#options.receivers(), this.#turn, inHurry);
        if (!receiver) return;
        if (receiver.handOver(next.socket)) this.#waiting.shift();
        else return;
      }
    }
  }

  /** Takes back a connection that a dead worker had not taken. It is the next to be handed over. */
  takeBack(socket: Socket): void {
    if (this.#isClosed) this.#refuse(socket);
    else {
      this.#waiting.unshift({ socket, untilMs: this.#options.clock.monotonic() + MAX_WAIT_MS });
      this.pump();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTicking();
    for (const server of this.#servers) server.close();
    for (const { socket } of this.#waiting.splice(0)) this.#refuse(socket);
  }

  #receive(socket: Socket): void {
    // The receiver adds its own listeners. An error while waiting needs no action.
    socket.on("error", () => {});
    if (this.#waiting.length >= MAX_WAITING) this.#refuse(socket);
    else {
      this.#waiting.push({ socket, untilMs: this.#options.clock.monotonic() + MAX_WAIT_MS });
      this.pump();
    }
  }

  #refuse(socket: Socket): void {
    this.#options.refusals.count("no-worker", socket.remoteAddress);
    const message = "no worker process is ready; try again";
    refuseConnection(socket, new FlarewireError("not-ready", message), this.#options.clock);
  }

  #refuseLate(): void {
    const nowMs = this.#options.clock.monotonic();
    // If workers are only slow, connections wait, as in the system's accept queue.
    if (this.#options.receivers().some(({ isReady }) => isReady)) return;
    const late = this.#waiting.filter(({ untilMs }) => untilMs <= nowMs);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter(({ untilMs }) => untilMs > nowMs);
    for (const { socket } of late) this.#refuse(socket);
  }
}
