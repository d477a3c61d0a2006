import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { reset } from "./reset.ts";

for (const [which, isEnding] of [
  ["that is open", false],
  ["that is closing", true],
] as const) {
  test(`reset ends a connection ${which} on both sides`, async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const taken = once(server, "connection");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const [[other]] = await Promise.all([taken, once(client, "connect")]);
    const ends = [client, other].map(async (socket: Socket) => {
      socket.on("error", () => {}).resume();
      await new Promise((resolve) => socket.once("close", resolve));
    });
    if (isEnding) client.end();
    reset(client);
    await Promise.all(ends);
    expect([client.destroyed, other.destroyed]).toEqual([true, true]);
    server.close();
    await once(server, "close");
  });
}
