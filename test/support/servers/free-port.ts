import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** The number of ports of each of the run's workers. */
const PORTS = 1_000;
const FIRST = 20_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 10) * PORTS;
let given = randomInt(PORTS);

/**
 * Returns a loopback port on which nothing listens now. No other test gets it before its server
 * listens, or while its server is down: the system gives the ports from 32,768 up (on macOS from
 * 49,152) to connections and to servers that listen on port 0, and other workers have other ports.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    given += 1;
    const port = FIRST + (given % PORTS);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch (error) {
      if (Object(error).code !== "EADDRINUSE") throw error;
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

/** Resolves once a server listens on this loopback port. */
export async function listens(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      socket.destroy();
    }
  }
}
