import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import {
  CLOSE_CODES,
  CloseMessage,
  projectSnapshot,
  ServerMessage,
} from "../../../../src/base/protocol/index.ts";
import { ConnectionLimiter, ConnectionRegistry } from "../../../../src/gateway/http/index.ts";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { shownLists } from "../../../support/expect/shown-lists.ts";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import type { Step } from "../../hub/test-market.ts";
import { COME_BACK_S, type ConnectionHandle, test } from "./websocket-fixture.ts";

const SSE = { accept: "text/event-stream" };
const BATCH: readonly Step[] = Array.from({ length: 1_000 }, (_, index) => (index % 2 ? "unlist" : "list"));

function follow(
  wire: ConnectionHandle,
  query = "",
  headers: Record<string, string> = {},
): Promise<SseClient> {
  return SseClient.open(`http://127.0.0.1:${wire.port}/api/v1/events${query}`, headers);
}

/** Waits for the stream's end and the server's stop. */
async function ended(wire: ConnectionHandle, stopped: Promise<void>, client: SseClient): Promise<void> {
  await client.ended;
  await wire.sessions(0);
  wire.clock.advance(50);
  await stopped;
}

async function refusal(wire: ConnectionHandle, query: string, headers: Record<string, string> = {}) {
  const { message, body } = await wire.ask(`/api/v1/events${query}`, { ...SSE, ...headers });
  const { statusCode: status = 0, headers: fields } = message;
  const problem = validateResponse("GET", "/api/v1/events", {
    status,
    headers: fields,
    body: Buffer.from(body),
  });
  return { status, retry: fields["retry-after"], problem };
}

test("[S1] a request for text/event-stream gets a stream that no proxy buffers", async ({ wire }) => {
  const client = await follow(wire, "", { "accept-encoding": "gzip, br" });
  expect(client.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "access-control-allow-origin": "*",
    vary: "Accept",
    connection: "close",
  });
  expect(client.headers).not.toHaveProperty("content-encoding");
  client.cut();
  const head = await wire.ask("/api/v1/events", SSE, "HEAD");
  expect([head.message.statusCode, head.body]).toEqual([200, ""]);
  expect(head.message.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  for (const [accept, type] of [
    ["text/event-stream, */*", "text/event-stream; charset=utf-8"],
    ["application/json, text/event-stream;q=0.9", "application/json; charset=utf-8"],
    ["text/event-stream;q=0", "application/json; charset=utf-8"],
    ["*/*", "application/json; charset=utf-8"],
  ] as const) {
    const { message } = await wire.ask("/api/v1/events", { accept }, "HEAD");
    expect(message.headers["content-type"], accept).toBe(type);
  }
  await wire.sessions(0);
});

test("[S2] a stream begins with hello without an id, and the response to its URL, which selects all channels by default", async ({
  wire,
}) => {
  await wire.publish("list");
  const client = await follow(wire);
  await client.until(() => client.events.length === 2);
  expect(client.events.map(({ event, lastEventId }) => [event, lastEventId])).toEqual([
    ["hello", ""],
    ["subscribed", `${EPOCH}-1`],
  ]);
  expect(client.messages()[1]).toMatchObject({
    id: "url",
    cursor: `${EPOCH}-1`,
    resumed: "reset",
    snapshot: shownLists(wire.head.snapshot),
  });
  const bare = await follow(wire, "?channels=status&channels=newest.*&snapshot=false");
  await bare.until(() => bare.events.length === 2);
  expect(bare.messages()[1]).toMatchObject({ channels: ["newest.bsc", "status"] });
  expect(bare.messages()[1]).not.toHaveProperty("snapshot");
});

test("[S3] an SSE event has the event's name, its cursor as id, and the JSON of a WebSocket message as data", async ({
  wire,
}) => {
  const query = "?channels=newest.bsc,flares.*";
  const stream = await follow(wire, query);
  const socket = wire.client(query);
  await Promise.all([stream.until(() => stream.events.length === 2), socket.answer("subscribed")]);
  await wire.publish("list", "status", "flare");
  await wire.publish("unlist");
  await Promise.all([
    stream.until(() => stream.seqs.length === 3),
    socket.until(() => socket.seqs.length === 3),
  ]);
  expect(stream.messages().slice(2)).toEqual(socket.messages.slice(2));
  for (const message of stream.messages()) ServerMessage.parse(message);
  expect(stream.events.slice(2).map(({ event, lastEventId }) => [event, lastEventId])).toEqual([
    ["token-listed", `${EPOCH}-1`],
    ["flare-started", `${EPOCH}-3`],
    ["token-unlisted", `${EPOCH}-4`],
  ]);
});

test("[S4] a stream resumes after Last-Event-ID, which overrides after", async ({ wire }) => {
  await wire.publish("list", "list", "list", "list");
  const client = await follow(wire, `?channels=*&after=${EPOCH}-1`, { "last-event-id": `${EPOCH}-3` });
  await client.until(() => client.seqs.length === 1);
  expect(client.messages()[1]).toMatchObject({ resumed: "full", cursor: `${EPOCH}-3` });
  expect(client.seqs).toEqual([4]);
  const empty = await follow(wire, `?channels=*&after=${EPOCH}-2`, { "last-event-id": "" });
  await empty.until(() => empty.seqs.length === 2);
  expect(empty.seqs).toEqual([3, 4]);
});

