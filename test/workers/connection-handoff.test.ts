import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/lib/time/clock.ts";
import { Refusals } from "../../src/gateway/http/index.ts";
import { ConnectionHandoff } from "../../src/workers/primary/connection-handoff.ts";
import { InjectedConnections } from "../../src/workers/process/injected-connections.ts";
import { ManualClock } from "../support/time/manual-clock.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";

/** Sends a request. Resolves with the complete response when the connection has closed. */
async function ask(url: string, text = REQUEST): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (bytes) => {
    answer += String(bytes);
  });
  socket.on("error", () => {});
  socket.write(text);
  await new Promise((resolve) => socket.on("close", resolve));
  return answer;
}

/** Starts an HTTP server that does not listen, behind a primary that does. */
async function serve(requestTimeout = 10_000) {
  const server = createServer(
    { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval: 50 },
    (_request, response) => response.setHeader("connection", "close").end("served"),
  );
  const connections = new InjectedConnections(server, systemClock);
  const taken: Socket[] = [];
  const receiver = {
    ...{ isReady: true, canTake: true, isStuck: false, isLeaving: false },
    get connections() {
      return connections.size;
    },
    handOver: (socket: Socket) => {
      taken.push(socket);
      connections.take(socket);
      return true;
    },
  };
  const handoff = new ConnectionHandoff({
    ...{ host: "127.0.0.1", port: 0, clock: systemClock, refusals: new Refusals(systemClock) },
    receivers: () => [receiver],
  });
  const url = await handoff.listen();
  return { url, handoff, connections, receiver, taken };
}

test("a connection is served after its handoff, including bytes that arrived before, and its client may half-close", async ({
  onTestFinished,
}) => {
  const { url, handoff, connections } = await serve();
  onTestFinished(() => handoff.close());
  expect(await ask(url)).toMatch(/^HTTP\/1\.1 200 [\s\S]*served/);
  const half = connect(Number(new URL(url).port), "127.0.0.1");
  half.end(REQUEST);
  const [answer] = await once(half, "data");
  expect(String(answer)).toContain("200 OK");
  await once(half, "close");
  await expect.poll(() => connections.size).toBe(0);
});

test("request timeouts apply on a server that does not listen", async ({ onTestFinished }) => {
  const { url, handoff } = await serve(300);
  onTestFinished(() => handoff.close());
  expect(await ask(url, "GET / HTTP/1.1\r\nHost: test\r\n")).toMatch(/^HTTP\/1\.1 408 /);
});

test("a closing server closes idle connections at once and all others after its grace period", async ({
  onTestFinished,
}) => {
  const { url, handoff, connections } = await serve();
  onTestFinished(() => handoff.close());
  const silent = connect(Number(new URL(url).port), "127.0.0.1");
  await expect.poll(() => connections.size).toBe(1);
  const closed = once(silent, "close");
  await connections.close(100);
  await closed;
  expect(connections.size).toBe(0);
});

test("connections wait while no worker is ready, and get 503 after 5 seconds", async ({ onTestFinished }) => {
  const clock = new ManualClock();
  const handed: Socket[] = [];
  const receiver = {
    ...{ isReady: true, canTake: false, isStuck: false, isLeaving: false },
    connections: 0,
    handOver: (socket: Socket) => {
      handed.push(socket);
      socket.destroy();
      return true;
    },
  };
  const handoff = new ConnectionHandoff({
    host: "127.0.0.1",
    port: 0,
    clock,
    refusals: new Refusals(clock),
    receivers: () => [receiver],
  });
  const url = await handoff.listen();
  onTestFinished(() => handoff.close());
  const late = ask(url);
  await expect.poll(() => handoff.waiting).toBe(1);
  clock.advance(4_500);
  const other = ask(url);
  await expect.poll(() => handoff.waiting).toBe(2);
  clock.advance(5_000);
  // A worker is ready, but slow, so connections keep waiting.
  expect(handoff.waiting).toBe(2);
  receiver.isReady = false;
  const served = ask(url);
  await expect.poll(() => handoff.waiting).toBe(3);
  clock.advance(500);
  expect(await late).toMatch(
    /^HTTP\/1\.1 503 [\s\S]*Retry-After: ([3-9]|1[0-2])\r\n[\s\S]*problem:not-ready"/,
  );
  expect(await other).toContain("503");
  Object.assign(receiver, { isReady: true, canTake: true });
  handoff.pump();
  expect(await served).toBe("");
  expect(handed).toHaveLength(1);
  expect(handoff.waiting).toBe(0);
});

test("a connection that a worker fails to take goes to the next worker", async ({ onTestFinished }) => {
  const { receiver } = await serve();
  const gone = {
    isReady: true,
    canTake: true,
    isStuck: false,
    isLeaving: false,
    connections: 0,
    handOver: () => false,
  };
  const receivers = [gone];
  const handoff = new ConnectionHandoff({
    ...{ host: "localhost", port: 0, clock: systemClock, refusals: new Refusals(systemClock) },
    receivers: () => [...receivers, receiver],
  });
  const url = await handoff.listen();
  onTestFinished(() => handoff.close());
  const served = ask(url);
  await expect.poll(() => handoff.waiting).toBeLessThanOrEqual(1);
  receivers.length = 0;
  handoff.pump();
  expect(await served).toContain("served");
});

test("each of two workers gets half of a burst, although one is nine times slower", async ({
  onTestFinished,
}) => {
  const [quick, slow] = [new PacedReceiver(), new PacedReceiver()];
  const handoff = new ConnectionHandoff({
    ...{ host: "127.0.0.1", port: 0, clock: new ManualClock(), refusals: new Refusals(systemClock) },
    receivers: () => [quick, slow],
  });
  const { port } = new URL(await handoff.listen());
  onTestFinished(() => handoff.close());
  for (const burst of [10, 200, 90]) {
    const before = quick.connections + slow.connections;
    for (let at = 0; at < burst; at += 1) {
      const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
      onTestFinished(() => void socket.destroy());
    }
    const accepted = () => quick.connections + slow.connections + handoff.waiting - before;
    await expect.poll(accepted).toBe(burst);
    for (let turn = 0; handoff.waiting > 0; turn += 1) {
      if (turn >= 10 * burst)
        throw new Error(`${handoff.waiting} connections wait, although both workers can take one`);
      quick.isHanded = false;
      if (turn % 9 === 0) slow.isHanded = false;
      handoff.pump();
    }
    for (const one of [quick, slow]) one.isHanded = false;
    const share = quick.connections / (quick.connections + slow.connections);
    expect(share).toBeGreaterThanOrEqual(0.45);
    expect(share).toBeLessThanOrEqual(0.55);
  }
});

/** A worker that takes one connection whenever the test resets `isHanded`. */
class PacedReceiver {
  readonly isReady = true;
  readonly isStuck = false;
  readonly isLeaving = false;
  isHanded = false;
  connections = 0;

  get canTake(): boolean {
    return !this.isHanded;
  }

  handOver(socket: Socket): boolean {
    this.isHanded = true;
    this.connections += 1;
    socket.destroy();
    return true;
  }
}
