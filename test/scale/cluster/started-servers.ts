import { afterEach } from "vitest";
import { type RedisServer, startRedis } from "./redis-servers.ts";

/** Returns a list of functions that run after each test of the file, the last one first. */
export function endAfterEach(): (() => unknown)[] {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  return ends;
}

/** Starts a Redis server, which `ends` disposes of. */
export async function startServer(ends: (() => unknown)[]): Promise<RedisServer> {
  const server = await startRedis();
  ends.push(() => server.dispose());
  return server;
}
