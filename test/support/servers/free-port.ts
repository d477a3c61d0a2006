import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Returns a loopback port on which nothing listens now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
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
