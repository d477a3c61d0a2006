import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as passing } from "node:timers/promises";
import type { Chance } from "../random/chance.ts";
import { reset } from "./reset.ts";

/** Faults of one connection through the proxy. */
interface Faults {
  /** Bytes to the client, and to the server, after which the connection is cut. */
  readonly cutAfter: readonly [down: number, up: number];
  /** Cuts with a reset, which loses the data in flight, instead of an orderly end. */
  readonly reset: boolean;
  /**
   * Bytes to the client after which no more pass in either direction, without an end or an error: a
   * half-open connection.
   */
  readonly freezeAfter: number;
  /** Duration of the freeze. Infinity: forever. */
  readonly frozenMs: number;
  /** Maximum bytes that pass in one piece. */
  readonly pieceBytes: number;
  /** Pause before each piece. */
  readonly pieceMs: number;
}

/** Counts of a proxy's connections and faults. */
export interface ProxyTally {
  connections: number;
  cut: number;
  frozen: number;
  thawed: number;
  /** Connections that pass bytes slowly or late. */
  slowed: number;
}

const NO_FAULTS: Faults = {
  cutAfter: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  reset: false,
  freezeAfter: Number.POSITIVE_INFINITY,
  frozenMs: 0,
  pieceBytes: Number.POSITIVE_INFINITY,
  pieceMs: 0,
};

/**
 * A proxy between clients and a gateway that injects random faults. It cuts connections anywhere,
 * even within a frame. It delays bytes, passes them in small pieces, or stops passing them without
 * an error. A client that reconnects while its old connection is frozen has two, and the gateway
 * may count both as open.
 */
export class ChaosProxy {
  readonly tally: ProxyTally = { connections: 0, cut: 0, frozen: 0, thawed: 0, slowed: 0 };
  readonly #target: number;
  readonly #chance: Chance;
  readonly #closing = new AbortController();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  #calm = false;

  /** @param target The gateway's port on this machine. */
  constructor(target: number, chance: Chance) {
    this.#target = target;
    this.#chance = chance;
    // Each connection that waits has two listeners, and there may be many connections.
    process.setMaxListeners(0);
  }

  /** Starts to listen. Resolves with the base URL of the proxy. */
  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Stops injecting faults into new connections. Existing ones are still cut or frozen where
   * planned, but no longer slow.
   */
  calm(): void {
    this.#calm = true;
  }

  /** Ends every connection. New ones are still accepted. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends every connection and stops listening. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.cutAll();
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#target, host: "127.0.0.1", allowHalfOpen: true });
    const faults = this.#calm ? NO_FAULTS : this.#draw();
    this.tally.connections += 1;
    if (faults.pieceMs > 0) this.tally.slowed += 1;
    const ended = new AbortController();
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.once("close", () => this.#sockets.delete(socket));
    }
    const cut = () => {
      if (ended.signal.aborted) return;
      this.tally.cut += 1;
      ended.abort();
      for (const socket of [client, server]) faults.reset ? reset(socket) : socket.destroy();
    };
    const frozen = Promise.withResolvers<void>();
    const connection: Connection = {
      faults,
      cut,
      signal: AbortSignal.any([ended.signal, this.#closing.signal]),
      frozen,
    };
    const down = this.#carry(server, client, connection, "down");
    const up = this.#carry(client, server, connection, "up");
    void Promise.allSettled([down, up]).then(() => {
      client.destroy();
      server.destroy();
    });
  }

  #draw(): Faults {
    const chance = this.#chance;
    const kind = chance.pick(["fair", "cut", "cut", "freeze", "freeze", "slow", "drip", "late"]);
    const slow = { slow: [4_000, 2], drip: [chance.whole(1, 700), 1], late: [65_536, chance.whole(1, 12)] };
    const [pieceBytes, pieceMs] = kind in slow ? slow[kind as keyof typeof slow] : [65_536, 0];
    const isCut = kind === "cut" || chance.happens(0.5);
    const isFrozen = kind === "freeze";
    return {
      cutAfter: [
        isCut ? chance.magnitude(1, 2_000_000) : Number.POSITIVE_INFINITY,
        isCut && chance.happens(0.2) ? chance.whole(1, 600) : Number.POSITIVE_INFINITY,
      ],
      reset: chance.happens(0.5),
      freezeAfter: isFrozen ? chance.magnitude(1, 1_000_000) : Number.POSITIVE_INFINITY,
      frozenMs: chance.happens(0.5) ? chance.whole(5, 60) : Number.POSITIVE_INFINITY,
      pieceBytes: pieceBytes ?? 1,
      pieceMs: pieceMs ?? 0,
    };
  }

  /** Copies bytes from one side to the other, with the connection's faults. */
  async #carry(from: Socket, to: Socket, connection: Connection, direction: "down" | "up"): Promise<void> {
    const { faults, signal } = connection;
    const most = faults.cutAfter[direction === "down" ? 0 : 1];
    let passed = 0;
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        for (let at = 0, end = 0; at < chunk.length; at = end) {
          end = this.#calm ? chunk.length : at + faults.pieceBytes;
          const piece = chunk.subarray(at, end);
          if (faults.pieceMs > 0 && !this.#calm) await passing(faults.pieceMs, undefined, { signal });
          if (direction === "down" && passed + piece.length > faults.freezeAfter) this.#freeze(connection);
          if (connection.isFrozen) await connection.frozen.promise;
          signal.throwIfAborted();
          if (passed + piece.length > most) {
            to.write(piece.subarray(0, most - passed));
            return connection.cut();
          }
          passed += piece.length;
          if (!to.write(piece)) await once(to, "drain", { signal });
        }
      }
      to.end();
    } catch {
      // One side is gone, so close both.
      from.destroy();
      to.destroy();
    }
  }

  #freeze(connection: Connection): void {
    if (connection.isFrozen !== undefined) return;
    connection.isFrozen = true;
    this.tally.frozen += 1;
    const { frozenMs } = connection.faults;
    connection.signal.addEventListener("abort", () => connection.frozen.resolve(), { once: true });
    if (frozenMs === Number.POSITIVE_INFINITY) return;
    passing(frozenMs, undefined, { signal: connection.signal, ref: false }).then(
      () => {
        this.tally.thawed += 1;
        connection.isFrozen = false;
        connection.frozen.resolve();
      },
      () => {},
    );
  }
}

/** One connection through the proxy. */
interface Connection {
  readonly faults: Faults;
  readonly signal: AbortSignal;
  readonly frozen: PromiseWithResolvers<void>;
  readonly cut: () => void;
  /** `undefined`: never frozen so far. */
  isFrozen?: boolean;
}
