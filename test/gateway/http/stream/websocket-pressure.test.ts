import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { expect } from "vitest";
import { actionAfter, CLOSE_CODES, type EventBody } from "../../../../src/base/protocol/index.ts";
import { SAMPLE_LISTING } from "../../../support/world/samples.ts";
import { type ConnectionHandle, test, type WireClient } from "./websocket-fixture.ts";

/** Events of 16 kB that do not compress. Some hundreds of them fill the kernel's buffers. */
const BATCH = Array.from(
  { length: 40 },
  (_, index): EventBody => ({
    ...{ name: "source-status", channel: "status", observed_at: "2017-11-12T08:36:00.000Z" },
    data: { state: index % 2 ? "live" : "stale", reason: randomBytes(12_000).toString("base64") },
  }),
);

const publishBatch = ({ head }: ConnectionHandle) =>
  head.publish({ observedAtMs: 1_000, events: BATCH, snapshot: head.snapshot });

/**
 * Publishes until the frozen client is behind, because the kernel's buffers are full on both sides.
 * The healthy client, if any, catches up after each batch, so it is never behind.
 */
async function fill(wire: ConnectionHandle, isBehind: () => boolean, healthy?: WireClient): Promise<void> {
  for (let batch = 0; batch < 200 && !isBehind(); batch++) {
    await publishBatch(wire);
    await (healthy ? caughtUp(wire, healthy) : new Promise((resolve) => setImmediate(resolve)));
  }
  expect(isBehind()).toBe(true);
}

/** Returns whether the server sees a client that does not read. */
const isAnyBehind = (wire: ConnectionHandle) => () =>
  wire.sockets().some((socket) => socket.writableNeedDrain);

async function caughtUp(wire: ConnectionHandle, client: WireClient): Promise<void> {
  await client.until(() => client.seqs.at(-1) === wire.head.cursor.seq);
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test("[L5] [W23] a frozen reader is closed with slow-consumer, costs bounded memory, and delays no other", async ({
  makeWire,
}) => {
  // test/scenarios/slow-readers.test.ts uses plain frames.
  const wire = await makeWire({ stream: { compression: true } });
  const frozen = wire.client("?channels=*");
  const healthy = wire.client("?channels=*");
  await Promise.all([frozen.answer("subscribed"), healthy.answer("subscribed")]);
  frozen.ws.pause();
  await fill(wire, isAnyBehind(wire), healthy);
  const waiting = () => Math.max(...wire.sockets().map(({ writableLength }) => writableLength));
  const before = waiting();
  for (let batch = 0; batch < 5; batch++) await publishBatch(wire);
  await caughtUp(wire, healthy);
  expect(waiting()).toBe(before);
  expect(healthy.seqs).toEqual(upTo(wire.head.cursor.seq));
  wire.clock.advance(11_000);
  frozen.ws.resume();
  const { code, reason } = await frozen.ended;
  expect([code, reason, actionAfter(code)]).toEqual([
    CLOSE_CODES["slow-consumer"].code,
    "slow-consumer",
    "resume",
  ]);
  await wire.sessions(1);
  // Together with the events after its resume, it has all events.
  const held = frozen.seqs.length;
  expect(frozen.seqs).toEqual(upTo(held));
  const cursor = frozen.messages.findLast(({ type }) => type === "event")?.cursor;
  const back = wire.client(`?channels=*&after=${cursor}`);
  expect(await back.answer("subscribed")).toMatchObject({ resumed: "full", cursor });
  await caughtUp(wire, back);
  expect([...frozen.seqs, ...back.seqs]).toEqual(upTo(wire.head.cursor.seq));
});

test("[W23] a reader that was frozen and reads again in time keeps its connection and misses nothing", async ({
  wire,
}) => {
  const slow = wire.client("?channels=*");
  await slow.answer("subscribed");
  slow.ws.pause();
  await fill(wire, isAnyBehind(wire));
  await publishBatch(wire);
  wire.clock.advance(9_000);
  slow.ws.resume();
  await caughtUp(wire, slow);
  await wire.publish("list");
  await caughtUp(wire, slow);
  expect(slow.seqs).toEqual(upTo(wire.head.cursor.seq));
});

test("[W23] while one large message is sent, every part that the reader receives counts as progress", async ({
  wire,
}) => {
  const bsc = Array.from({ length: 60_000 }, (_, index) => ({ ...SAMPLE_LISTING, pool: `0x${index}` }));
  await wire.head.publish({ events: [], snapshot: { ...wire.head.snapshot, newest: { bsc } } });
  const slow = await wire.raw("?channels=newest.bsc");
  slow.pause();
  await wire.sessions(1);
  for (let turn = 0; turn < 3; turn++) {
    expect(isAnyBehind(wire)()).toBe(true);
    wire.clock.advance(9_000);
    const { bytesRead } = slow;
    slow.resume();
    while (slow.bytesRead < bytesRead + 3_000_000) await once(slow, "data");
    slow.pause();
    // A round trip on another connection gives the kernel time to move data.
    await wire.ask("/healthz");
  }
  const waiting = () => wire.sockets().reduce((total, socket) => total + socket.writableLength, 0);
  slow.resume();
  while (waiting() > 0) await once(slow, "data");
  expect(wire.hub.size).toBe(1);
  slow.destroy();
});

test("[L5] nothing is written after a close frame, even if the peer takes long to close", async ({
  wire,
}) => {
  const peer = await wire.raw("?channels=newest.bsc");
  const received: Buffer[] = [];
  peer.on("data", (chunk) => received.push(Buffer.from(chunk)));
  peer.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]));
  await once(peer, "end");
  await wire.publish("list", "list");
  await wire.ask("/healthz");
  expect(wire.hub.size).toBe(1);
  expect(Buffer.concat(received).subarray(-4)).toEqual(Buffer.from([0x88, 0x02, 0x03, 0xe8]));
  peer.end();
  const [hadError] = await once(peer, "close");
  expect(hadError).toBe(false);
  await wire.sessions(0);
});

test("[W25] a drain on real connections: each client gets goaway and a close, and the server closes", async ({
  makeWire,
}) => {
  const wire = await makeWire();
  const clients = Array.from({ length: 20 }, () => wire.client("?channels=status"));
  await Promise.all(clients.map((client) => client.answer("subscribed")));
  const drained = wire.hub.drain(2_000);
  const passing = setInterval(() => wire.clock.advance(50), 1);
  const ends = await Promise.all(clients.map((client) => client.ended));
  await drained;
  clearInterval(passing);
  expect(new Set(ends.map(({ code }) => code))).toEqual(new Set([CLOSE_CODES.draining.code]));
  await wire.app.close();
  expect(wire.sockets()).toEqual([]);
});

test("[W25] a server that closes at once sends going-away", async ({ wire }) => {
  const client = wire.client("?channels=status");
  await client.answer("subscribed");
  const passing = setInterval(() => wire.clock.advance(50), 1);
  await wire.app.close();
  clearInterval(passing);
  expect(await client.ended).toEqual({ code: CLOSE_CODES["going-away"].code, reason: "going-away" });
});
