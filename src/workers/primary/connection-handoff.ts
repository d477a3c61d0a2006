import { lookup } from "node:dns/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { LISTEN_BACKLOG, type Refusals, refuseConnection } from "../../http/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { FlarewireError } from "../../protocol/index.ts";
import { chooseReceiver, type ReceiverState } from "./choose-receiver.ts";

/** Who takes connections. */
export interface Receiver extends ReceiverState {
  /** False where it cannot take one after all. */
  hand(socket: Socket): boolean;
}

/** What a reception is made of. */
export interface ReceptionOptions {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly receivers: () => readonly Receiver[];
  readonly refusals: Refusals;
}

/** Connections that wait for somebody who takes them, at most; and how long they do where there is nobody. */
const MAX_WAITING = 2_048;
/** From so many on, that they are taken counts for more than by whom. */
const MANY_WAITING = MAX_WAITING / 2;
const PATIENCE_MS = 5_000;
const LOOK_MS = 500;

interface Waiting {
  readonly socket: Socket;
  readonly untilMs: number;
}

/**
 * The one port of all workers. Each connection is accepted here and handed, unread, to the worker that has the fewest, one at a time to each: what a worker that dies
 * has not taken is handed to the next, and of what it has taken the client sees the end at once. Of a burst too nobody gets more for being quicker: the next
 * one waits for the worker that has the fewest, unless that is stuck or very many wait. While no worker is there connections wait here; the port is never closed for want
 * of one.
 */
export class ConnectionHandoff {
  readonly #options: ReceptionOptions;
  readonly #servers: Server[] = [];
  #waiting: Waiting[] = [];
  #stopLooking: () => void = () => {};
  #turn = 0;
  #isClosed = false;

  constructor(options: ReceptionOptions) {
    this.#options = options;
  }

  /** Resolves with the address; rejects with the system's error where it cannot listen. */
  async listen(): Promise<string> {
    const { host, port, clock } = this.#options;
    const [first = host, ...others] = host === "localhost" ? await addressesOf(host) : [host];
    const { family, address, port: taken } = await this.#listenOn(first, port);
    // The other family of the same name is a kindness, where there is one.
    for (const other of others) await this.#listenOn(other, taken).catch(() => undefined);
    this.#stopLooking = clock.every(LOOK_MS, () => {
      this.#refuseLate();
      // Somebody whom the next one waits for may be stuck by now.
      this.pump();
    });
    const wild = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
    return `http://${family === "IPv6" ? `[${wild}]` : wild}:${taken}`;
  }

  /** Connections that wait for somebody who takes them. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Somebody has room now. */
  pump(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (next.socket.destroyed) this.#waiting.shift();
      else {
        this.#turn += 1;
        const inHurry = this.#waiting.length >= MANY_WAITING;
        const receiver = chooseReceiver(this.#options.receivers(), this.#turn, inHurry);
        if (!receiver) return;
        if (receiver.hand(next.socket)) this.#waiting.shift();
        else return;
      }
    }
  }

  /** A connection that was handed over comes back, as nobody took it: it is the next. */
  takeBack(socket: Socket): void {
    if (this.#isClosed) this.#refuse(socket);
    else {
      this.#waiting.unshift({ socket, untilMs: this.#options.clock.monotonic() + PATIENCE_MS });
      this.pump();
    }
  }

  /** Takes no more connections, and refuses those that wait. */
  close(): void {
    this.#isClosed = true;
    this.#stopLooking();
    for (const server of this.#servers) server.close();
    for (const { socket } of this.#waiting.splice(0)) this.#refuse(socket);
  }

  #listenOn(host: string, port: number): Promise<AddressInfo> {
    // As an HTTP server would: small answers are not held back, and a client may end its half first.
    const options = { pauseOnConnect: true, noDelay: true, allowHalfOpen: true };
    const { refusals } = this.#options;
    const server = createServer(options, (socket) => this.#receive(socket));
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, backlog: LISTEN_BACKLOG }, () => {
        this.#servers.push(server);
        server.off("error", reject);
        server.on("error", (error) => refusals.countFailedAccept(error));
        resolve(server.address() as AddressInfo);
      });
    });
  }

  #receive(socket: Socket): void {
    // Whoever is handed over has its own listeners; who goes while it waits is nobody's trouble.
    socket.on("error", () => {});
    if (this.#waiting.length >= MAX_WAITING) this.#refuse(socket);
    else {
      this.#waiting.push({ socket, untilMs: this.#options.clock.monotonic() + PATIENCE_MS });
      this.pump();
    }
  }

  #refuse(socket: Socket): void {
    this.#options.refusals.count("no-worker", socket.remoteAddress);
    const message = "no process that serves clients is there now; try again";
    refuseConnection(socket, new FlarewireError("not-ready", message));
  }

  #refuseLate(): void {
    const nowMs = this.#options.clock.monotonic();
    // Where somebody is only slow they wait, as they would in the system's queue.
    if (this.#options.receivers().some(({ isReady }) => isReady)) return;
    const late = this.#waiting.filter(({ untilMs }) => untilMs <= nowMs);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter(({ untilMs }) => untilMs > nowMs);
    for (const { socket } of late) this.#refuse(socket);
  }
}

async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}
