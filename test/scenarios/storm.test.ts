import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { systemClock } from "../../src/lib/time/clock.ts";
import { CLOSE_CODES } from "../../src/protocol/index.ts";
import {
  COME_BACK_S,
  type ConnectionHandle,
  test,
  type WireFactory,
} from "../http/stream/websocket-fixture.ts";
import { EPOCH } from "../hub/hub-fixture.ts";
import { ComingClient, openSockets } from "../support/coming-client.ts";
import { startWorkerGateway } from "../support/worker-gateway.ts";

const COMERS = 200;
/** Batches that are published while they come. */
const BATCHES = 15;
const LIMITS = { maxSockets: 10_000, maxSocketsPerIp: 10_000 };

/** A server on the machine's clock, at which few may wait. */
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

test("[L3] [W38] of hundreds of requests at once those beyond the queue are refused, each with another delay; all clients return with no hole and no repeat, and connected clients missed nothing", async ({
  makeWire,
}) => {
  const wire = await stormyWire(makeWire, 40);
  const healthy = Array.from({ length: 5 }, () => wire.client("?channels=*"));
  await Promise.all(healthy.map((client) => client.answer("subscribed")));
  const faults: string[] = [];
  const cursor = `${EPOCH}-2`;
  const comers = Array.from(
    { length: COMERS },
    () => new ComingClient(streamOf(wire), cursor, (fault) => faults.push(fault)),
  );
  const sockets = await connections(wire, COMERS);
  const coming = Promise.all(comers.map((comer, at) => comer.comeBack(sockets[at])));
  for (let batch = 0; batch < BATCHES; batch++) {
    await wire.publish("list", "unlist");
    await expect
      .poll(() => comers.filter(({ resumed }) => resumed.length > 0).length, { interval: 1 })
      .toBeGreaterThan((batch * COMERS) / BATCHES / 2);
  }
  await coming;
  const last = wire.head.cursor.seq;
  await Promise.all(healthy.map((client) => client.until(() => client.seqs.at(-1) === last)));
  await expect.poll(() => comers.every(({ seqs }) => seqs.at(-1) === last)).toBe(true);
  for (const client of healthy) expect(client.seqs).toEqual(upTo(5, last));
  for (const { seqs, resumed } of comers) {
    expect(resumed).toEqual(["full"]);
    expect(seqs).toEqual(upTo(3, last));
  }
  expect(faults).toEqual([]);
  const reported = comers.flatMap(({ refusals }) => refusals);
  expect(reported.length).toBeGreaterThan(0);
  for (const seconds of reported) expect(seconds).toMatch(COME_BACK_S);
  expect(new Set(reported).size).toBeGreaterThan(1);
  const { admissions, admissionsWaiting } = wire.hub.counters;
  expect(admissions).toMatchObject({ admitted: COMERS + healthy.length, full: reported.length, gone: 0 });
  expect(admissionsWaiting).toBe(0);
  for (const { ws } of comers) ws?.terminate();
});

test("[S9] [P8] streams of server-sent events and requests for what was missed wait in the same queue, and are refused like the others", async ({
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
  const taken = answers.filter(({ statusCode }) => statusCode === 200);
  const refused = answers.filter(({ statusCode }) => statusCode === 503);
  expect(taken.length + refused.length).toBe(sockets.length);
  expect(new Set(taken.map(({ isStream }) => isStream))).toEqual(new Set([true, false]));
  expect(refused.length).toBeGreaterThan(0);
  for (const { body, retry } of refused) {
    expect(retry).toMatch(COME_BACK_S);
    expect(JSON.parse(body)).toMatchObject({ type: "urn:flarewire:problem:over-capacity" });
  }
});

test("[W25] [W38] a server that stops while hundreds wait answers every one of them, and ends", async ({
  makeWire,
}) => {
  const wire = await stormyWire(makeWire, 1_000);
  const faults: string[] = [];
  const sockets = await connections(wire, COMERS);
  const comers = sockets.map(
    () => new ComingClient(streamOf(wire), `${EPOCH}-1`, (fault) => faults.push(fault)),
  );
  const asked = Promise.all(comers.map((comer, at) => comer.ask(sockets[at])));
  await expect.poll(() => wire.hub.counters.admissionsWaiting, { interval: 1 }).toBeGreaterThan(50);
  // Some leave without a word.
  for (const comer of comers.slice(-20)) comer.ws?.terminate();
  await wire.hub.drain(0);
  await wire.app.close();
  const isIn = await asked;
  await Promise.all(comers.map((comer) => comer.ended()));
  expect(wire.hub.counters.admissionsWaiting).toBe(0);
  expect(wire.hub.size).toBe(0);
  const refused = comers.filter(({ refusals }) => refusals.length > 0);
  expect(refused.length).toBeGreaterThan(0);
  for (const { refusals } of refused) expect(refusals[0]).toMatch(COME_BACK_S);
  const { code } = CLOSE_CODES.draining;
  const untold = comers
    .slice(0, -20)
    .filter(({ refusals, closeCode }, at) => !isIn[at] && refusals.length === 0 && closeCode !== code);
  expect(untold).toEqual([]);
  expect(faults).toEqual([]);
});

test("[L3] [W38] with workers it is the same: when one is killed, all of its clients are back at once with no hole and no repeat", {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const gateway = await startWorkerGateway(onTestFinished);
  const faults: string[] = [];
  const url = `${gateway.url.replace("http", "ws")}/api/v1/stream?channels=charts.bsc`;
  const comers = Array.from({ length: 120 }, () => new ComingClient(url, "", (fault) => faults.push(fault)));
  onTestFinished(() => {
    for (const { ws } of comers) ws?.terminate();
  });
  await Promise.all(comers.map((comer) => comer.comeBack()));
  process.kill(gateway.pids()[0] ?? 0, "SIGKILL");
  const cut = comers.filter(({ ws }) => ws?.listenerCount("message"));
  const back = cut.map(async (comer) => {
    await Promise.race([comer.ended(), gateway.began(3)]);
    // Those of the other worker are where they were.
    if (comer.ws?.readyState !== comer.ws?.OPEN) await comer.comeBack();
  });
  await Promise.all(back);
  await gateway.began(3);
  const most = () => Math.max(...comers.map(({ seqs }) => seqs.at(-1) ?? 0));
  const target = most() + 1;
  await expect
    .poll(() => comers.every(({ seqs }) => (seqs.at(-1) ?? 0) >= target), { timeout: 30_000 })
    .toBe(true);
  expect(comers.filter(({ resumed }) => resumed.length === 2).length).toBeGreaterThan(0);
  for (const { resumed } of comers) expect(resumed).toEqual(["reset", "full"].slice(0, resumed.length));
  expect(faults).toEqual([]);
});
