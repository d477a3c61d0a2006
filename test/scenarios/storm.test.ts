import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { systemClock } from "../../src/base/lib/time/clock.ts";
import { CLOSE_CODES } from "../../src/base/protocol/index.ts";
import {
  COME_BACK_S,
  type ConnectionHandle,
  test,
  type WireFactory,
} from "../gateway/http/stream/websocket-fixture.ts";
import { EPOCH } from "../gateway/hub/hub-fixture.ts";
import { ComingClient, openSockets } from "../support/clients/coming-client.ts";

const CLIENTS = 200;
/** Number of batches published while the clients connect. */
const BATCHES = 15;
const LIMITS = { maxSockets: 10_000, maxSocketsPerIp: 10_000 };

/** Starts a server on the system clock that admits few waiting requests. */
async function stormyWire(makeWire: WireFactory, maxWaiting: number): Promise<ConnectionHandle> {
  const wire = await makeWire({
    hub: { clock: systemClock },
    stream: { limits: LIMITS },
    admissions: { maxWaiting },
  });
  await wire.publish("list", "list", "unlist", "list");
  return wire;
}

const streamOf = ({ port }: ConnectionHandle) => `ws://127.0.0.1:${port}/api/v1/stream?channels=*`;
const connections = (wire: ConnectionHandle, count: number) =>
  openSockets(wire.port, count, () => wire.sockets().length);
const upTo = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

test("[L3] [W38] of hundreds of requests at once, those beyond the queue are rejected with different delays; all clients return with no gap and no repeat, and connected clients miss nothing", async ({
  makeWire,
}) => {
  const wire = await stormyWire(makeWire, 40);
  const healthy = Array.from({ length: 5 }, () => wire.client("?channels=*"));
  await Promise.all(healthy.map((client) => client.answer("subscribed")));
  const faults: string[] = [];
  const cursor = `${EPOCH}-2`;
  const clients = Array.from(
    { length: CLIENTS },
    () => new ComingClient(streamOf(wire), cursor, (fault) => faults.push(fault)),
  );
  const sockets = await connections(wire, CLIENTS);
  const connecting = Promise.all(clients.map((client, at) => client.comeBack(sockets[at])));
  for (let batch = 0; batch < BATCHES; batch++) {
    await wire.publish("list", "unlist");
    await expect
      .poll(() => clients.filter(({ resumed }) => resumed.length > 0).length, { interval: 1 })
      .toBeGreaterThan((batch * CLIENTS) / BATCHES / 2);
  }
  await connecting;
  const last = wire.head.cursor.seq;
  await Promise.all(healthy.map((client) => client.until(() => client.seqs.at(-1) === last)));
  await expect.poll(() => clients.every(({ seqs }) => seqs.at(-1) === last)).toBe(true);
  for (const client of healthy) expect(client.seqs).toEqual(upTo(5, last));
  for (const { seqs, resumed } of clients) {
    expect(resumed).toEqual(["full"]);
    expect(seqs).toEqual(upTo(3, last));
  }
  expect(faults).toEqual([]);
  const reported = clients.flatMap(({ refusals }) => refusals);
  expect(reported.length).toBeGreaterThan(0);
  for (const seconds of reported) expect(seconds).toMatch(COME_BACK_S);
  expect(new Set(reported).size).toBeGreaterThan(1);
  const { admissions, admissionsWaiting } = wire.hub.counters;
  expect(admissions).toMatchObject({ admitted: CLIENTS + healthy.length, full: reported.length, gone: 0 });
  expect(admissionsWaiting).toBe(0);
  for (const { ws } of clients) ws?.terminate();
});

test("[S9] [P8] server-sent event streams and polls for missed events wait in the same queue and are rejected alike", async ({
  makeWire,
}) => {
  const wire = await stormyWire(makeWire, 20);
  const sockets = await connections(wire, 120);
  const answers = await Promise.all(
    sockets.map(async (socket, at) => {
      const headers: Record<string, string> = at % 2 ? {} : { accept: "text/event-stream" };
      const asked = request({
        path: `/api/v1/events?after=${EPOCH}-1`,
        createConnection: () => socket,
        headers,
      });
      asked.on("error", () => {}).end();
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      const { statusCode = 0, headers: fields } = response;
      const isStream = fields["content-type"]?.startsWith("text/event-stream") === true;
      const body = isStream ? "" : await text(response);
      socket.destroy();
      return { statusCode, isStream, body, retry: fields["retry-after"] };
    }),
  );
  const accepted = answers.filter(({ statusCode }) => statusCode === 200);
  const refused = answers.filter(({ statusCode }) => statusCode === 503);
  expect(accepted.length + refused.length).toBe(sockets.length);
  expect(new Set(accepted.map(({ isStream }) => isStream))).toEqual(new Set([true, false]));
  expect(refused.length).toBeGreaterThan(0);
  for (const { body, retry } of refused) {
    expect(retry).toMatch(COME_BACK_S);
    expect(JSON.parse(body)).toMatchObject({ type: "urn:flarewire:problem:over-capacity" });
  }
});

test("[W25] [W38] a server that stops while hundreds of requests wait responds to each of them and ends", async ({
  makeWire,
}) => {
  const wire = await stormyWire(makeWire, 1_000);
  const faults: string[] = [];
  const sockets = await connections(wire, CLIENTS);
  const clients = sockets.map(
    () => new ComingClient(streamOf(wire), `${EPOCH}-1`, (fault) => faults.push(fault)),
  );
  const asked = Promise.all(clients.map((client, at) => client.ask(sockets[at])));
  await expect.poll(() => wire.hub.counters.admissionsWaiting, { interval: 1 }).toBeGreaterThan(50);
  // Some clients drop their connection.
  for (const client of clients.slice(-20)) client.ws?.terminate();
  await wire.hub.drain(0);
  await wire.app.close();
  const isAccepted = await asked;
  await Promise.all(clients.map((client) => client.ended()));
  expect(wire.hub.counters.admissionsWaiting).toBe(0);
  expect(wire.hub.size).toBe(0);
  const refused = clients.filter(({ refusals }) => refusals.length > 0);
  expect(refused.length).toBeGreaterThan(0);
  for (const { refusals } of refused) expect(refusals[0]).toMatch(COME_BACK_S);
  const { code } = CLOSE_CODES.draining;
  const unanswered = clients
    .slice(0, -20)
    .filter(({ refusals, closeCode }, at) => !isAccepted[at] && refusals.length === 0 && closeCode !== code);
  expect(unanswered).toEqual([]);
  expect(faults).toEqual([]);
});
