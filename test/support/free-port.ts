import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Returns a port of loopback on which nothing listens now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Resolves once something listens on a port of loopback. */
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
