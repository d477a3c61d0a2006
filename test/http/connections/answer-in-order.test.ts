import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { expect } from "vitest";
import { MAX_AHEAD } from "../../../src/http/connections/answer-in-order.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import { type ConnectionHandle, test } from "../stream/websocket-fixture.ts";

const PAGE = `GET /api/v1/events?after=${EPOCH}-0&limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

/**
 * A mebibyte of events, which is more than the system takes of a connection that nobody reads when
 * they are asked for often.
 */
async function largeLog(wire: ConnectionHandle): Promise<void> {
  const data = { state: "live", reason: "x".repeat(2_000) } as const;
  const observed_at = "2026-11-21T08:00:00.000Z";
  const event = { name: "source-status", channel: "status", observed_at, data } as const;
  await wire.head.publish({ events: Array.from({ length: 600 }, () => event) });
}

/** What the server holds of answers on the connection. */
const held = (wire: ConnectionHandle) =>
  wire.sockets().reduce((sum, socket) => sum + socket.writableLength, 0);

test("[L5] no second page is made while the client has not taken the first", async ({ wire }) => {
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
  // A request that is not held back makes its page within these turns.
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

test("[L5] a connection on which too many requests wait for the answer before theirs is cut", async ({
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
