import { lookup } from "node:dns/promises";

/**
 * Returns the addresses on which a server for this host listens. As in Fastify, `localhost` stands
 * for the addresses of both families, and all but the first are optional. Rejects with the system's
 * error.
 */
export async function listenAddresses(host: string): Promise<readonly [first: string, ...string[]]> {
  if (host !== "localhost") return [host];
  const [first = host, ...others] = (await lookup(host, { all: true })).map(({ address }) => address);
  return [first, ...others];
}
