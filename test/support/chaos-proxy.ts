import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as passing } from "node:timers/promises";
import type { Chance } from "./chance.ts";
import { reset } from "./reset.ts";

/** What the way between a client and the gateway does to one connection. */
interface Weather {
  /** Bytes towards the client, and towards the server, after which the connection is cut. */
  readonly cutAfter: readonly [down: number, up: number];
  /** Cut with a reset, which loses what is on its way, or in order. */
  readonly reset: boolean;
  /**
   * Bytes towards the client after which nothing passes any more in either direction, and nobody is
   * told: a half-open connection.
   */
  readonly freezeAfter: number;
  /** How long that lasts; Infinity: for ever. */
  readonly frozenMs: number;
  /** Longest piece that passes at once. */
  readonly pieceBytes: number;
  /** Pause before each piece. */
  readonly pieceMs: number;
}

/** What a proxy did. */
export interface ProxyTally {
  connections: number;
  cut: number;
  frozen: number;
  thawed: number;
  /** Connections whose bytes pass slowly, or late. */
  slowed: number;
}

const FAIR: Weather = {
  cutAfter: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  reset: false,
  freezeAfter: Number.POSITIVE_INFINITY,
  frozenMs: 0,
  pieceBytes: Number.POSITIVE_INFINITY,
  pieceMs: 0,
};

/**
 * Stands between clients and a gateway and spoils their connections by chance: it cuts them
 * anywhere, in the middle of a frame too, holds bytes back, lets them drip, and stops passing them
 * without telling either side. A client that connects again beside a connection that is frozen has
 * two, of which the gateway may still believe in both.
 */
export class ChaosProxy {
  readonly tally: ProxyTally = { connections: 0, cut: 0, frozen: 0, thawed: 0, slowed: 0 };
  readonly #target: number;
  readonly #chance: Chance;
  readonly #over = new AbortController();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  #calm = false;

  /** `target`: the gateway's port on this machine. */
  constructor(target: number, chance: Chance) {
    this.#target = target;
    this.#chance = chance;
    // Two listeners for each connection that waits; there may be many.
    process.setMaxListeners(0);
  }

  /** Resolves with the address to connect to. */
  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * From now on new connections pass untouched. Those that are there are cut or freeze where they
   * were to, but slow no more.
   */
  calm(): void {
    this.#calm = true;
  }

  /** Ends every connection. New ones pass. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends every connection, and takes no more. */
  async close(): Promise<void> {
    this.#over.abort();
    this.cutAll();
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#target, host: "127.0.0.1", allowHalfOpen: true });
    const weather = this.#calm ? FAIR : this.#draw();
    this.tally.connections += 1;
    if (weather.pieceMs > 0) this.tally.slowed += 1;
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
      for (const socket of [client, server]) weather.reset ? reset(socket) : socket.destroy();
    };
    const frozen = Promise.withResolvers<void>();
    const way: Way = { weather, cut, signal: AbortSignal.any([ended.signal, this.#over.signal]), frozen };
    const down = this.#carry(server, client, way, "down");
    const up = this.#carry(client, server, way, "up");
    void Promise.allSettled([down, up]).then(() => {
      client.destroy();
      server.destroy();
    });
  }

  #draw(): Weather {
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

  /** Passes on what comes from one side to the other, as the weather allows. */
  async #carry(from: Socket, to: Socket, way: Way, direction: "down" | "up"): Promise<void> {
    const { weather, signal } = way;
    const most = weather.cutAfter[direction === "down" ? 0 : 1];
    let passed = 0;
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        for (let at = 0, end = 0; at < chunk.length; at = end) {
          end = this.#calm ? chunk.length : at + weather.pieceBytes;
          const piece = chunk.subarray(at, end);
          if (weather.pieceMs > 0 && !this.#calm) await passing(weather.pieceMs, undefined, { signal });
          if (direction === "down" && passed + piece.length > weather.freezeAfter) this.#freeze(way);
          if (way.isFrozen) await way.frozen.promise;
          signal.throwIfAborted();
          if (passed + piece.length > most) {
            to.write(piece.subarray(0, most - passed));
            return way.cut();
          }
          passed += piece.length;
          if (!to.write(piece)) await once(to, "drain", { signal });
        }
      }
      to.end();
    } catch {
      // Either side is gone, which the other one is told below.
      from.destroy();
      to.destroy();
    }
  }

  #freeze(way: Way): void {
    if (way.isFrozen !== undefined) return;
    way.isFrozen = true;
    this.tally.frozen += 1;
    const { frozenMs } = way.weather;
    way.signal.addEventListener("abort", () => way.frozen.resolve(), { once: true });
    if (frozenMs === Number.POSITIVE_INFINITY) return;
    passing(frozenMs, undefined, { signal: way.signal, ref: false }).then(
      () => {
        this.tally.thawed += 1;
        way.isFrozen = false;
        way.frozen.resolve();
      },
      () => {},
    );
  }
}

/** One connection through the proxy. */
interface Way {
  readonly weather: Weather;
  readonly signal: AbortSignal;
  readonly frozen: PromiseWithResolvers<void>;
  readonly cut: () => void;
  /** `undefined`: not yet. */
  isFrozen?: boolean;
}
