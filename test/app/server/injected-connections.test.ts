import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, createServer as createNetServer, type Socket } from "node:net";
import { expect } from "vitest";
import { InjectedConnections } from "../../../src/app/server/injected-connections.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test as base } from "../../support/time/still-running.ts";

const GRACE_MS = 60_000;

/**
 * An HTTP server that takes connections from another listener and responds when the test does.
 * Fails if a timer or a socket outlives the test.
 */
const test = base.extend<{ sut: Awaited<ReturnType<typeof inject>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  sut: async ({}, use) => {
    const sut = await inject();
    await use(sut);
    for (const socket of sut.clients) socket.destroy();
    sut.listener.close();
    sut.server.close();
  },
});

async function inject() {
  const clock = new ManualClock();
  const unanswered: ServerResponse[] = [];
  // Otherwise Node itself closes idle connections after a while.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    if (request.url === "/later") unanswered.push(response);
    else response.end("served");
  });
  const connections = new InjectedConnections(server, clock);
  const listener = createNetServer({ pauseOnConnect: true }, (socket) => connections.take(socket));
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const clients: Socket[] = [];
  /** Opens a keep-alive connection. Resolves when its request for `path` has arrived. */
  const ask = async (path: string) => {
    const before = unanswered.length;
    const socket = connect(port, "127.0.0.1");
    clients.push(socket);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
    if (path === "/later") await expect.poll(() => unanswered.length).toBe(before + 1);
    else await once(socket, "data");
    return socket;
  };
  return { clock, server, listener, connections, unanswered, clients, ask };
}

test("a closing server waits for a pending response, then closes its idle connection", async ({ sut }) => {
  const { clock, connections, unanswered, ask } = sut;
  const idle = await ask("/");
  const busy = await ask("/later");
  const idleClosed = once(idle, "close");
  let isClosed = false;
  const closed = connections.close(GRACE_MS).then(() => {
    isClosed = true;
  });
  clock.advance(50);
  await expect.poll(() => connections.size).toBe(1);
  await idleClosed;
  expect(isClosed).toBe(false);
  const answered = once(busy, "data");
  unanswered[0]?.end("late");
  expect(String((await answered)[0])).toContain("late");
  clock.advance(50);
  await closed;
  expect(connections.size).toBe(0);
});

test("a closing server closes a connection without a response after its grace period, not before", async ({
  sut,
}) => {
  const { clock, connections, ask } = sut;
  const stuck = await ask("/later");
  const stuckClosed = once(stuck, "close");
  const closed = connections.close(GRACE_MS);
  clock.advance(GRACE_MS - 1);
  expect([connections.size, stuck.destroyed]).toEqual([1, false]);
  clock.advance(1);
  await Promise.all([closed, stuckClosed]);
});

test("a connection that closed before the server took it is not served", async ({ sut }) => {
  const { connections, ask } = sut;
  const socket = await ask("/");
  socket.destroy();
  await expect.poll(() => connections.size).toBe(0);
  connections.take(socket);
  expect(connections.size).toBe(0);
  await connections.close(GRACE_MS);
});