test("[L3] [S5] if the cursor is gone, the response has a reset with the loss and, unless declined, the snapshot", async ({
  makeWire,
}) => {
  const wire = await makeWire({ log: { minCount: 2, maxAgeMs: 0 } });
  for (let poll = 0; poll < 6; poll++) {
    wire.clock.advance(1);
    await wire.publish("list");
  }
  for (const [cursor, lost] of [
    [`${EPOCH}-1`, { reason: "expired", events: 5 }],
    ["other-1", { reason: "epoch-changed", events: null }],
    [`${EPOCH}-9`, { reason: "ahead", events: null }],
  ] as const) {
    const client = await follow(wire, "?channels=newest.bsc", { "last-event-id": cursor });
    const without = await follow(wire, "?channels=newest.bsc&snapshot=false", { "last-event-id": cursor });
    await without.until(() => without.events.length === 2);
    expect(without.messages("reset")[0]).toMatchObject({ resumed: "reset", lost });
    expect(without.messages("reset")[0]).not.toHaveProperty("snapshot");
    without.cut();
    await client.until(() => client.events.length === 2);
    expect(client.events[1]).toMatchObject({ event: "reset", lastEventId: `${EPOCH}-6` });
    expect(client.messages("reset")[0]).toMatchObject({
      resumed: "reset",
      lost,
      snapshot: JSON.parse(JSON.stringify(projectSnapshot(wire.head.snapshot, ["newest.bsc"]))),
    });
    client.cut();
  }
});

test("[S6] heartbeats are events that a page can see, with a cursor to resume from", async ({ wire }) => {
  const client = await follow(wire, "?channels=newest.bsc");
  await client.until(() => client.events.length === 2);
  await wire.publish("status");
  wire.clock.advance(15_000);
  await client.until(() => client.events.length === 3);
  expect(client.events[2]).toMatchObject({ event: "heartbeat", lastEventId: `${EPOCH}-1` });
  expect(client.messages("heartbeat")[0]).toMatchObject({ positions: { "newest.bsc": 0 } });
  expect(client.retry).toBeGreaterThanOrEqual(1_000);
  expect(client.retry).toBeLessThan(2_000);
});

test("[L5] [S7] a frozen reader is closed with slow-consumer, costs bounded memory and delays no other", async ({
  wire,
}) => {
  const frozen = await follow(wire);
  const healthy = await follow(wire);
  await Promise.all([frozen, healthy].map((one) => one.until(() => one.events.length === 2)));
  frozen.freeze();
  const full = () => wire.sockets().some((socket) => socket.writableNeedDrain);
  for (let batch = 0; batch < 200 && !full(); batch++) {
    await wire.publish(...BATCH);
    await healthy.until(() => healthy.seqs.at(-1) === wire.head.cursor.seq);
  }
  expect(full()).toBe(true);
  const waiting = () => Math.max(...wire.sockets().map(({ writableLength }) => writableLength));
  const before = waiting();
  for (let batch = 0; batch < 3; batch++) await wire.publish(...BATCH);
  await healthy.until(() => healthy.seqs.at(-1) === wire.head.cursor.seq);
  expect(waiting()).toBe(before);
  wire.clock.advance(11_000);
  frozen.thaw();
  await frozen.ended;
  expect(CloseMessage.parse(frozen.messages("close")[0])).toEqual({
    type: "close",
    reason: "slow-consumer",
    code: CLOSE_CODES["slow-consumer"].code,
    action: "resume",
  });
  const back = await follow(wire, "", { "last-event-id": frozen.lastEventId });
  await back.until(() => back.seqs.at(-1) === wire.head.cursor.seq);
  const everything = Array.from({ length: wire.head.cursor.seq }, (_, index) => index + 1);
  expect([...frozen.seqs, ...back.seqs]).toEqual(everything);
  await wire.sessions(2);
});

