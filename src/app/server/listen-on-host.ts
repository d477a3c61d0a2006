import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

interface HostListening {
  readonly host: string;
  /** 0 picks any free port. */
  readonly port: number;
  readonly backlog: number;
  /** Creates a server, one for each address. */
  readonly create: () => Server;
  /** Receives the errors of a server once it listens. */
  readonly onError: (error: Error) => void;
}

/**
 * Listens on the addresses of a host. As in Fastify, `localhost` stands for the addresses of both
 * families, and all but the first are optional. Returns the servers that listen and, as
 * `authority`, the host and port of a URL by which this machine reaches the first one. Rejects with
 * the system's error.
 */
export async function listenOnHost({ host, port, backlog, create, onError }: HostListening) {
  const servers: Server[] = [];
  const listen = async (address: string, at: number) => {
    const server = create();
    server.listen({ host: address, port: at, backlog });
    await once(server, "listening");
    server.on("error", onError);
    servers.push(server);
    return server.address() as AddressInfo;
  };
  const found = host === "localhost" ? await lookup(host, { all: true }) : [];
  const [first = host, ...others] = found.map(({ address }) => address);
  const { address, family, port: taken } = await listen(first, port);
  for (const other of others) await listen(other, taken).catch(() => undefined);
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[address] ?? address;
  return { servers, authority: `${family === "IPv6" ? `[${reachable}]` : reachable}:${taken}` };
}
