import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Waiters } from "../support/time/waiters.ts";

/** A host that resets every connection. */
class ClosedHost implements AsyncDisposable {
  /** Number of attempted connections. */
  tried = 0;
  readonly #waiters = new Waiters(() => `${this.tried} connections tried`);
  readonly #server = createServer((socket) => {
    this.tried += 1;
    socket.resetAndDestroy();
    this.#waiters.look();
  });

  async listen(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  triedTimes(times: number): Promise<void> {
    return this.#waiters.until(() => this.tried >= times, `${times} connections`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** A machine that can reach no service of `--feed live`. */
export class NoNetwork implements AsyncDisposable {
  readonly http = new ClosedHost();
  readonly sockets = new ClosedHost();

  static async open(): Promise<NoNetwork> {
    const network = new NoNetwork();
    await Promise.all([network.http.listen(), network.sockets.listen()]);
    return network;
  }

  /** Flags for a gateway whose services are all unreachable. */
  get flags(): readonly string[] {
    const http = `http://${this.http.address}`;
    const ws = `ws://${this.sockets.address}`;
    const services = ["binance", "kucoin", "gate", "geckoterminal", "coingecko", "sourcify", "dexscreener"];
    return [
      ...["--feed", "live"],
      ...["bsc", "polygon", "avalanche"].flatMap((name) => [
        `--${name}-rpc`,
        `${http}/${name},${ws}/${name}`,
      ]),
      ...services.flatMap((name) => [`--${name}-url`, http]),
      ...["binance", "gate"].flatMap((name) => [`--${name}-stream-url`, ws]),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.http, this.sockets].map((host) => host[Symbol.asyncDispose]()));
  }
}
