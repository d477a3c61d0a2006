import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { type ConnectionHandle, test } from "../stream/websocket-fixture.ts";

/*
 * Tests a stream of server-sent events on a connection that was detached from HTTP, over real TCP:
 * it must behave as if it were still HTTP.
 */

const ASK = "GET /api/v1/events?channels=newest.bsc HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n";

interface Reader {
  readonly socket: Socket;
  /** Returns everything received so far. */
  text(): string;
  /** Resolves when the received text contains this part. */
  has(part: string): Promise<void>;
}

function send(wire: ConnectionHandle, bytes: string): Reader {
  const socket = connect({ port: wire.port, host: "127.0.0.1", allowHalfOpen: true });
  let text = "";
  const has = async (part: string) => {
    while (!text.includes(part)) await once(socket, "data");
  };
  socket.setEncoding("utf8").on("data", (more) => {
    text += more;
  });
  socket.write(bytes);
  return { socket, text: () => text, has };
}

/**
 * Counts connections with a parser, Node's internal name for the state of HTTP. There is no other
 * way to see it from here.
 */
const inHttp = (wire: ConnectionHandle) =>
  wire.sockets().filter((socket) => Reflect.get(socket, "parser") !== null).length;

for (const [who, bytes] of Object.entries({
  "a client that would keep the connection": `${ASK}\r\n`,
  "a client that would close it": `${ASK}Connection: close\r\n\r\n`,
  "a client of HTTP/1.0": `${ASK.replace("1.1", "1.0")}\r\n`,
  "a client that offers an upgrade": `${ASK}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
})) {
  test(`[S1] ${who} gets headers, a body that ends with its connection, and the events`, async ({ wire }) => {
    const { socket, text, has } = send(wire, bytes);
    await has("event: subscribed");
    await wire.publish("list");
    await has("event: token-listed");
    const [head = "", body = ""] = text().split(/\r\n\r\n(.*)/s);
    const fields = head.toLowerCase().split("\r\n");
    expect(fields[0]).toBe("http/1.1 200 ok");
    expect(fields).toEqual(
      expect.arrayContaining([
        "content-type: text/event-stream; charset=utf-8",
        "connection: close",
        "access-control-allow-origin: *",
        "vary: accept",
        expect.stringMatching(/^date: /),
      ]),
    );
    expect(fields.filter((field) => /^(transfer-encoding|content-length|keep-alive):/.test(field))).toEqual(
      [],
    );
    expect(body).toMatch(/^retry: \d+\n\nevent: hello\n/);
    expect(inHttp(wire)).toBe(0);
    const closed = once(socket, "close");
    socket.destroy();
    await Promise.all([closed, wire.sessions(0)]);
  });
}

test("[S1] bytes that a client sends after its request are not parsed as a request, and the stream continues", async ({
  wire,
}) => {
  const { socket, text, has } = send(wire, `${ASK}\r\n`);
  await has("event: subscribed");
  socket.write(`${ASK}\r\n`.repeat(100));
  socket.write("x".repeat(100_000));
  const [raw] = wire.sockets();
  while ((raw?.bytesRead ?? 0) < 100_000) await new Promise((resolve) => setImmediate(resolve));
  await wire.publish("list");
  await has("event: token-listed");
  expect(text().match(/HTTP\/1\.1/g)).toHaveLength(1);
  socket.destroy();
  await wire.sessions(0);
});

test("[S1] a request that arrives in one piece with the stream's does not disturb the stream", async ({
  wire,
}) => {
  const { socket, text, has } = send(wire, `${ASK}\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n`);
  await has("event: subscribed");
  await wire.publish("list");
  await has("event: token-listed");
  expect(text().match(/HTTP\/1\.1/g)).toHaveLength(1);
  socket.destroy();
  await wire.sessions(0);
});

test("[S8] a client's close, of one side or by reset, ends its stream at once", async ({ wire }) => {
  const half = send(wire, `${ASK}\r\n`);
  const reset = send(wire, `${ASK}\r\n`);
  await Promise.all([half.has("event: subscribed"), reset.has("event: subscribed")]);
  await wire.sessions(2);
  reset.socket.resetAndDestroy();
  await wire.sessions(1);
  half.socket.end();
  await once(half.socket, "close");
  await wire.sessions(0);
  expect(wire.sockets()).toEqual([]);
});

test("a stream outlives the time limits of requests and of idle connections", async ({ makeWire }) => {
  const short = { requestTimeoutMs: 40, checkIntervalMs: 10, idleTimeoutMs: 40, keepAliveTimeoutMs: 40 };
  const wire = await makeWire({ http: short });
  const stream = send(wire, `${ASK}\r\n`);
  await stream.has("event: subscribed");
  // Both connections begin after the stream, and both time out.
  const unfinished = send(wire, "GET / HTTP/1.1\r\n");
  const kept = send(wire, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  await Promise.all([unfinished, kept].map(({ socket }) => once(socket, "end").then(() => socket.end())));
  expect(unfinished.text()).toMatch(/^HTTP\/1\.1 408 /);
  await wire.publish("list");
  await stream.has("event: token-listed");
  stream.socket.destroy();
  await wire.sessions(0);
});

test("a closing server ends its streams and waits for their end", async ({ wire }) => {
  const { socket, has } = send(wire, `${ASK}\r\n`);
  await has("event: subscribed");
  const closed = wire.app.close();
  await has("event: close");
  await once(socket, "end");
  socket.end();
  wire.clock.advance(500);
  await closed;
  expect(wire.hub.size).toBe(0);
});

test("a request whose body is not complete is not detached, and its stream is an HTTP response", async ({
  wire,
}) => {
  const { socket, text, has } = send(wire, `${ASK}Content-Length: 5\r\n\r\nhell`);
  await has("event: subscribed");
  await wire.publish("list");
  await has("event: token-listed");
  expect(text()).toMatch(/^transfer-encoding: chunked\r$/im);
  expect(inHttp(wire)).toBe(1);
  socket.destroy();
  await wire.sessions(0);
});

test("if a program handles CONNECT itself, it gets no detached connection, and streams are HTTP responses", async ({
  wire,
}) => {
  const reported: unknown[] = [];
  wire.app.server.on("connect", (request) => reported.push(request));
  const client = await SseClient.open(`http://127.0.0.1:${wire.port}/api/v1/events`);
  await client.until(() => client.events.length === 2);
  await wire.publish("list");
  await client.until(() => client.seqs.length === 1);
  expect(client.headers).toMatchObject({ "transfer-encoding": "chunked", connection: "close" });
  expect([reported, inHttp(wire)]).toEqual([[], 1]);
  const stopped = wire.hub.drain(0);
  await client.ended;
  await wire.sessions(0);
  wire.clock.advance(50);
  await stopped;
  expect(client.messages("close")).toMatchObject([{ reason: "draining" }]);
});
