import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";

/** A connection through a relay, from a caller's address to that of the server behind the relay. */
interface Link {
  readonly from: string;
  readonly to: string;
  readonly sockets: readonly [Socket, Socket];
  /** Whether it was opened while the two addresses were cut off from each other. */
  readonly isLate: boolean;
}

/**
 * Relays in front of servers, all on loopback. They recognize callers by source address, and can
 * cut off one group of addresses from the rest, like a network that drops every packet. Callers at
 * 127.0.0.1 are never cut off.
 */
export class Relays {
  readonly #servers: Server[] = [];
  readonly #links = new Set<Link>();
  #side: ReadonlySet<string> = new Set();

  /** Opens a relay to the port of the server with the address `to`. Returns the relay's port. */
  async open(to: string, port: number): Promise<number> {
    const server = createServer({ pauseOnConnect: true }, (caller) => this.#link(caller, to, port));
    this.#servers.push(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return address.port;
  }

  /** Cuts off these addresses from all others. */
  cut(...side: readonly string[]): void {
    this.#side = new Set(side);
    for (const link of this.#links) if (!this.#isOpen(link)) for (const one of link.sockets) one.pause();
  }

  /** Ends the cut. Held bytes arrive now; connections opened during the cut end. */
  heal(): void {
    this.#side = new Set();
    for (const { sockets, isLate } of this.#links)
      for (const one of sockets) isLate ? one.destroy() : one.resume();
  }

  async close(): Promise<void> {
    for (const { sockets } of this.#links) for (const one of sockets) one.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #link(caller: Socket, to: string, port: number): void {
    const from = caller.remoteAddress ?? "";
    const target = createConnection({ port, host: "127.0.0.1" });
    const isLate = !this.#isOpen({ from, to });
    const link: Link = { from, to, sockets: [caller, target], isLate };
    this.#links.add(link);
    for (const [one, other] of [
      [caller, target],
      [target, caller],
    ] as const) {
      one.on("error", () => {});
      one.on("data", (bytes) => other.write(bytes));
      one.on("close", () => {
        other.destroy();
        this.#links.delete(link);
      });
      if (isLate) one.pause();
      else one.resume();
    }
  }

  #isOpen({ from, to }: Pick<Link, "from" | "to">): boolean {
    return from === "127.0.0.1" || this.#side.has(from) === this.#side.has(to);
  }
}
