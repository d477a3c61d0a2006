import { lookup } from "node:dns/promises";

/**
 * Returns the addresses on which a server of this host listens: of `localhost` those of both
 * address families, as Fastify does. All but the first are optional. Rejects with the system's
 * error.
 */
export async function listenAddresses(host: string): Promise<readonly [first: string, ...string[]]> {
  if (host !== "localhost") return [host];
  const [first = host, ...others] = (await lookup(host, { all: true })).map(({ address }) => address);
  return [first, ...others];
}
