import { once } from "node:events";
import type { Socket } from "node:net";
import { expect } from "vitest";
import { CLOSE_CODES } from "../../../../src/base/protocol/index.ts";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import type { Step } from "../../hub/test-market.ts";
import { type ConnectionHandle, test, type WireClient } from "./websocket-fixture.ts";

const BATCH: readonly Step[] = Array.from({ length: 1_000 }, (_, index) => (index % 2 ? "unlist" : "list"));
const PING = { type: "ping" };

/** Returns a masked frame with an all-zero mask. */
const frame = (first: number, text = "") =>
  Buffer.concat([Buffer.from([first, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

/** Returns code and reason of the close frame at the end of the received bytes. */
async function closeFrame(socket: Socket): Promise<{ code: number; reason: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const said = Buffer.concat(chunks);
  const at = said.lastIndexOf(0x88);
  return { code: said.readUInt16BE(at + 2), reason: String(said.subarray(at + 4)) };
}

/**
 * Publishes until a connection accepts no more, because the kernel's buffers are full on both
 * sides.
 */
async function fill(wire: ConnectionHandle): Promise<void> {
  const isFull = () => wire.sockets().some((socket) => socket.writableNeedDrain);
  for (let batch = 0; batch < 200 && !isFull(); batch++) {
    await wire.publish(...BATCH);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(isFull()).toBe(true);
}

async function open(wire: ConnectionHandle, query = ""): Promise<WireClient> {
  const client = wire.client(query);
  await client.answer(query === "" ? "hello" : "subscribed");
  return client;
}

const count = ({ messages }: WireClient, type: string) => messages.filter((one) => one.type === type).length;

test("[W20] one command more than the burst is rejected; a second later, commands within the rate are answered again", async ({
  wire,
}) => {
  const client = await open(wire, "?channels=status");
  for (let n = 0; n < 21; n++) client.send(PING);
  expect(await client.answer("error")).toMatchObject({
    code: "rate-limited",
    message: "too many commands; the limit is 5 a second, 20 at once",
  });
  expect(count(client, "pong")).toBe(20);
  wire.clock.advance(1_000);
  for (let n = 0; n < 6; n++) client.send(PING);
  await client.until(() => count(client, "error") === 2);
  expect(count(client, "pong")).toBe(25);
});

test("[W20] [W21] the first limit that a flood reaches decides the close code: garbage alone is bad-request, behind a flood of commands it is rate-limited", async ({
  wire,
}) => {
  const garbage = await open(wire);
  for (let n = 0; n < 100; n++) garbage.ws.send(n % 2 ? "?" : Buffer.from([n]));
  expect(await garbage.ended).toMatchObject({ reason: "bad-request" });
  expect(count(garbage, "error")).toBe(10);
  const late = await open(wire);
  for (let n = 0; n < 20; n++) late.send(PING);
  for (let n = 0; n < 100; n++) late.ws.send("?");
  expect(await late.ended).toMatchObject({ reason: "rate-limited" });
  // Commands above the rate are not parsed.
  expect(late.messages.filter(({ type }) => type === "error").map(({ code }) => code)).toEqual(
    Array(10).fill("rate-limited"),
  );
  const mixed = await open(wire);
  for (let n = 0; n < 15; n++) mixed.send(PING);
  for (let n = 0; n < 100; n++) mixed.ws.send("{}");
  expect(await mixed.ended).toMatchObject({ reason: "rate-limited" });
  expect(new Set(mixed.messages.map(({ code }) => code))).toEqual(
    new Set([undefined, "invalid-message", "rate-limited"]),
  );
});

test("[W19] [W21] a frame that is too large, or violates RFC 6455, closes at once, regardless of earlier counts", async ({
  wire,
}) => {
  const large = await open(wire);
  for (let n = 0; n < 25; n++) large.ws.send("?".repeat(n < 9 ? 1 : 5_000));
  expect(await large.ended).toMatchObject({ reason: "message-too-big" });
  const broken = await wire.raw();
  broken.write(Buffer.concat([...Array.from({ length: 9 }, () => frame(0x81, "?")), frame(0x83)]));
  expect(await closeFrame(broken)).toEqual({ code: 1002, reason: "" });
});

test("[W22] the 65th subscription is refused with the bound", async ({ wire }) => {
  const client = await open(wire);
  for (let id = 1; id <= 65; id++) {
    client.send({ type: "subscribe", id, channels: ["status"], snapshot: false });
    await client.until(() => client.messages.at(-1)?.id === id);
    wire.clock.advance(200);
  }
  expect(count(client, "subscribed")).toBe(64);
  expect(client.messages.at(-1)).toMatchObject({ type: "error", code: "too-many-subscriptions" });
  expect(client.messages.at(-1)?.message).toContain("64");
});

test("[W20] commands of a frozen reader are not buffered without limit", async ({ wire }) => {
  const client = await open(wire, "?channels=*");
  client.ws.pause();
  await fill(wire);
  for (let n = 0; n < 33; n++) client.send(PING);
  await wire.ask("/healthz");
  client.ws.resume();
  expect(await client.ended).toMatchObject({ reason: "rate-limited" });
  expect(count(client, "pong")).toBe(0);
});

test("[W34] in mode latest a backlog of 64 events is conflated, and one of 63 is not", async ({ wire }) => {
  await wire.publish(...BATCH.slice(0, 64));
  for (const [seq, conflated, events] of [
    [0, 1, 0],
    [1, 0, 63],
  ] as const) {
    const client = await open(wire, `?channels=newest.bsc&mode=latest&after=${EPOCH}-${seq}`);
    await client.until(() => client.messages.at(-1)?.cursor === `${EPOCH}-64`);
    expect([count(client, "conflated"), count(client, "event")]).toEqual([conflated, events]);
  }
});

test("[W23] [S7] a reader whose next event was dropped from the log is closed with slow-consumer, even if it reads again", async ({
  makeWire,
}) => {
  const wire = await makeWire({ log: { minCount: 100, maxAgeMs: 0 } });
  const frozen = await open(wire, "?channels=*");
  const stream = await SseClient.open(`http://127.0.0.1:${wire.port}/api/v1/events`);
  await stream.until(() => stream.events.length === 2);
  frozen.ws.pause();
  stream.freeze();
  const areFull = () => wire.sockets().filter((socket) => socket.writableNeedDrain).length === 2;
  for (let batch = 0; batch < 200 && !areFull(); batch++) {
    await wire.publish(...BATCH);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(areFull()).toBe(true);
  for (let batch = 0; batch < 3; batch++) {
    wire.clock.advance(1);
    await wire.publish(...BATCH);
  }
  frozen.ws.resume();
  stream.thaw();
  expect(await frozen.ended).toEqual({ code: CLOSE_CODES["slow-consumer"].code, reason: "slow-consumer" });
  await stream.ended;
  expect(stream.messages("close")).toMatchObject([{ reason: "slow-consumer", action: "resume" }]);
});

test("[W9] the log's age, count and bytes limit how far a client can resume, and each only as far as it must", async ({
  makeWire,
}) => {
  for (const [log, resumed] of [
    [{ maxAgeMs: 60_000, minCount: 0 }, "reset"],
    [{ maxAgeMs: 0, minCount: 3 }, "reset"],
    [{ maxBytes: 1_000 }, "reset"],
    [{ maxAgeMs: 60_000, minCount: 4 }, "full"],
    [{ maxAgeMs: 300_000, minCount: 0 }, "full"],
  ] as const) {
    const wire = await makeWire({ log });
    for (let poll = 0; poll < 4; poll++) {
      await wire.publish("list");
      wire.clock.advance(61_000);
    }
    const client = wire.client(`?channels=*&after=${EPOCH}-0`);
    expect(await client.answer("subscribed"), JSON.stringify(log)).toMatchObject({ resumed });
  }
});

test("an internal error closes only the affected connections, with the code for it", async ({ wire }) => {
  const steady = await open(wire, "?channels=*");
  await wire.publish("list");
  const { read } = wire.log;
  wire.log.read = () => Promise.reject(new Error("disk gone"));
  const failing = wire.client(`?channels=*&after=${EPOCH}-0`);
  const { code, action } = CLOSE_CODES.internal;
  expect(await failing.ended).toEqual({ code, reason: "internal" });
  const stream = await SseClient.open(`http://127.0.0.1:${wire.port}/api/v1/events?after=${EPOCH}-0`);
  await stream.ended;
  expect(stream.messages("close")).toEqual([{ type: "close", reason: "internal", code, action }]);
  expect(wire.errors.splice(0)).toEqual([new Error("disk gone"), new Error("disk gone")]);
  wire.log.read = read;
  await wire.publish("list");
  await steady.until(() => steady.seqs.length === 2);
});

test("[W24] a message in too many pieces is closed with 1008", async ({ wire }) => {
  const socket = await wire.raw();
  const pieces = Array.from({ length: 17_000 }, (_, at) => frame(at === 0 ? 0x01 : 0x00));
  socket.write(Buffer.concat(pieces));
  expect(await closeFrame(socket)).toEqual({ code: 1008, reason: "" });
  await wire.sessions(0);
});

test("[W24] [W23] a client that sends pings without reading the pongs is terminated when it has read nothing for ten seconds", async ({
  wire,
}) => {
  const socket = await wire.raw("?channels=*");
  socket.pause().on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await fill(wire);
  const pings = Buffer.concat(Array.from({ length: 1_000 }, () => frame(0x89, "x".repeat(100))));
  const pump = setInterval(() => {
    socket.write(pings);
    wire.clock.advance(500);
  }, 1);
  await wire.sessions(0);
  clearInterval(pump);
  socket.destroy();
  await closed;
});

test("[W25] [W23] a client that does not answer the close frame is terminated after 2 seconds", async ({
  wire,
}) => {
  const silent = await wire.raw("?channels=status");
  silent.on("error", () => {});
  const drained = wire.hub.drain(0);
  wire.clock.advance(1_900);
  await wire.ask("/healthz");
  expect(wire.hub.size).toBe(1);
  wire.clock.advance(100);
  await once(silent.resume(), "end");
  silent.destroy();
  wire.clock.advance(50);
  await drained;
});
