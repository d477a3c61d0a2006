import { once } from "node:events";
import { expect } from "vitest";
import { CLOSE_CODES, projectSnapshot } from "../../../../src/base/protocol/index.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import { test } from "./websocket-fixture.ts";

/** Returns a masked frame with an all-zero mask, which leaves the payload readable. */
function frame(first: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

test("[W1] with channels in the URL, events arrive without a frame from the client", async ({ wire }) => {
  await wire.publish("list");
  const client = wire.client("?channels=newest.*&channels=status,flares.pro");
  expect(await client.answer("subscribed")).toMatchObject({
    id: "url",
    channels: ["flares.pro", "newest.bsc", "status"],
    cursor: `${EPOCH}-1`,
    resumed: "reset",
    snapshot: { newest: { bsc: [{}] } },
  });
  await wire.publish("list", "status");
  await client.until(() => client.seqs.length === 2);
  expect(client.seqs).toEqual([2, 3]);
});

test("[W8] [W12] a client subscribes by frame, gets the snapshot and events, and unsubscribes", async ({
  wire,
}) => {
  const client = wire.client();
  await client.answer("hello");
  client.send({ type: "subscribe", id: "a", channels: ["newest.bsc"] });
  await client.answer("subscribed", "a");
  await wire.publish("list");
  await client.until(() => client.seqs.length === 1);
  client.send({ type: "unsubscribe", id: "a" });
  await client.answer("unsubscribed", "a");
  await wire.publish("list");
  client.send({ type: "ping", id: 1 });
  await client.answer("pong", 1);
  expect(client.seqs).toEqual([1]);
});

test("[L3] [W9] a client that lost its connection resumes where it was, or gets the reason and number of lost events", async ({
  makeWire,
}) => {
  const wire = await makeWire({ log: { minCount: 5, maxAgeMs: 0 } });
  const first = wire.client("?channels=newest.bsc");
  await first.answer("subscribed");
  await wire.publish("list", "list");
  await first.until(() => first.seqs.length === 2);
  first.ws.terminate();
  await wire.publish("list", "list");
  const second = wire.client(`?channels=newest.bsc&after=${EPOCH}-2`);
  expect(await second.answer("subscribed")).toMatchObject({ resumed: "full", cursor: `${EPOCH}-2` });
  await second.until(() => second.seqs.length === 2);
  expect(second.seqs).toEqual([3, 4]);
  second.ws.terminate();
  for (let poll = 0; poll < 4; poll++) {
    wire.clock.advance(1);
    await wire.publish("list", "list");
  }
  const third = wire.client(`?channels=newest.bsc&after=${EPOCH}-4`);
  expect(await third.answer("subscribed")).toMatchObject({
    resumed: "reset",
    lost: { reason: "expired", events: 8 },
    cursor: `${EPOCH}-12`,
    snapshot: JSON.parse(JSON.stringify(projectSnapshot(wire.head.snapshot, ["newest.bsc"]))),
  });
});

test("[W18] a client without a pong for 10 seconds is closed; one that answers stays connected", async ({
  wire,
}) => {
  const silent = wire.client("?channels=status", [], { autoPong: false });
  const alive = wire.client("?channels=status");
  await Promise.all([silent.answer("subscribed"), alive.answer("subscribed")]);
  for (let second = 0; second < 50; second++) {
    wire.clock.advance(1_000);
    // Time for the pong to travel: a later command's response arrives after it.
    alive.send({ type: "ping", id: second });
    await alive.answer("pong", second);
  }
  expect(await silent.ended).toEqual({ code: CLOSE_CODES["heartbeat-lost"].code, reason: "heartbeat-lost" });
  expect(alive.ws.readyState).toBe(alive.ws.OPEN);
});

test("[W19] a message of the maximum size is read, and one byte more closes the connection", async ({
  wire,
}) => {
  const client = wire.client();
  await client.answer("hello");
  const text = (bytes: number) => `{"type":"ping","id":1${" ".repeat(bytes - 22)}}`;
  client.ws.send(text(4_096));
  await client.answer("pong", 1);
  client.ws.send(text(4_097));
  expect(await client.ended).toEqual({
    code: CLOSE_CODES["message-too-big"].code,
    reason: "message-too-big",
  });
  await wire.sessions(0);
});

test("[W19] a message in pieces is measured as a whole", async ({ wire }) => {
  const client = wire.client();
  await client.answer("hello");
  for (let piece = 0; piece < 5; piece++) client.ws.send("x".repeat(1_000), { fin: false });
  expect((await client.ended).code).toBe(CLOSE_CODES["message-too-big"].code);
});

test("[W7] [W20] [W21] [W22] rejections, and the closes after too many of them, on the wire", async ({
  wire,
}) => {
  const client = wire.client();
  await client.answer("hello");
  client.ws.send(Buffer.from([1, 2, 3]));
  expect(await client.answer("error")).toMatchObject({ code: "invalid-message" });
  for (let n = 0; n < 10; n++) client.ws.send("?");
  expect(await client.ended).toEqual({ code: CLOSE_CODES["bad-request"].code, reason: "bad-request" });
  const hasty = wire.client();
  await hasty.answer("hello");
  for (let n = 0; n < 31; n++) hasty.send({ type: "ping" });
  expect((await hasty.ended).code).toBe(CLOSE_CODES["rate-limited"].code);
  const idle = wire.client();
  await idle.answer("hello");
  wire.clock.advance(10_000);
  expect((await idle.ended).code).toBe(CLOSE_CODES["no-command"].code);
});

test.for([
  [1002, frame(0x83, Buffer.alloc(0))],
  [1002, Buffer.from([0x81, 0x01, 0x61])],
  [1002, frame(0xc1, Buffer.from("a"))],
  [1007, frame(0x81, Buffer.from([0xff, 0xfe]))],
] as const)("[W24] what breaks RFC 6455 is closed with its code: %i", async ([code, bytes], { wire }) => {
  const socket = await wire.raw();
  socket.write(bytes);
  const [closing] = await once(socket, "data");
  expect([...closing.subarray(0, 4)]).toEqual([0x88, 2, code >> 8, code & 0xff]);
  socket.destroy();
  await wire.sessions(0);
});

test("[W24] 20,000 pings at once cost a client that reads neither its connection nor its events, and the last is answered", async ({
  wire,
}) => {
  const client = wire.client("?channels=newest.bsc");
  await client.answer("subscribed");
  const last = new Promise<void>((resolve, reject) => {
    client.ws.on("pong", (data) => String(data) === "19999" && resolve());
    client.ws.on("close", (code) => reject(new Error(`closed with ${code}`)));
  });
  for (let ping = 0; ping < 20_000; ping++) client.ws.ping(`${ping}`);
  await last;
  await wire.publish("list");
  await client.until(() => client.seqs.length === 1);
});

test("the library's pongs and close frames are sent between, not inside, the hub's frames", async ({
  wire,
}) => {
  const client = wire.client("?channels=newest.bsc");
  await client.answer("subscribed");
  let pongs = 0;
  client.ws.on("pong", () => {
    pongs += 1;
  });
  for (let poll = 0; poll < 200; poll++) {
    client.ws.ping("x".repeat(poll % 120));
    await wire.publish("list", "list", "list");
    // Of more than 60 pings at once, some get no pong.
    if (poll % 20 === 19) await once(client.ws, "pong");
  }
  while (pongs < 200) await once(client.ws, "pong");
  await client.until(() => client.seqs.length === 600);
  client.ws.close(1000);
  await client.ended;
  expect([client.errors, pongs]).toEqual([[], 200]);
  expect(client.seqs).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
});

test("[L5] connections that are reset while events are sent do not disturb others", async ({ wire }) => {
  const steady = wire.client("?channels=newest.bsc");
  await steady.answer("subscribed");
  for (let round = 0; round < 10; round++) {
    const sockets = await Promise.all([wire.raw("?channels=*"), wire.raw("?channels=*")]);
    for (const socket of sockets) socket.resetAndDestroy();
    await wire.publish("list", "list");
  }
  await steady.until(() => steady.seqs.length === 20);
  await wire.sessions(1);
});

test("[W1] [W27] a filter in the URL is equal to a filter in a command", async ({ wire }) => {
  const client = wire.client("?channels=newest.bsc&symbols=T1,t9&min_liquidity=1.5&names=token-listed");
  await client.answer("subscribed");
  await wire.publish("list", "list", "list", "list", "unlist");
  await client.until(() => client.seqs.length === 2);
  client.send({
    type: "subscribe",
    id: "same",
    channels: ["newest.*"],
    filter: { names: ["token-listed"], min_liquidity: "1.50", symbols: ["T9", "t1"] },
  });
  await client.answer("subscribed", "same");
  expect(client.seqs).toEqual([1, 4]);
});

test("an idle connection has one listener of its end, and all that wait for it learn of it", async ({
  wire,
}) => {
  const [client, stays] = [wire.client("?channels=*"), wire.client()];
  await Promise.all([client.answer("subscribed"), stays.answer("hello")]);
  expect(wire.sockets().map((socket) => socket.listenerCount("close"))).toEqual([1, 1]);
  client.ws.terminate();
  await wire.sessions(1);
  expect(wire.sockets()).toHaveLength(1);
});
