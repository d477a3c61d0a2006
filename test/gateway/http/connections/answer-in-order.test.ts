import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { expect } from "vitest";
import { MAX_AHEAD } from "../../../../src/gateway/http/access/request-guard.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import { type ConnectionHandle, test } from "../stream/websocket-fixture.ts";

const PAGE = `GET /api/v1/events?after=${EPOCH}-0&limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

/**
 * Fills the log with a mebibyte of events. If they are requested often, this is more than the
 * kernel buffers for a connection that nobody reads.
 */
async function largeLog(wire: ConnectionHandle): Promise<void> {
  const data = { state: "live", reason: "x".repeat(2_000) } as const;
  const observed_at = "2026-11-21T08:00:00.000Z";
  const event = { name: "source-status", channel: "status", observed_at, data } as const;
  await wire.head.publish({ events: Array.from({ length: 600 }, () => event) });
}

/** Returns the bytes of responses that the server buffers for the connections. */
const held = (wire: ConnectionHandle) =>
  wire.sockets().reduce((sum, socket) => sum + socket.writableLength, 0);

test("[L5] no second page is created until the client has received the first", async ({ wire }) => {
  await largeLog(wire);
  const responses: ServerResponse[] = [];
  const made = () => responses.filter(({ headersSent }) => headersSent).length;
  const all = Promise.withResolvers<void>();
  wire.app.server.on("request", (_request, response) => {
    responses.push(response);
    if (responses.length === MAX_AHEAD) all.resolve();
  });
  const client = connect(wire.port, "127.0.0.1").pause();
  client.write(PAGE.repeat(MAX_AHEAD));
  await all.promise;
  // A request that is not delayed creates its page within these turns.
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(held(wire)).toBeGreaterThan(0);
  expect(held(wire)).toBeLessThan(1_500_000);
  expect(made()).toBeLessThan(MAX_AHEAD);
  let answers = 0;
  client.on("data", (bytes) => {
    answers += String(bytes).split("HTTP/1.1 200").length - 1;
  });
  client.resume();
  while (made() < MAX_AHEAD) await once(client, "data");
  client.destroy();
  expect(answers).toBeGreaterThan(0);
});

test("[L5] a connection with too many requests that wait for the previous response is destroyed", async ({
  wire,
}) => {
  await largeLog(wire);
  const client = connect(wire.port, "127.0.0.1").pause();
  client.on("error", () => {});
  const [socket] = await once(wire.app.server, "connection");
  client.write(PAGE.repeat(MAX_AHEAD * 4));
  await once(socket, "close");
  client.destroy();
  expect((await wire.ask("/healthz")).message.statusCode).toBe(200);
});