test("[S7] a frozen reader that reads again in time does not miss any event", async ({ wire }) => {
  const slow = await follow(wire);
  slow.freeze();
  const full = () => wire.sockets().some((socket) => socket.writableNeedDrain);
  for (let batch = 0; batch < 200 && !full(); batch++) {
    await wire.publish(...BATCH);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await wire.publish(...BATCH);
  wire.clock.advance(9_000);
  slow.thaw();
  await slow.until(() => slow.seqs.at(-1) === wire.head.cursor.seq);
  expect(slow.seqs).toHaveLength(wire.head.cursor.seq);
});

test("[S8] the last event of a stream that the server ends gives the reason and what to do", async ({
  wire,
}) => {
  const client = await follow(wire);
  await client.until(() => client.events.length === 2);
  await ended(wire, wire.hub.drain(0), client);
  expect(client.events.at(-1)).toMatchObject({ event: "close", lastEventId: `${EPOCH}-0` });
  expect(client.messages("close")).toEqual([
    { type: "close", reason: "draining", code: CLOSE_CODES.draining.code, action: "resume" },
  ]);
  expect(await refusal(wire, "")).toMatchObject({
    status: 503,
    retry: expect.stringMatching(COME_BACK_S),
    problem: { type: "urn:flarewire:problem:draining" },
  });
});

test("[S8] a server that stops at once sends a longer retry delay", async ({ makeWire }) => {
  const wire = await makeWire();
  const client = await follow(wire);
  await client.until(() => client.events.length === 2);
  await ended(wire, wire.hub.close(), client);
  expect(client.messages("close")).toMatchObject([{ reason: "going-away", action: "backoff" }]);
  expect(client.retry).toBe(5_000);
});

test("[S9] streams and WebSockets are counted together, and their slots are freed at the end", async ({
  makeWire,
}) => {
  const wire = await makeWire({ stream: { limits: { maxSockets: 2 } } });
  const socket = wire.client("?channels=*");
  await socket.answer("subscribed");
  const stream = await follow(wire);
  expect(await refusal(wire, "")).toMatchObject({
    status: 503,
    retry: expect.stringMatching(COME_BACK_S),
    problem: { type: "urn:flarewire:problem:over-capacity", bound: "2 in all" },
  });
  expect((await wire.ask("/api/v1/events", SSE, "HEAD")).message.statusCode).toBe(200);
  stream.cut();
  await wire.sessions(1);
  const again = await follow(wire);
  again.cut();
  await wire.sessions(1);
});

test("[S9] a request that cannot become a stream is rejected with a problem", async ({ makeWire }) => {
  const early = await makeWire({ ready: false });
  expect(await refusal(early, "")).toMatchObject({
    status: 503,
    problem: { type: "urn:flarewire:problem:not-ready" },
  });
  const wire = await makeWire({ stream: { allowedOrigins: ["https://page.example"] } });
  const granted = await follow(wire, "", { origin: "https://page.example" });
  granted.cut();
  for (const [query, headers, code, status] of [
    ["", { origin: "https://evil.example" }, "origin-refused", 403],
    ["?channels=flare.pro", {}, "unknown-channel", 400],
    ["?after=yesterday", {}, "invalid-parameter", 400],
    ["", { "last-event-id": "yesterday" }, "invalid-parameter", 400],
    ["?snapshot=no", {}, "invalid-parameter", 400],
    ["?filter=x", {}, "invalid-parameter", 400],
  ] as const) {
    const { status: given, problem } = await refusal(wire, query, headers);
    expect([given, problem], query).toMatchObject([status, { type: `urn:flarewire:problem:${code}` }]);
  }
  await wire.sessions(0);
});

test("[S9] pipelined streams behind another stream never begin, and end with the connection", async ({
  wire,
}) => {
  const ask = "GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n";
  const socket = connect(wire.port, "127.0.0.1");
  socket.write(ask.repeat(3));
  await once(socket, "data");
  await wire.sessions(1);
  socket.destroy();
  await wire.sessions(0);
});

test("[S9] a client that resets its connection just before its stream begins affects no other", async ({
  makeWire,
}) => {
  let client: Socket | undefined;
  class Resetting extends ConnectionRegistry {
    override admit(...args: Parameters<ConnectionRegistry["admit"]>) {
      client?.resetAndDestroy();
      return super.admit(...args);
    }
  }
  const wire = await makeWire({ stream: { registry: new Resetting(new ConnectionLimiter(9, 9)) } });
  client = connect(wire.port, "127.0.0.1");
  client.write("GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n");
  await once(client, "close");
  await expect.poll(() => wire.sockets()).toEqual([]);
  client = undefined;
  const other = await follow(wire);
  await other.until(() => other.events.length === 2);
});

test("[W32] [W31] [S8] a stream replaces the client's WebSocket, gets goaway, and is replaced by a WebSocket", async ({
  makeWire,
}) => {
  const wire = await makeWire({ stream: { limits: { maxSockets: 1 } } });
  const before = wire.client("?channels=*&client=bot-7f3a9c");
  await before.answer("subscribed");
  const stream = await follow(wire, "?client=bot-7f3a9c");
  expect(await before.ended).toMatchObject({ reason: "superseded" });
  const after = wire.client("?channels=*&client=bot-7f3a9c");
  await after.answer("subscribed");
  await stream.ended;
  expect(stream.messages("close")).toMatchObject([{ reason: "superseded", code: 4203, action: "resume" }]);
  const last = await follow(wire, "?client=bot-7f3a9c");
  await after.ended;
  await wire.sessions(1);
  const stopped = wire.hub.drain(1_000);
  await last.until(() => last.events.some(({ event }) => event === "goaway"));
  expect(last.messages("goaway")).toMatchObject([{ reason: "draining", window_ms: 1_000 }]);
  wire.clock.advance(1_000);
  await ended(wire, stopped, last);
  expect((await refusal(wire, "?client=short")).problem).toMatchObject({ field: "client" });
});
