import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, vi } from "vitest";
import { type ConnectOptions, connect } from "../../../src/clients/sdk/index.ts";
import { greet, send, startScriptedServer } from "../../app/cli/scripted-server.ts";
import { HASTY, range, test } from "./stream-kit.ts";

/*
 * Tests the client with faulty servers and proxies that would make a naive client retry in a tight
 * loop.
 */

const EMPTY = { flares: { pro: [] }, explanations: {} };
/**
 * The clock stands still, so no time passes between messages and no connection becomes stable. On
 * a slow machine, a late first message must not count as silence.
 */
const AT_ONCE = { platform: { ...HASTY, now: () => 0 }, firstMessageMs: 1_000_000 };
/** More requests than two failed attempts make. */
const FEW = 6;

/** Starts a server that answers requests with `answer`, and counts them. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  let asked = 0;
  const http = createServer((request, response) => {
    asked += 1;
    answer(request, response);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked: () => asked,
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

function page(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "flarewire-cursor": "abcd-6", "content-type": "application/json" });
  response.end(status === 204 ? undefined : JSON.stringify(body));
}

test("[W26] if a server closes each connection with a resume code, the client waits after the second one", async ({
  start,
}) => {
  await using server = await startScriptedServer();
  const { stream, until } = start(server.url, { transport: "websocket", ...AT_ONCE });
  for (let at = 0; at < 2; at++) {
    const { socket } = await server.next();
    greet(socket, { cursor: "abcd-6", resumed: "reset", snapshot: EMPTY });
    send(socket, { type: "heartbeat", cursor: "abcd-6", positions: {} });
    socket.close(4_200, "draining");
  }
  await until(() => stream.connection.state === "waiting" && stream.connection.reason !== "");
  expect(stream.connection.reason).toBe("close code 4200 draining");
});

test("[W31] if a server sends goaway on each connection, the client waits after the second one", async ({
  start,
}) => {
  await using server = await startScriptedServer();
  const { stream, until } = start(server.url, { transport: "websocket", ...AT_ONCE });
  for (let at = 0; at < 2; at++) {
    const { socket } = await server.next();
    greet(socket, { cursor: "abcd-6", resumed: "reset", snapshot: EMPTY });
    send(socket, { type: "goaway", reason: "draining" });
  }
  await until(() => stream.connection.state === "waiting" && stream.connection.reason !== "");
  expect(stream.connection).toMatchObject({ state: "waiting", reason: "the server is shutting down" });
});

test("[W31] a client that reconnects to a server which still drains waits after each 503, and resumes from its cursor", async ({
  makeWire,
  proxyTo,
  start,
}) => {
  const first = await makeWire();
  const proxy = await proxyTo(first.port);
  // On a slow machine, a late first message must not count as silence.
  const patient = { transport: "websocket", firstMessageMs: 1_000_000 } as const;
  const { stream, until, seqs, resets } = start(proxy.url, patient);
  let refusals = 0;
  stream.on("connection", ({ state, reason }) => {
    if (state === "waiting" && reason.startsWith("HTTP 503 the server is stopping")) refusals += 1;
  });
  await until(() => stream.connection.state === "live");
  await first.publish("flare");
  await until(() => seqs().length === 1);
  void first.hub.drain(600_000);
  await until(() => refusals === 2);
  const second = await makeWire();
  await second.publish("flare");
  proxy.port = second.port;
  await until(() => stream.connection.state === "live");
  await second.publish("flare");
  await until(() => seqs().length > 1);
  expect([seqs(), resets()]).toEqual([range(1, seqs().length), ["started"]]);
});

test("[W17] a server that sends messages but never answers the subscription counts as silent", async ({
  start,
}) => {
  await using server = await startScriptedServer();
  start(server.url, { transport: "websocket", firstMessageMs: 1_000_000 });
  const { socket } = await server.next();
  send(socket, { type: "hello", silence_limit_ms: 20_000 });
  const chatter = setInterval(() => send(socket, { type: "weather", is: "fine" }), 2);
  await server.next();
  clearInterval(chatter);
});

test("[P5] polls that return nothing without a wait end the connection", async ({ start }) => {
  const body = { events: [], more: false, snapshot: EMPTY };
  await using server = await serve((request, response) =>
    page(response, request.url?.includes("after") ? 204 : 200, body),
  );
  const { stream, until } = start(server.url, { transport: "poll", ...AT_ONCE });
  await until(() => stream.connection.state === "waiting" && stream.connection.reason !== "");
  expect(stream.connection.reason).toBe("a stale answer");
  expect(server.asked()).toBeLessThan(FEW);
});

test("[P6] if every cursor is gone at once, polls start over once, and then after a wait", async ({
  start,
}) => {
  const snapshot = { events: [], more: false, snapshot: EMPTY };
  const gone = { lost: { reason: "expired", events: 4 } };
  await using server = await serve((request, response) =>
    request.url?.includes("after") ? page(response, 410, gone) : page(response, 200, snapshot),
  );
  const { stream, until, resets } = start(server.url, { transport: "poll", ...AT_ONCE });
  await until(() => stream.connection.state === "waiting" && stream.connection.reason !== "");
  expect(resets()).toEqual(["started", "expired"]);
  expect(server.asked()).toBeLessThan(FEW);
});

test("a delay that is too long for setTimeout sets no timer, instead of one that fires at once", () => {
  const armed = vi.spyOn(globalThis, "setTimeout");
  const forever: ConnectOptions = { transport: "sse", firstMessageMs: Infinity, upgradeAfterMs: Infinity };
  const stream = connect("http://127.0.0.1:9", { ...forever, pauseHiddenAfterMs: 2 ** 31 });
  return new Promise<void>((resolve) => queueMicrotask(resolve)).then(() => {
    expect(stream.connection.state).toBe("connecting");
    stream.close();
    expect(armed.mock.calls.filter(([, ms]) => !(Number(ms) < 2 ** 31))).toEqual([]);
    armed.mockRestore();
  });
});

test("if nothing listens at the address, the reason names the network error", async ({ start }) => {
  const server = await serve(() => {});
  await server[Symbol.asyncDispose]();
  const { stream, until } = start(server.url);
  await until(() => stream.connection.state === "waiting" && stream.connection.reason !== "");
  expect(stream.connection.reason).toMatch(/^no answer: .*ECONNREFUSED/);
});
